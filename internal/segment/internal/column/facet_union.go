package column

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Value is a value of a field and the number of records that have it.
type Value struct {
	Key   string // sort key
	Text  string // as written
	Count int
}

// Values are the values of a field in several records.
type Values struct {
	All   []Value // in ascending order
	Empty int     // records whose value is missing
}

// Add adds the values of later records. Values that facets count as one are merged; of scalar values that are written
// differently, it keeps the first.
func (v *Values) Add(f *herb.Field, later Values) {
	order := func(a, b Value) int {
		if f.Type.IsScalar() {
			return strings.Compare(a.Key, b.Key)
		}
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Text, b.Text))
	}
	merged, a, b := make([]Value, 0, len(v.All)+len(later.All)), v.All, later.All
	for len(a)+len(b) > 0 {
		var next Value
		if len(b) == 0 || len(a) > 0 && order(a[0], b[0]) <= 0 {
			next, a = a[0], a[1:]
		} else {
			next, b = b[0], b[1:]
		}
		if last := len(merged) - 1; last >= 0 && order(merged[last], next) == 0 {
			merged[last].Count += next.Count
		} else {
			merged = append(merged, next)
		}
	}
	v.All, v.Empty = merged, v.Empty+later.Empty
}

// matchingValues returns the values of the matches.
func (c *Column) matchingValues(m *Matches, o *sortedResult, each func(func(run, n int))) (values Values) {
	values.Empty = m.n - o.countBelow(c.Values())
	each(func(run, n int) { values.All = c.appendRunValues(values.All, m, run, n) })
	return values
}

// runCounter returns the matches in the order of the field, and a function that calls another one for each run with
// matches, in ascending order.
func (c *Column) runCounter(m *Matches) (o *sortedResult, each func(func(run, n int))) {
	bySets := m.set != nil && c.countsBySets(m)
	result := newSortedResult(m.steps, c, m.set, !bySets)
	o = &result
	return o, func(f func(run, n int)) {
		switch {
		case m.set == nil:
			c.eachRun(m.steps, f)
		case bySets:
			c.eachIntersection(m, f)
		default:
			c.eachMarked(m.steps, o.marks, f)
		}
	}
}

// appendRunValues appends the values that facets count in a run, in order. n matches are in the run.
func (c *Column) appendRunValues(values []Value, m *Matches, run, n int) []Value {
	if !countsAsWritten(c.Field.Type) || !c.isNonUniform(run) {
		value := c.RunValue(run)
		return append(values, Value{sortKey(&c.Field, value), value, n})
	}
	key := c.runKey(run)
	counts := map[string]int{}
	from, to := c.run(run)
	for p := from; p < to; p++ {
		m.steps.Add(1)
		if rec := c.sorted.At(p); m.set == nil || m.set.Has(rec) {
			counts[c.value(rec)]++
		}
	}
	for _, written := range slices.Sorted(maps.Keys(counts)) {
		values = append(values, Value{key, written, counts[written]})
	}
	return values
}

// Part is the matches in one segment of a union.
type Part struct {
	Column  *Column
	Matches *Matches
}

// FacetOfParts returns the facet of a field in several segments and of values in memory: of the matching records, and of all
// for the edges of histograms. Values are in order and distinct.
//
// The values of the segment with the most records are counted in place; those of the others are collected, and each is
// looked up in its value runs.
func FacetOfParts(f *herb.Field, parts []Part, tail, allTail Values, q *query.FacetRequest) query.Facet {
	facet := query.Facet{Field: f.Name, Type: f.Type}
	largest := 0
	for i, p := range parts {
		if p.Column.sorted.Len() > parts[largest].Column.sorted.Len() {
			largest = i
		}
	}
	var others Values
	counted, edges := []population{}, []population{}
	each := func(func(run, n int)) {}
	for i, p := range parts {
		o, eachRun := p.Column.runCounter(p.Matches)
		defer o.release()
		counted = append(counted, o)
		edges = append(edges, new(newSortedResult(p.Matches.steps, p.Column, nil, false)))
		facet.Total += p.Matches.n
		if i == largest {
			others.Empty += p.Matches.n - o.countBelow(p.Column.Values())
			each = eachRun
		} else {
			others.Add(f, p.Column.matchingValues(p.Matches, o, eachRun))
		}
	}
	others.Add(f, tail)
	facet.Empty = others.Empty
	facet.Total += tail.records()
	if query.HasRange(f.Type) {
		counted = append(counted, valuePopulation{f, tail.All})
		if edges = append(edges, valuePopulation{f, allTail.All}); !q.AllEdges {
			edges = counted
		}
		setHistogram(&facet, f, counted, edges, q)
	}
	values := &merger{valueCollector: newValueCollector(q)}
	if len(parts) > 0 {
		values.mergeRuns(parts[largest], each, &others)
	}
	for _, v := range others.All {
		values.add(v)
	}
	values.setFacet(&facet, nil)
	return facet
}

