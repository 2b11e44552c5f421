package column

import (
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/guard"
)

// Facet counts the values of the field among the records of a set; nil means all.
//
// Range and histogram are counts of matches between some ranks. For all records, the counts of values are the lengths of
// the value runs. Otherwise it uses the cheaper of two methods: intersect the result with the runs of a field with few
// values, or mark it in the sorted rows and count the marks of each run.
func (c *Column) Facet(m *Matches, q *query.FacetRequest) query.Facet {
	f := query.Facet{Field: c.Field.Name, Type: c.Field.Type}
	if m.n == 0 {
		return f
	}
	isList := c.Field.Type == herb.TypeList
	distinct := c.Distinct() == c.Values() // every value is different
	bySets := m.set != nil && c.countsBySets(m)
	o := newSortedResult(m.steps, c, m.set, !isList && !distinct && !bySets)
	defer o.release()
	withValue := o.countBelow(c.Values())
	f.Empty = m.n - withValue
	if isList {
		c.countElements(m, q.Top, &f)
		return f
	}
	if withValue == 0 {
		return f
	}
	if query.HasRange(c.Field.Type) {
		f.Min, f.Max = c.RunValue(c.runAt(0, o.rank(0))), c.RunValue(c.runAt(0, o.rank(withValue-1)))
		f.Histogram = o.histogram(query.Buckets(c.Field, f.Min, f.Max, q.Buckets))
	}
	best := topValues{most: q.Top}
	exact := c.exact(m.steps)
	add := func(run, n int) {
		if exact && c.isNonUniform(run) {
			f.Distinct += c.addWritings(m, run, &best)
			return
		}
		f.Distinct++
		best.offerRun(run, n)
	}
	switch {
	case distinct: // the most frequent values are the first ones
		f.Distinct = withValue
		for _, rec := range o.appendAscending(nil, 0, min(q.Top, withValue)) {
			best.values = append(best.values, valueCount{n: 1, value: c.value(rec)})
		}
	case m.set == nil && !exact:
		f.Distinct = c.Distinct()
		c.addLongestRuns(m.steps, &best)
	case m.set == nil:
		c.eachRun(m.steps, add)
	case bySets:
		c.eachIntersection(m, add)
	default:
		c.eachMarked(m.steps, o.marks, add)
	}
	for _, v := range best.values {
		value := v.value
		if value == "" {
			value = c.RunValue(v.run)
		}
		f.Values = append(f.Values, query.ValueCount{Value: value, Count: v.n})
	}
	return f
}

// histogram counts the records of the result in buckets.
func (o *sortedResult) histogram(buckets []query.Bucket) []query.Bucket {
	end := o.countBelow(o.Values())
	for i := len(buckets) - 1; i >= 0; i-- {
		from := o.countBelow(int(o.runs.At(o.firstRun(borderKey(&o.Field, buckets[i].From)))))
		if i == 0 {
			from = 0
		}
		buckets[i].Count = end - from
		end = from
	}
	return buckets
}

// exact reports whether the field has distinct values that compare equal.
func (c *Column) exact(st *guard.Steps) bool {
	if !countsAsWritten(c.Field.Type) {
		return false
	}
	for _, b := range c.nonUniform {
		st.Add(1)
		if b != 0 {
			return true
		}
	}
	return false
}

// addWritings counts the values of a non-uniform run by their written form, and returns the number of distinct ones.
func (c *Column) addWritings(m *Matches, run int, best *topValues) (distinct int) {
	counts := map[string]int{}
	from, to := c.run(run)
	for p := from; p < to; p++ {
		m.steps.Add(1)
		if rec := c.sorted.At(p); m.set == nil || m.set.Has(rec) {
			counts[c.value(rec)]++
		}
	}
	for value, n := range counts {
		m.steps.Add(1)
		best.offer(valueCount{n: n, run: run, value: value})
	}
	return len(counts)
}

// addLongestRuns adds the runs by their lengths. If there are enough long runs, no other can be among the top.
func (c *Column) addLongestRuns(st *guard.Steps, best *topValues) {
	long := c.longRuns.Len()
	if long > 0 && int(c.longRuns.At(long-1)) == c.Distinct() { // records without a value
		long--
	}
	if long < best.most {
		c.eachRun(st, best.offerRun)
		return
	}
	for k := range long {
		st.Add(1)
		run := int(c.longRuns.At(k))
		from, to := c.run(run)
		best.offerRun(run, to-from)
	}
}
