package fulltext

import (
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
)

// frequencySum adds up the frequencies of the terms of a prefix in each record.
type frequencySum struct {
	counts []byte      // by record, up to MaxFrequency
	any    bitmap.Bits // the records with an occurrence
}

// newFrequencySum returns an empty sum from the pool.
func (w *Index) newFrequencySum() *frequencySum {
	s, _ := w.sums.Get().(*frequencySum)
	if s == nil {
		n := w.lengths.Len()
		return &frequencySum{counts: make([]byte, n), any: bitmap.NewBits(n)}
	}
	clear(s.counts)
	clear(s.any)
	return s
}

// Release returns the sums of clauses to the pool. The clauses must not be used afterwards.
func (w *Index) Release(clauses []Clause) {
	for i := range clauses {
		if s := clauses[i].sum; s != nil {
			clauses[i].sum = nil
			w.sums.Put(s)
		}
	}
}

// add adds the frequencies of a term.
func (s *frequencySum) add(st *guard.Steps, in *postingsTable, term int) {
	in.docs.Each(st, term, func(rec uint32) {
		s.any.Add(rec)
		s.counts[rec] = AddFrequencies(s.counts[rec], 1)
	})
	freqs := in.freqs.Get(term)
	counts, i := in.freqs.Trailer(term, freqs), 0
	bitmap.Each(st, freqs, func(records []uint32) {
		for _, rec := range records {
			s.counts[rec] = AddFrequencies(s.counts[rec], counts[i]-1)
			i++
		}
	})
}
