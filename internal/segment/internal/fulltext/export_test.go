package fulltext

import "herbarium/internal/segment/internal/bitmap"

// Top returns the best records if they are found without scoring all.
func (s *Scorer) Top(set *bitmap.Set, n int) ([]uint32, bool) { return s.top(set, n) }

// PageByCell returns a page if it can be located by counting the records of each cell.
func (s *Scorer) PageByCell(set *bitmap.Set, from, to int) ([]uint32, bool) {
	return s.pageByCell(set, from, to)
}

// LengthOrder returns the records in length order and the lengths by record.
func (w *Index) LengthOrder() (records, lengths []uint32) {
	return w.lengthOrder.AppendTo(nil), w.lengths.AppendTo(nil)
}

// DropLengthOrder removes the length order, so that all records are scored.
func (w *Index) DropLengthOrder() { w.lengthOrder = nil }

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
