package column

import (
	"slices"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// costOfList is the cost of splitting the list of one record, in the units of countsBySets.
const costOfList = 1500

// elementMethod is how the elements of a list field are counted.
type elementMethod int

const (
	byPostings elementMethod = iota // intersect the postings of each element with the matches
	byLists                         // split the list of each match
	byOthers                        // split the lists of all other records, and subtract their counts from the totals
)

// countElements counts the elements of a list field.
func (c *Column) countElements(m *Matches, values *valueCollector) {
	maxLists := int((costOfByte*float64(c.listed.Size()) + costOfRun*float64(c.elements.Len())) / costOfList)
	method := byPostings
	switch {
	case m.set == nil:
	case m.n < maxLists:
		method = byLists
	case m.all-m.n < maxLists:
		method = byOthers
	}
	c.countElementsBy(method, m, values)
}

func (c *Column) countElementsBy(method elementMethod, m *Matches, values *valueCollector) {
	var count func(element []byte, postings bitmap.Encoded) int
	switch {
	case method == byLists:
		for e, n := range c.splitLists(m.steps, m.set) {
			m.steps.Add(1)
			values.addElement([]byte(e), n)
		}
		return
	case method == byOthers:
		others := bitmap.All(c.pool)
		defer others.Release()
		others.Subtract(m.steps, m.set)
		counts := c.splitLists(m.steps, others)
		count = func(element []byte, postings bitmap.Encoded) int { return postings.Len() - counts[string(element)] }
	default:
		var among bitmap.Bits
		if m.set != nil {
			among = m.dense()
		}
		count = func(_ []byte, postings bitmap.Encoded) int { return postings.CountIn(m.steps, among) }
	}
	for i := range c.elements.Len() {
		m.steps.Add(1)
		element := c.elements.At(i)
		if n := count(element, c.listed.Set(int(c.numbers.At(i)))); n > 0 {
			values.addElement(element, n)
		}
	}
}

// splitLists returns the number of records of a set by the elements of their lists.
func (c *Column) splitLists(st *guard.Steps, set *bitmap.Set) map[string]int {
	counts := map[string]int{}
	set.Each(st, func(records []uint32) {
		for _, rec := range records {
			elements := text.Elements(c.value(rec))
			slices.Sort(elements)
			for _, e := range slices.Compact(elements) {
				counts[e]++
			}
		}
	})
	return counts
}

// addElement adds an element of a list. Elements are not stored in collation order, so their order needs a sort key.
func (v *valueCollector) addElement(element []byte, n int) {
	if v.count(element) && v.qualifies(n) {
		v.offer(valueCount{n: n, key: appendElementKey(nil, element), value: string(element)})
	}
}
