package column

import (
	"maps"
	"slices"

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
	f := query.Facet{Field: c.Field.Name, Type: c.Field.Type, Total: m.n}
	hasRange := query.HasRange(c.Field.Type)
	values := newValueCollector(q)
	isList := c.Field.Type == herb.TypeList
	distinct := c.Distinct() == c.Values() && values.find == nil // every value is different, and all can be returned
	o := newSortedResult(m.steps, c, m.set, !isList && !distinct && !c.countsBySets(m))
	defer o.release()
	withValue := o.len()
	f.Empty = m.n - withValue
	if isList {
		c.countElements(m, values)
		values.setFacet(&f, nil)
		return f
	}
	if hasRange {
		counted := []population{&o}
		edges := counted
		if q.AllEdges {
			edges = []population{new(newSortedResult(m.steps, c, nil, false))}
		}
		setHistogram(&f, &c.Field, counted, edges, q)
	}
	exact := c.exact(m.steps)
	switch {
	case distinct: // the most frequent values are the first ones
		f.Distinct, f.Matching = withValue, withValue
		for _, rec := range o.appendAscending(nil, min(q.Offset, withValue), min(q.Offset+q.Top, withValue)) {
			f.Values = append(f.Values, query.ValueCount{Value: c.value(rec), Count: 1})
		}
		return f
	case m.set == nil && !exact && values.find == nil:
		values.addDistinct(c.Distinct())
		c.addLongestRuns(m.steps, &values.topValues)
	default:
		texts, next := c.newRunValues(m.n), c.runCounts(m, &o)
		for run, n, ok := next(); ok; run, n, ok = next() {
			switch {
			case exact && c.isNonUniform(run):
				for _, w := range c.writings(m, run) {
					if values.count([]byte(w.Text)) {
						values.offer(valueCount{n: w.Count, run: run, value: w.Text})
					}
				}
			case values.countFound(values.find == nil || texts.contains(run, values.find)):
				values.offerRun(run, n)
			}
		}
	}
	values.setFacet(&f, c.RunValue)
	return f
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

// writings returns the values of a non-uniform run by their written form, in the order of their bytes.
func (c *Column) writings(m *Matches, run int) (values []Value) {
	counts := map[string]int{}
	from, to := c.run(run)
	for p := from; p < to; p++ {
		m.steps.Add(1)
		if rec := c.sorted.At(p); m.set == nil || m.set.Has(rec) {
			counts[c.value(rec)]++
		}
	}
	key := c.runKey(run)
	for _, written := range slices.Sorted(maps.Keys(counts)) {
		values = append(values, Value{key, written, counts[written]})
	}
	return values
}

// addLongestRuns adds the runs by their lengths. If there are enough long runs, no other can be among the top.
func (c *Column) addLongestRuns(st *guard.Steps, best *topValues) {
	long := c.longRuns.Len()
	if long > 0 && int(c.longRuns.At(long-1)) == c.Distinct() { // records without a value
		long--
	}
	if long < best.skip+best.most {
		next := c.allRuns(st)
		for run, n, ok := next(); ok; run, n, ok = next() {
			best.offerRun(run, n)
		}
		return
	}
	for k := range long {
		st.Add(1)
		run := int(c.longRuns.At(k))
		from, to := c.run(run)
		best.offerRun(run, to-from)
	}
}
