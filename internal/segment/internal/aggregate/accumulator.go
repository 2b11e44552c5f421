package aggregate

import (
	"math"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
)

// accumulator collects what the measures of one field need, by group.
type accumulator struct {
	dictionary *column.Dictionary
	isList     bool

	needsSum, needsMin, needsMax, needsOrder, needsDistinct bool

	filled   []uint32 // records that have a value
	elements []uint32 // elements of these records, if it is a list
	sums     *sums
	min, max []uint32 // least and greatest codes

	distinct []uint32         // distinct values
	nearest  map[int][]uint32 // codes at a percentage of the sorted values, by percentage
	middle   [2][]uint32      // codes of the middle values; they are equal if there is one
}

// none is the code of a group without values.
const none = math.MaxUint32

// prepareMeasures creates the accumulators of the measures.
func (a *aggregation) prepareMeasures() {
	for _, m := range a.request.Measures {
		if m.Kind == query.MeasureCount {
			continue
		}
		acc := a.fields[m.Field]
		if acc == nil {
			d := a.dictionary(m.Field)
			acc = &accumulator{dictionary: d, isList: d.Field.Type == herb.TypeList, nearest: map[int][]uint32{}}
			a.fields[m.Field], a.order = acc, append(a.order, m.Field)
		}
		switch m.Kind {
		case query.MeasureSum, query.MeasureMean:
			acc.needsSum = true
		case query.MeasureMin:
			acc.needsMin = true
		case query.MeasureMax:
			acc.needsMax = true
		case query.MeasureDistinct:
			acc.needsDistinct = true
		case query.MeasureMedian:
			acc.needsOrder, acc.middle[0] = true, []uint32{}
		case query.MeasurePercentile:
			acc.needsOrder, acc.nearest[m.Percent] = true, []uint32{}
		}
	}
	for field, acc := range a.fields {
		if acc.needsSum {
			acc.sums = newSums(a.numbers(field))
		}
	}
}

// numbers decodes the values of a field that the matching records have.
func (a *aggregation) numbers(field int) *numbers {
	d := a.dictionary(field)
	var codes []uint32
	if d.IsDense(a.total) {
		codes = make([]uint32, d.Len)
		for i := range codes {
			codes[i] = uint32(i)
		}
	} else {
		var buf []uint32
		a.eachMatching(func(part int, records []uint32) {
			buf = d.AppendCodes(buf[:0], part, records)
			codes = append(codes, buf...)
		})
		slices.Sort(codes)
		codes = slices.Compact(codes)
		if n := len(codes); n > 0 && int(codes[n-1]) == d.Len {
			codes = codes[:n-1] // missing values
		}
	}
	return newNumbers(a.steps, d, codes)
}

// accumulate adds the records of a chunk to the counts, sums and extremes of their groups.
func (a *aggregation) accumulate(c *chunk) {
	for _, id := range c.ids {
		a.table.counts[id]++
	}
	for _, field := range a.order {
		acc := a.fields[field]
		acc.grow(len(a.table.pairs))
		if acc.isList {
			acc.addLists(c)
			continue
		}
		c.codes = acc.dictionary.AppendCodes(c.codes[:0], c.part, c.records)
		acc.add(c.ids, c.codes)
		a.steps.Add(len(c.records))
	}
}

// grow makes room for n groups.
func (acc *accumulator) grow(n int) {
	more := n - len(acc.filled)
	if more <= 0 {
		return
	}
	acc.filled = append(acc.filled, make([]uint32, more)...)
	if acc.isList {
		acc.elements = append(acc.elements, make([]uint32, more)...)
	}
	if acc.sums != nil {
		acc.sums.grow(more)
	}
	for range more {
		if acc.needsMin {
			acc.min = append(acc.min, none)
		}
		if acc.needsMax {
			acc.max = append(acc.max, none)
		}
	}
}

// addLists counts the records that have elements.
func (acc *accumulator) addLists(c *chunk) {
	for i, rec := range c.records {
		if c.codes = acc.dictionary.AppendElements(c.codes[:0], c.part, rec); len(c.codes) > 0 {
			acc.filled[c.ids[i]]++
			acc.elements[c.ids[i]] += uint32(len(c.codes))
		}
	}
}

// add adds the codes of some records to their groups.
func (acc *accumulator) add(ids, codes []uint32) {
	missing := uint32(acc.dictionary.Len)
	for i, code := range codes {
		if code != missing {
			acc.filled[ids[i]]++
		}
	}
	if acc.sums != nil {
		acc.sums.add(ids, codes, missing)
	}
	if acc.needsMin {
		for i, code := range codes {
			if id := ids[i]; code != missing && code < acc.min[id] {
				acc.min[id] = code
			}
		}
	}
	if acc.needsMax {
		for i, code := range codes {
			if id := ids[i]; code != missing && (acc.max[id] == none || code > acc.max[id]) {
				acc.max[id] = code
			}
		}
	}
}
