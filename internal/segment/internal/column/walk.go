package column

import (
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
)

// sortedWalk iterates over the sorted rows of a field: ascending in one pass; descending run by run from the last, each
// of them ascending, and then the records without a value.
type sortedWalk struct {
	*Column
	steps    *guard.Steps
	marks    bitmap.Bits // ranks of the result; nil means all
	at, end  int         // ranks being read
	runsLeft int         // descending: number of runs to read
	empty    bool        // descending: whether the records without a value are still to be read
}

// Walk returns an iterator over the records of a set, nil for all, in the field's order; see Page. A call appends the
// next records to a buffer, up to its capacity; none at the end.
func (c *Column) Walk(st *guard.Steps, set *bitmap.Set, desc bool) func(buf []uint32) []uint32 {
	w := &sortedWalk{Column: c, steps: st}
	if set != nil {
		w.marks = bitmap.NewBits(c.sorted.Len())
		c.markRanks(st, set, w.marks)
	}
	if desc {
		w.runsLeft, w.empty = c.Distinct(), true
	} else {
		w.end = c.sorted.Len()
	}
	return w.next
}

func (w *sortedWalk) next(buf []uint32) []uint32 {
	for len(buf) < cap(buf) {
		w.steps.Add(1)
		if w.marks != nil {
			w.at = w.marks.Next(w.steps, w.at, w.end)
		}
		switch {
		case w.at < w.end:
			buf = append(buf, w.sorted.At(w.at))
			w.at++
		case w.runsLeft > 0:
			w.runsLeft--
			w.at, w.end = w.run(w.runsLeft)
		case w.empty:
			w.empty = false
			w.at, w.end = w.run(w.Distinct())
		default:
			return buf
		}
	}
	return buf
}
