package query

import (
	"slices"

	"herbarium/internal/herb"
)

// Size is what the cost of a query depends on beside the query.
type Size struct {
	Records int
	Mutable bool // the records are in a database, not in a segment with indexes for every query
}

// The sizes from which a query can be expensive.
const (
	expensiveRecords        = 20_000
	expensiveMutableRecords = 5_000
)

// What a query may ask for on a dataset of any size.
const (
	cheapWords  = 4      // of a search
	cheapOffset = 10_000 // of a page by relevance, or of a mutable dataset
)

// large reports whether queries whose work grows with the dataset are expensive.
func (s Size) large() bool {
	if s.Mutable {
		return s.Records > expensiveMutableRecords
	}
	return s.Records > expensiveRecords
}

// IsExpensive reports whether finding the page takes work that grows with the size of the dataset.
func (r *Request) IsExpensive(s Size) bool {
	switch {
	case !s.large():
		return false
	case s.Mutable:
		return r.isFiltered() || r.Offset() > cheapOffset
	default:
		return slices.ContainsFunc(r.Conditions, r.scans) || r.Search.isExpensive() ||
			r.ByRelevance() && r.Offset() > cheapOffset
	}
}

// IsExpensive reports whether counting the values takes work that grows with the size of the dataset. Without a filter it
// grows with the number of distinct values, which may be that of the records.
func (f *FacetRequest) IsExpensive(s Size) bool { return s.large() }

func (r *Request) isFiltered() bool { return len(r.Conditions) > 0 || r.Search != nil }

// scans reports whether a condition is compared with many values instead of being looked up.
func (r *Request) scans(c Condition) bool {
	switch c.Op {
	case OpPrefix:
		return true
	case OpGt, OpGte, OpLt, OpLte:
		return r.fields[c.Field].Type == herb.TypeList
	}
	return false
}

// isExpensive reports whether a search has words that many records may contain, or many words.
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
