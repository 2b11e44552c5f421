package column

import (
	"maps"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Facet counts the values of the field among the records of a set; nil means all.
//
// Range and histogram are counts of matches between some ranks. Values are counted in runs of several records only: runs of one
// record have the rest of the matches, and only the first of them can be among the most frequent values.
func (c *Column) Facet(m *Matches, q *query.FacetRequest) query.Facet {
	f := query.Facet{Field: c.Field.Name, Type: c.Field.Type, Total: m.n}
	values := newValueCollector(q)
	isList := c.Field.Type == herb.TypeList
	least := 2 // records of the runs to examine
	if values.find != nil {
		least = 1
	}
	o := newSortedResult(m.steps, c, m.set, !isList && !c.countsBySets(m, least))
	defer o.release()
	withValue := o.len()
	f.Empty = m.n - withValue
	if isList {
		c.countElements(m, values)
		values.setFacet(&f, nil)
		return f
	}
	if query.HasRange(c.Field.Type) {
		counted := []population{&o}
		edges := counted
		if q.AllEdges {
			edges = []population{new(newSortedResult(m.steps, c, nil, false))}
		}
		setHistogram(&f, &c.Field, counted, edges, q)
	}
	texts, next := c.newRunValues(m.steps, m.n), c.runCounts(m, o.marks, least)
	single := withValue // matches in runs that next does not return
	for run, n, ok := next(); ok; run, n, ok = next() {
		single -= n
		switch {
		case countsAsWritten(c.Field.Type) && c.isNonUniform(run):
			for _, w := range c.writings(m, run) {
				if values.count([]byte(w.Text)) {
					values.offer(valueCount{n: w.Count, run: run, value: w.Text})
				}
			}
		case values.countFound(values.find == nil || texts.contains(run, values.find)):
			values.offerRun(run, n)
		}
	}
	if single > 0 {
		values.addDistinct(single)
		o.offerSingleRuns(&values.topValues)
	}
	values.setFacet(&f, c.RunValue)
	return f
}

// offerSingleRuns offers the first runs of one record that is in the result, which must have a value: as many as can be among
// the top.
func (o *sortedResult) offerSingleRuns(top *topValues) {
	if !top.qualifies(1) {
		return
	}
	left := top.skip + top.most
	for run := o.runAt(0, o.rank(0)); left > 0 && run < o.Distinct(); run++ {
		o.steps.Add(1)
		from, to := o.run(run)
		if to-from == 1 && (o.set == nil || o.set.Has(o.sorted.At(from))) {
			top.offerRun(run, 1)
			left--
		}
	}
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
