package fulltext

import (
	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/segment/internal/guard"
)

// TopByFrequency returns the numbers of the best records if they are found by frequency alone.
func (w *Index) TopByFrequency(st *guard.Steps, set *roaring.Bitmap, clauses []Clause, n int) ([]uint32, bool) {
	found, ok := w.newRelevance(st, clauses).topByFrequency(set, n)
	return numbers(found), ok
}

// Top returns the numbers of the best records, found by length if possible, or by scoring all records.
func (w *Index) Top(st *guard.Steps, set *roaring.Bitmap, clauses []Clause, n int, byLength bool) []uint32 {
	v := w.newRelevance(st, clauses)
	if !byLength {
		v.Index = &Index{postingsTable: w.postingsTable, terms: w.terms, ids: w.ids, forward: w.forward, starts: w.starts, lengths: w.lengths, average: w.average, pool: w.pool}
	}
	return numbers(v.scoreAll(set, 0, n))
}

// FindsByLength reports whether Top finds records by length.
func (w *Index) FindsByLength(st *guard.Steps, set *roaring.Bitmap, clauses []Clause, n int) bool {
	v := w.newRelevance(st, clauses)
	return v.addShortest(&topOf{n: n}, set, v.frequencies(set))
}

// LengthOrder returns the records in length order and the lengths by record.
func (w *Index) LengthOrder() (records, lengths []uint32) {
	return w.lengthOrder.AppendTo(nil), w.lengths.AppendTo(nil)
}

// ReplaceLengthOrder replaces the length order.
func (w *Index) ReplaceLengthOrder(records []byte) { w.lengthOrder = records }

// Source returns the kind of postings of a clause: terms, bigrams, prefixes or none.
func (w *Index) Source(c Clause) string {
	switch c.postings {
	case nil:
		return "none"
	case &w.bigrams.postingsTable:
		return "bigrams"
	case &w.prefixes.postingsTable:
		return "prefixes"
	default:
		return "terms"
	}
}
