package column

import (
	"slices"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/text"
)

// costOfList is the cost of splitting the list of one record, in the units of countsBySets.
const costOfList = 1500

// countElements counts the elements of a list field.
func (c *Column) countElements(m *Matches, values *valueCollector) {
	through := costOfByte*float64(c.listed.Size()) + costOfRun*float64(c.elements.Len())
	if m.set != nil && costOfList*float64(m.n) < through {
		c.elementsOfFew(m, values)
	} else {
		c.elementsOfMany(m, values)
	}
}

// elementsOfFew splits the list of each record.
func (c *Column) elementsOfFew(m *Matches, values *valueCollector) {
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
		values.addElement([]byte(e), n)
	}
}

// elementsOfMany counts the records of each element.
func (c *Column) elementsOfMany(m *Matches, values *valueCollector) {
	var among bitmap.Bits
	if m.set != nil {
		among = m.dense()
	}
	for i := range c.elements.Len() {
		if n := c.listed.Set(int(c.numbers.At(i))).CountIn(m.steps, among); n > 0 {
			values.addElement(c.elements.At(i), n)
		}
	}
}

// addElement adds an element of a list. Elements are not stored in collation order, so their order needs a sort key.
func (v *valueCollector) addElement(element []byte, n int) {
	if v.count(element) && v.qualifies(n) {
		v.offer(valueCount{n: n, key: appendElementKey(nil, element), value: string(element)})
	}
}
