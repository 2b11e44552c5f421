package segment

import (
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
)

// equalRecords is a list of equal records in ascending order. A list of most records of a version
// takes a bit for each record, as there may be no other difference between them.
type equalRecords struct {
	records int // of the version
	n       int
	few     []uint32
	many    bitmap.Bits // those after the first maxFewEqual; nil until there are as many
}

// maxFewEqual is the maximum number of records in a list.
const maxFewEqual = 1 << 18

func (e *equalRecords) add(st *guard.Steps, record uint32) {
	e.n++
	if len(e.few) < maxFewEqual {
		e.few = append(e.few, record)
		return
	}
	if e.many == nil {
		st.Reserve(e.records/8 + 4*maxFewEqual)
		e.many = bitmap.NewBits(e.records)
	}
	e.many.Add(record)
}

// eachAfter calls f for the records after the first ones, which are as many as skipped.
func (e *equalRecords) eachAfter(st *guard.Steps, skipped int, f func(uint32)) {
	for _, n := range e.few[min(skipped, len(e.few)):] {
		f(n)
	}
	if e.n <= len(e.few) {
		return
	}
	skipped -= len(e.few)
	next := func(from int) int { return e.many.Next(st, from, e.records) }
	for n := next(int(e.few[len(e.few)-1])); n < e.records; n = next(n + 1) {
		skipped--
		if skipped < 0 {
			f(uint32(n))
		}
	}
}

func (e *equalRecords) reset() {
	if e.n > len(e.few) {
		clear(e.many)
	}
	e.n, e.few = 0, e.few[:0]
}
