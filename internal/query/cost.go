package query

import (
	"slices"

	"herbarium/internal/herb"
)

// Limits of cheap queries.
const (
	expensiveRecords = 20_000 // of a dataset; a query on more can be expensive
	cheapWords       = 4      // in a search
	cheapOffset      = 10_000 // of a page ordered by relevance
)

// IsExpensive reports whether computing the page takes work that grows with the number of records of the dataset.
func (r *Request) IsExpensive(records int) bool {
	return records > expensiveRecords && (slices.ContainsFunc(r.Conditions, r.scans) || r.Search.isExpensive() ||
		r.ByRelevance() && r.Offset() > cheapOffset)
}

// IsExpensive reports whether counting the values takes work that grows with the number of records of the dataset. Without a
// filter it grows with the number of distinct values, which may be that of the records.
func (f *FacetRequest) IsExpensive(records int) bool { return records > expensiveRecords }

// scans reports whether a condition is evaluated by reading the words of many records or the postings of many elements
// rather than by an index lookup.
func (r *Request) scans(c Condition) bool {
	return c.Op == OpMatch || c.Op != OpEq && c.Op != OpNe && r.fields[c.Field].Type == herb.TypeList
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
