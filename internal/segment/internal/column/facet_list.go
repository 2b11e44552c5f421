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
func (c *Column) countElements(st *guard.Steps, set *bitmap.Set, values *valueCollector) {
	maxLists := int((costOfByte*float64(c.listed.Size()) + costOfRun*float64(c.elements.Len())) / costOfList)
	method := byPostings
	switch {
	case set == nil:
	case set.Len() < maxLists:
		method = byLists
	case c.sorted.Len()-set.Len() < maxLists:
		method = byOthers
	}
	c.countElementsBy(st, method, set, values)
}

func (c *Column) countElementsBy(st *guard.Steps, method elementMethod, set *bitmap.Set, values *valueCollector) {
	var count func(element []byte, postings bitmap.Encoded) int
	switch {
	case method == byLists:
		for e, n := range c.splitLists(st, set) {
			st.Add(1)
			values.addElement([]byte(e), n)
		}
		return
	case method == byOthers:
		others := bitmap.All(c.pool)
		defer others.Release()
		others.Subtract(st, set)
		counts := c.splitLists(st, others)
		count = func(element []byte, postings bitmap.Encoded) int { return postings.Len() - counts[string(element)] }
	default:
		var among bitmap.Bits
		if set != nil {
			among = set.Dense(st)
		}
		count = func(_ []byte, postings bitmap.Encoded) int { return postings.CountIn(st, among) }
	}
	for i := range c.elements.Len() {
		st.Add(1)
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
	if v.count(element) && v.qualifies(n, 0) {
		v.offer(valueCount{n: n, key: appendElementKey(nil, element), value: string(element)})
	}
}
