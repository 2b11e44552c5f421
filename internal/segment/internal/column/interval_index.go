package column

import (
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

// IntervalIndex finds the interval that contains a number. It is for many lookups in any order: it
// knows the interval of every numbersPerBlock-th number, so that most lookups read one or two
// starts.
//
//	starts    0      3            9  10              17
//	number    0 1 2  3 4 5 6 7 8  9  10 11 12 … 16   17 …
//	interval  0      1            2  3               4
type IntervalIndex struct {
	starts file.U32s // first number of each interval; the first one is 0
	first  []uint32  // interval of the first number of each block, and of the last number
}

// numbersPerBlock is the number of consecutive numbers whose interval is searched for from the same
// one.
const numbersPerBlock = 64

// NewIntervalIndex returns the index of intervals of the numbers below n.
func NewIntervalIndex(st *guard.Steps, starts file.U32s, n int) IntervalIndex {
	st.Reserve(4 * (n / numbersPerBlock))
	x := IntervalIndex{starts: starts, first: make([]uint32, n/numbersPerBlock+2)}
	interval := 0
	for block := range x.first {
		st.Add(1)
		at := uint32(min(block*numbersPerBlock, max(n-1, 0)))
		interval = lastIndex(interval, starts.Len()-1, func(i int) bool { return starts.At(i) <= at })
		x.first[block] = uint32(interval)
	}
	return x
}

// At returns the interval that contains a number.
func (x *IntervalIndex) At(number uint32) uint32 {
	const few = 4
	block := number / numbersPerBlock
	interval, last := x.first[block], x.first[block+1]
	for last-interval > few {
		if middle := (interval + last + 1) / 2; x.starts.At(int(middle)) <= number {
			interval = middle
		} else {
			last = middle - 1
		}
	}
	for interval < last && x.starts.At(int(interval)+1) <= number {
		interval++
	}
	return interval
}
