package segment

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// costOfList is what it costs to take the elements of one record apart, in the units of tally.
const costOfList = 1500

// countEmpty counts the records without a value, for a field of which no run is looked at beside: one record after the
// other if they are few, and by the set of all that have none otherwise.
func (c *column) countEmpty(m *matches) (n int) {
	if m.set == nil {
		return tallyAll{c, m.steps}.empty()
	}
	if costOfPlace*float64(m.n) > costOfByte*float64(m.records/8) {
		return tallySets{c, m.dense(), m.steps}.empty()
	}
	each(m.steps, m.set, func(records []uint32) {
		for _, rec := range records {
			if int(c.places.at(int(rec))) >= c.values() {
				n++
			}
		}
	})
	return n
}

// countElements counts the elements of a list field.
func (c *column) countElements(m *matches, top int, f *query.Facet) {
	best := elementRanking{ranking: ranking{most: top}}
	through := costOfByte*float64(len(c.listed.body)) + costOfRun*float64(c.elements.len())
	if m.set != nil && costOfList*float64(m.n) < through {
		f.Distinct = c.elementsOfFew(m, &best)
	} else {
		f.Distinct = c.elementsOfMany(m, &best)
	}
	for _, v := range best.values {
		f.Values = append(f.Values, query.ValueCount{Value: v.value, Count: v.n})
	}
}

// elementsOfFew takes the list of each record apart, and returns how many different elements there are.
func (c *column) elementsOfFew(m *matches, best *elementRanking) (distinct int) {
	counts := map[string]int{}
	each(m.steps, m.set, func(records []uint32) {
		for _, rec := range records {
			elements := text.Elements(c.value(rec))
			slices.Sort(elements)
			for _, e := range slices.Compact(elements) {
				counts[e]++
			}
		}
	})
	for e, n := range counts {
		m.steps.add(1)
		best.offer([]byte(e), n)
	}
	return len(counts)
}

// elementsOfMany counts the records of each element, and returns how many elements have any.
func (c *column) elementsOfMany(m *matches, best *elementRanking) (distinct int) {
	var among bitset
	if m.set != nil {
		among = m.dense()
	}
	for i := range c.elements.len() {
		if n := countSet(m.steps, c.listed.bytes(int(c.numbers.at(i))), among); n > 0 {
			distinct++
			best.offer(c.elements.at(i), n)
		}
	}
	return distinct
}

// elementRanking ranks elements, which are not in the order by which people sort them.
type elementRanking struct {
	ranking
	key []byte
}

func (r *elementRanking) offer(element []byte, n int) {
	if !r.takes(n) {
		return
	}
	r.key, _ = text.AppendSortKey(r.key[:0], herb.TypeText, element)
	v := ranked{n: n, key: r.key, value: string(element)}
	if len(r.values) == r.most && !v.before(&r.values[r.most-1]) {
		return
	}
	v.key = slices.Clone(r.key)
	r.ranking.offer(v)
}
