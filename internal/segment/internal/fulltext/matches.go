package fulltext

import (
	"slices"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// matches contains the records of a clause without postings, in order, and its frequency in each of them.
type matches struct {
	records []uint32
	counts  []byte // up to MaxFrequency
	name    string
}

func (m *matches) String() string { return m.name }

// Cost implements plan.Condition.
func (m *matches) Cost() plan.Cost {
	return plan.Cost{Records: len(m.records), Fill: 2 * len(m.records), Contains: 60}
}

// Contains implements plan.Condition.
func (m *matches) Contains(record uint32) bool {
	_, ok := slices.BinarySearch(m.records, record)
	return ok
}

// Fill implements plan.Condition.
func (m *matches) Fill(st *guard.Steps, b *bitmap.Builder) { b.AddList(st, m.records) }

// frequencySum adds up the frequencies of the terms of a prefix in each record.
type frequencySum struct {
	counts []byte      // by record, up to MaxFrequency
	any    bitmap.Bits // the records with an occurrence
}

// union returns the records with any of the terms in [from, to), and the sums of their frequencies.
func (w *Index) union(st *guard.Steps, from, to int) *matches {
	sum, _ := w.sums.Get().(*frequencySum)
	if sum == nil {
		n := w.lengths.Len()
		sum = &frequencySum{counts: make([]byte, n), any: bitmap.NewBits(n)}
	}
	var records []uint32
	for t := from; t < to; t++ {
		id := int(w.ids.At(t))
		records = w.docs.Set(id).AppendTo(st, records[:0])
		for _, rec := range records {
			sum.any.Add(rec)
			sum.counts[rec] = addFrequencies(sum.counts[rec], 1)
		}
		freqs := w.freqs.Set(id)
		records = freqs.AppendTo(st, records[:0])
		for i, count := range w.freqs.Trailer(id)[:len(records)] {
			sum.counts[records[i]] = addFrequencies(sum.counts[records[i]], count-1)
		}
	}
	n := sum.any.Count(0, len(sum.counts))
	found := &matches{records: sum.any.AppendTo(make([]uint32, 0, n))}
	st.Add(len(found.records))
	found.counts = make([]byte, len(found.records))
	for i, rec := range found.records {
		found.counts[i], sum.counts[rec] = sum.counts[rec], 0
	}
	clear(sum.any)
	w.sums.Put(sum)
	return found
}

// addFrequencies adds two frequencies, capped to MaxFrequency.
func addFrequencies(a, b byte) byte { return byte(min(uint(a)+uint(b), MaxFrequency)) }
