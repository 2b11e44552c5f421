package query

import (
	"slices"

	"herbarium/internal/herb"
)

// Size describes the dataset as far as the cost of a query depends on it.
type Size struct {
	Records int
	Mutable bool // the records are in a database, not in a segment with indexes for every query
}

// Limits of cheap queries.
const (
	expensiveRecords        = 20_000 // from this size a query can be expensive
	expensiveMutableRecords = 500
	cheapWords              = 4      // in a search
	cheapOffset             = 10_000 // of a page ordered by relevance, or of a mutable dataset
)

// large reports whether queries whose work grows with the dataset are expensive.
func (s Size) large() bool {
	if s.Mutable {
		return s.Records > expensiveMutableRecords
	}
	return s.Records > expensiveRecords
}

// IsExpensive reports whether computing the page takes work that grows with the size of the dataset.
func (r *Request) IsExpensive(s Size) bool {
	switch {
	case !s.large():
		return false
	case s.Mutable:
		return len(r.Conditions) > 0 || r.Search != nil || r.Offset() > cheapOffset
	default:
		return slices.ContainsFunc(r.Conditions, r.scans) || r.Search.isExpensive() ||
			r.ByRelevance() && r.Offset() > cheapOffset
	}
}

// IsExpensive reports whether counting the values takes work that grows with the size of the dataset. Without a filter it
// grows with the number of distinct values, which may be that of the records.
func (f *FacetRequest) IsExpensive(s Size) bool { return s.large() }

// scans reports whether a condition is evaluated by reading the postings of many elements rather than by an index lookup.
func (r *Request) scans(c Condition) bool {
	return c.Op != OpEq && c.Op != OpNe && r.fields[c.Field].Type == herb.TypeList
}

// isExpensive reports whether a search has many words, or words that many records may contain.
func (s *Search) isExpensive() bool {
	if s == nil {
		return false
	}
	words := 0
	for _, c := range s.Clauses {
		if c.Prefix {
			return true
		}
		words += len(c.Words)
	}
	return words > cheapWords
}
