package aggregate

import (
	"math"
	"slices"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
)

// accumulator collects what the measures of one field need, by group.
type accumulator struct {
	dictionary *column.Dictionary

	needsSum, needsSquares, needsMin, needsMax, needsDistinct, needsMedian bool

	filled   []uint32 // records that have a value
	sums     *sums
	min, max []uint32 // least and greatest codes

	distinct []uint32         // distinct values
	nearest  map[int][]uint32 // codes at a percentage of the sorted values, by percentage
	middle   [2][]uint32      // codes of the middle values; they are equal if there is one

	last []uint32 // code that was counted last as distinct
	seen []uint32 // values that were read
	nth  []nthValues
}

// nthValues is a value of each group that is found by its position among all values of the group.
type nthValues struct {
	at    []uint32 // position, counted from 1; 0 if the group has no values
	codes []uint32 // the value at the position
}

// none is the code of a group without values.
const none = math.MaxUint32

// prepareMeasures creates the accumulators of the measures.
func (a *aggregation) prepareMeasures() {
	for _, m := range a.request.Measures {
		if m.Kind == query.MeasureCount {
			continue
		}
		acc := a.accumulator(m.Field)
		switch m.Kind {
		case query.MeasureSum, query.MeasureMean:
			acc.needsSum = true
		case query.MeasureStdDev:
			acc.needsSum, acc.needsSquares = true, true
		case query.MeasureRatio:
			acc.needsSum = true
			a.accumulator(m.Divisor).needsSum = true
		case query.MeasureMin:
			acc.needsMin = true
		case query.MeasureMax:
			acc.needsMax = true
		case query.MeasureDistinct:
			acc.needsDistinct = true
		case query.MeasureMedian:
			acc.needsMedian = true
		case query.MeasurePercentile:
			acc.nearest[m.Percent] = nil
		}
	}
}

// accumulator returns the accumulator of a field.
func (a *aggregation) accumulator(field int) *accumulator {
	if a.fields[field] == nil {
		a.fields[field] = &accumulator{dictionary: a.dictionary(field), nearest: map[int][]uint32{}}
	}
	return a.fields[field]
}

// measure reads the values of a field in ascending order.
func (a *aggregation) measure(acc *accumulator, values groupsByValue) {
	groups := len(a.table.counts)
	a.steps.Reserve(acc.bytesPerGroup() * groups)
	acc.filled = slices.Clone(a.table.counts)
	values.missing(func(groups []uint32) {
		for _, id := range groups {
			acc.filled[id]--
		}
	})
	if acc.needsSum {
		acc.sums = newSums(a.steps, newNumbers(a.steps, acc.dictionary, values.codes()), groups, most(acc.filled))
		if acc.needsSquares {
			acc.sums.addSquares(a.steps)
		}
	}
	a.steps.Add(groups)
	acc.prepare(groups)
	values.each(acc.add)
}

// bytesPerGroup returns the memory that results need for each group, without sums.
func (acc *accumulator) bytesPerGroup() int {
	codes := 1 // filled
	for _, needed := range []bool{acc.needsMin, acc.needsMax, acc.needsDistinct, acc.needsDistinct} {
		if needed {
			codes++
		}
	}
	nth := len(acc.nearest)
	if acc.needsMedian {
		nth += len(acc.middle)
	}
	if nth > 0 {
		codes++ // seen
	}
	return 4 * (codes + 2*nth)
}

// most returns the greatest of some numbers, or 0 if there are none.
func most(numbers []uint32) (n int) {
	for _, number := range numbers {
		n = max(n, int(number))
	}
	return n
}

// prepare makes room for the results of some groups.
func (acc *accumulator) prepare(groups int) {
	newCodes := func() []uint32 { return slices.Repeat([]uint32{none}, groups) }
	if acc.needsMin {
		acc.min = newCodes()
	}
	if acc.needsMax {
		acc.max = newCodes()
	}
	if acc.needsDistinct {
		acc.distinct, acc.last = make([]uint32, groups), newCodes()
	}
	for percent := range acc.nearest {
		// Nearest rank: the least value that has so many percent of the values up to it.
		acc.nearest[percent] = acc.findNth(func(n uint32) uint32 {
			return uint32((uint64(percent)*uint64(n) + 99) / 100)
		})
	}
	if acc.needsMedian {
		acc.middle[0] = acc.findNth(func(n uint32) uint32 { return (n + 1) / 2 })
		acc.middle[1] = acc.findNth(func(n uint32) uint32 { return n/2 + 1 })
	}
	if len(acc.nth) > 0 {
		acc.seen = make([]uint32, groups)
	}
}

// findNth lets the value at a position be found in each group, given the number of values of the
// group. Positions are counted from 1.
func (acc *accumulator) findNth(position func(n uint32) uint32) (codes []uint32) {
	r := nthValues{make([]uint32, len(acc.filled)), slices.Repeat([]uint32{none}, len(acc.filled))}
	for id, n := range acc.filled {
		if n > 0 {
			r.at[id] = max(position(n), 1)
		}
	}
	acc.nth = append(acc.nth, r)
	return r.codes
}

// add adds a value to the groups of the records that have it. No group had a greater one before.
func (acc *accumulator) add(i int, code uint32, groups []uint32) {
	if acc.needsSum {
		acc.sums.add(i, code, groups)
	}
	if acc.needsMin {
		for _, id := range groups {
			if acc.min[id] == none {
				acc.min[id] = code
			}
		}
	}
	if acc.needsMax {
		for _, id := range groups {
			acc.max[id] = code
		}
	}
	if acc.needsDistinct {
		for _, id := range groups {
			if acc.last[id] != code {
				acc.last[id] = code
				acc.distinct[id]++
			}
		}
	}
	if len(acc.nth) > 0 {
		for _, id := range groups {
			acc.seen[id]++
			for j := range acc.nth {
				if r := &acc.nth[j]; r.at[id] == acc.seen[id] {
					r.codes[id] = code
				}
			}
		}
	}
}
