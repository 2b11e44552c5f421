package column

import (
	"slices"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/text"
)

// costOfList is the cost of splitting the list of one record, in the units of countsBySets.
const costOfList = 1500

// countElements counts the elements of a list field.
func (c *Column) countElements(m *Matches, top int, f *query.Facet) {
	best := topElements{topValues: topValues{most: top}}
	through := costOfByte*float64(c.listed.Size()) + costOfRun*float64(c.elements.Len())
	if m.set != nil && costOfList*float64(m.n) < through {
		f.Distinct = c.elementsOfFew(m, &best)
	} else {
		f.Distinct = c.elementsOfMany(m, &best)
	}
	for _, v := range best.values {
		f.Values = append(f.Values, query.ValueCount{Value: v.value, Count: v.n})
	}
}

// elementsOfFew splits the list of each record and returns the number of distinct elements.
func (c *Column) elementsOfFew(m *Matches, best *topElements) (distinct int) {
	counts := map[string]int{}
	m.set.Each(m.steps, func(records []uint32) {
		for _, rec := range records {
			elements := text.Elements(c.value(rec))
			slices.Sort(elements)
			for _, e := range slices.Compact(elements) {
				counts[e]++
			}
		}
	})
	for e, n := range counts {
		m.steps.Add(1)
		best.offer([]byte(e), n)
	}
	return len(counts)
}

// elementsOfMany counts the records of each element and returns the number of elements with any.
func (c *Column) elementsOfMany(m *Matches, best *topElements) (distinct int) {
	var among bitmap.Bits
	if m.set != nil {
		among = m.dense()
	}
	for i := range c.elements.Len() {
		if n := c.listed.Set(int(c.numbers.At(i))).CountIn(m.steps, among); n > 0 {
			distinct++
			best.offer(c.elements.At(i), n)
		}
	}
	return distinct
}

// topElements keeps the most frequent elements, which are not stored in collation order.
type topElements struct {
	topValues
	key []byte
}

func (r *topElements) offer(element []byte, n int) {
	if !r.qualifies(n) {
		return
	}
	r.key = appendElementKey(r.key[:0], element)
	v := valueCount{n: n, key: r.key, value: string(element)}
	if len(r.values) == r.most && !v.before(&r.values[r.most-1]) {
		return
	}
	v.key = slices.Clone(r.key)
	r.topValues.offer(v)
}