// records returns the number of records with these values.
func (v *Values) records() int {
	n := v.Empty
	for _, value := range v.All {
		n += value.Count
	}
	return n
}

// merger collects values in ascending order. Each counts as a run of its own.
type merger struct {
	*valueCollector
	next int
}

func (m *merger) add(v Value) {
	m.addValue(valueCount{n: v.Count, run: m.next, value: v.Text})
	m.next++
}

// addRun adds the value of a run, which is read only if it is needed.
func (m *merger) addRun(c *Column, run, n int) {
	v := valueCount{n: n, run: m.next}
	m.next++
	switch {
	case m.find != nil:
		v.value = c.RunValue(run)
		m.addValue(v)
	case !m.rejects(&v):
		v.value = c.RunValue(run)
		m.addValue(v)
	default:
		m.addDistinct(1)
	}
}

// mergeRuns adds the values of the matches of a segment together with others, and removes those from others that are not
// after all of the segment.
func (m *merger) mergeRuns(p Part, each func(func(run, n int)), others *Values) {
	c, asWritten := p.Column, countsAsWritten(p.Column.Field.Type)
	cursor := runCursor{c: c}
	next, equal := cursor.seek(others.All) // run of the next other value, or the one before which it sorts; whether it has the same key
	take := func() (v Value) {
		v, others.All = others.All[0], others.All[1:]
		next, equal = cursor.seek(others.All)
		return v
	}
	each(func(run, n int) {
		for next < run || next == run && !equal {
			m.add(take())
		}
		if next > run && !(asWritten && c.isNonUniform(run)) {
			m.addRun(c, run, n)
			return
		}
		values := c.appendRunValues(nil, p.Matches, run, n)
		for next == run {
			values = mergeValue(values, take(), asWritten)
		}
		for _, v := range values {
			m.add(v)
		}
	})
}

// runCursor locates ascending keys in the value runs. It computes the sort key of a run once, because that is most of the work
// of a merge.
type runCursor struct {
	c     *Column
	run   int
	key   string // of the run
	known bool   // whether key is computed
}

// seek returns the run of the first value, or the one before which it sorts. Without a value, it returns one after all runs.
func (r *runCursor) seek(values []Value) (run int, equal bool) {
	const near = 8 // runs to examine one by one
	if len(values) == 0 {
		return r.c.Distinct() + 1, false
	}
	key := values[0].Key
	for range near {
		if r.run == r.c.Distinct() {
			return r.run, false
		}
		if !r.known {
			r.key, r.known = r.c.runKey(r.run), true
		}
		if r.key >= key {
			return r.run, r.key == key
		}
		r.run++
		r.known = false
	}
	from, step := r.run, 1
	for from+step < r.c.Distinct() && r.c.runKey(from+step) < key {
		from += step
		step *= 2
	}
	end := min(from+step, r.c.Distinct())
	r.run = from + sort.Search(end-from, func(i int) bool { return r.c.runKey(from+i) >= key })
	return r.run, r.run < r.c.Distinct() && r.c.runKey(r.run) == key
}

// mergeValue adds a value to those of a run, which have the same key.
func mergeValue(values []Value, v Value, asWritten bool) []Value {
	i := 0
	if asWritten {
		i = sort.Search(len(values), func(i int) bool { return values[i].Text >= v.Text })
	}
	if i < len(values) && (!asWritten || values[i].Text == v.Text) {
		values[i].Count += v.Count
		return values
	}
	return slices.Insert(values, i, v)
}
