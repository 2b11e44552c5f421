package aggregate

import (
	"slices"

	"herbarium/internal/segment/internal/guard"
)

// orderMeasures computes the measures that need all codes of a group at once.
func (a *aggregation) orderMeasures() {
	for _, field := range a.order {
		acc := a.fields[field]
		acc.grow(len(a.table.pairs))
		if !acc.needsOrder && !acc.needsDistinct {
			continue
		}
		p := a.partition(acc)
		stamps := newStamps(acc)
		for id := range a.table.pairs {
			codes := p.group(id)
			a.steps.Add(len(codes))
			if acc.needsDistinct {
				acc.distinct = append(acc.distinct, stamps.countDistinct(uint32(id), codes))
			}
			if acc.needsOrder {
				acc.selectCodes(a.steps, codes)
			}
		}
	}
}

// partition is the codes of all groups, each group in sequence.
type partition struct {
	codes  []uint32
	starts []uint32 // of each group, and the end of the last
}

func (p *partition) group(id int) []uint32 { return p.codes[p.starts[id]:p.starts[id+1]] }

// partition sorts the codes of a field by group. The number of codes of each group is known, so
// each code is written once.
func (a *aggregation) partition(acc *accumulator) *partition {
	sizes := acc.filled
	if acc.isList {
		sizes = acc.elements
	}
	p := &partition{starts: make([]uint32, len(sizes)+1)}
	for i, n := range sizes {
		p.starts[i+1] = p.starts[i] + n
	}
	p.codes = make([]uint32, p.starts[len(sizes)])
	next, missing := slices.Clone(p.starts), uint32(acc.dictionary.Len)
	a.eachRecord(func(c *chunk) {
		if acc.isList {
			for i, rec := range c.records {
				c.codes = acc.dictionary.AppendElements(c.codes[:0], c.part, rec)
				copy(p.codes[next[c.ids[i]]:], c.codes)
				next[c.ids[i]] += uint32(len(c.codes))
			}
			return
		}
		c.codes = acc.dictionary.AppendCodes(c.codes[:0], c.part, c.records)
		for i, code := range c.codes {
			if code != missing {
				p.codes[next[c.ids[i]]] = code
				next[c.ids[i]]++
			}
		}
	})
	return p
}

// stamps remembers for each code the last group in which it was counted.
type stamps []uint32

func newStamps(acc *accumulator) stamps {
	if !acc.needsDistinct {
		return nil
	}
	return make(stamps, acc.dictionary.Len)
}

// countDistinct returns the number of distinct codes of a group. Each group is counted once.
func (s stamps) countDistinct(id uint32, codes []uint32) (n uint32) {
	for _, code := range codes {
		if s[code] != id+1 {
			s[code] = id + 1
			n++
		}
	}
	return n
}

// selectCodes appends the percentiles and the middle values of a group. It reorders the codes.
func (acc *accumulator) selectCodes(st *guard.Steps, codes []uint32) {
	at := func(rank int) uint32 {
		if len(codes) == 0 {
			return none
		}
		st.Add(len(codes))
		return selectCode(codes, rank)
	}
	for percent := range acc.nearest {
		rank := max((percent*len(codes)+99)/100, 1) - 1 // nearest rank: the least that has percent of the values up to it
		acc.nearest[percent] = append(acc.nearest[percent], at(rank))
	}
	if acc.middle[0] != nil {
		acc.middle[0] = append(acc.middle[0], at(max(len(codes)-1, 0)/2))
		acc.middle[1] = append(acc.middle[1], at(len(codes)/2))
	}
}

// selectCode returns the code that would be at a rank if the codes were sorted. It reorders them.
// It divides them around a pivot and continues in the part that contains the rank; if that does not
// make them fewer quickly, it sorts them.
func selectCode(codes []uint32, rank int) uint32 {
	for limit := 64; len(codes) > 16; limit-- {
		if limit == 0 {
			break
		}
		less, equal := divide(codes, pivotOf(codes))
		switch {
		case rank < less:
			codes = codes[:less]
		case rank < less+equal:
			return codes[less]
		default:
			codes, rank = codes[less+equal:], rank-less-equal
		}
	}
	slices.Sort(codes)
	return codes[rank]
}

// pivotOf returns the median of nine codes.
func pivotOf(codes []uint32) uint32 {
	var sample [9]uint32
	for i := range sample {
		sample[i] = codes[i*(len(codes)-1)/(len(sample)-1)]
	}
	slices.Sort(sample[:])
	return sample[len(sample)/2]
}

// divide reorders codes: those less than a pivot first, then those equal to it. It returns the
// number of both.
func divide(codes []uint32, pivot uint32) (less, equal int) {
	end := len(codes)
	for at := 0; at < end; {
		switch code := codes[at]; {
		case code < pivot:
			codes[at], codes[less] = codes[less], code
			less++
			at++
		case code > pivot:
			end--
			codes[at], codes[end] = codes[end], code
		default:
			at++
		}
	}
	return less, end - less
}
