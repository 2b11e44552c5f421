package fulltext

import "herbarium/internal/segment/internal/bitmap"

// Candidates returns the number of records that are scored to find the n best; 0 means all.
func (s *Scorer) Candidates(set *bitmap.Set, n int) int { return len(s.candidates(set, n)) }

// LengthOrder returns the records in length order and the lengths by record.
func (w *Index) LengthOrder() (records, lengths []uint32) {
	return w.lengthOrder.AppendTo(nil), w.lengths.AppendTo(nil)
}

// Source returns the kind of postings of a clause: terms, bigrams, prefixes or none.
func (c *Clause) Source() string {
	switch c.postings {
	case nil:
		return "none"
	case &c.index.bigrams.postingsTable:
		return "bigrams"
	case &c.index.prefixes.postingsTable:
		return "prefixes"
	default:
		return "terms"
	}
}
