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

// MatchingValues returns the values of the matches.
func (c *Column) MatchingValues(m *Matches) (values Values) {
	if m.n == 0 {
		return values
	}
	o, each := c.runCounter(m)
	defer o.release()
	values.Empty = m.n - o.countBelow(c.Values())
	each(func(run, n int) { values.All = append(values.All, c.runValues(m, run, n)...) })
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

// runValues returns the values that facets count in a run, in order. n matches are in the run.
func (c *Column) runValues(m *Matches, run, n int) []Value {
	key := c.runKey(run)
	if !countsAsWritten(c.Field.Type) || !c.isNonUniform(run) {
		return []Value{{key, c.RunValue(run), n}}
	}
	counts := map[string]int{}
	from, to := c.run(run)
	for p := from; p < to; p++ {
		m.steps.Add(1)
		if rec := c.sorted.At(p); m.set == nil || m.set.Has(rec) {
			counts[c.value(rec)]++
		}
	}
	values := make([]Value, 0, len(counts))
	for _, written := range slices.Sorted(maps.Keys(counts)) {
		values = append(values, Value{key, written, counts[written]})
	}
	return values
}

// FacetOf returns the facet of values, which are in order and distinct.
func FacetOf(f *herb.Field, values Values, q *query.FacetRequest) query.Facet {
	m := facetMerger{Facet: query.Facet{Field: f.Name, Type: f.Type, Empty: values.Empty}, top: q.Top}
	if n := len(values.All); n > 0 && query.HasRange(f.Type) {
		m.Min, m.Max = values.All[0].Text, values.All[n-1].Text
		m.Histogram = addToBuckets(f, query.Buckets(*f, m.Min, m.Max, q.Buckets), values.All)
	}
	for _, v := range values.All {
		m.add(v)
	}
	return m.Facet
}

// FacetWith counts the values of the field among the matches and in other records. The other values are in order and
// distinct. Each of them is looked up in the value runs; between them, runs are counted without reading their values.
func (c *Column) FacetWith(matches *Matches, others Values, q *query.FacetRequest) query.Facet {
	o, each := c.runCounter(matches)
	defer o.release()
	withValue := o.countBelow(c.Values())
	if others.Empty += matches.n - withValue; withValue == 0 {
		return FacetOf(&c.Field, others, q)
	}
	m := facetMerger{Facet: query.Facet{Field: c.Field.Name, Type: c.Field.Type, Empty: others.Empty}, top: q.Top}
	if query.HasRange(c.Field.Type) {
		first, last := c.runAt(0, o.rank(0)), c.runAt(0, o.rank(withValue-1))
		m.Min, m.Max = c.RunValue(first), c.RunValue(last)
		if n := len(others.All); n > 0 && others.All[0].Key < c.runKey(first) {
			m.Min = others.All[0].Text
		}
		if n := len(others.All); n > 0 && others.All[n-1].Key > c.runKey(last) {
			m.Max = others.All[n-1].Text
		}
		buckets := o.histogram(query.Buckets(c.Field, m.Min, m.Max, q.Buckets))
		m.Histogram = addToBuckets(&c.Field, buckets, others.All)
	}
	next := 0                  // run of the next other value, or the one before which it sorts
	equal := false             // whether the run has the same key
	take := func() (v Value) { // returns the next other value
		v, others.All = others.All[0], others.All[1:]
		next, equal = c.locate(next, others.All)
		return v
	}
	next, equal = c.locate(0, others.All)
	each(func(run, n int) {
		for next < run || next == run && !equal {
			m.add(take())
		}
		if next > run && !(countsAsWritten(c.Field.Type) && c.isNonUniform(run)) {
			m.addRun(c, run, n)
			return
		}
		values := c.runValues(matches, run, n)
		for next == run {
			values = mergeValue(values, take(), countsAsWritten(c.Field.Type))
		}
		for _, v := range values {
			m.add(v)
		}
	})
	for _, v := range others.All {
		m.add(v)
	}
	return m.Facet
}

// locate returns the run of the first value, or the one before which it sorts, searching from a run on. Without a value, it
// returns one after all runs.
func (c *Column) locate(from int, values []Value) (run int, equal bool) {
	if len(values) == 0 {
		return c.Distinct() + 1, false
	}
	key, step := values[0].Key, 1
	for from+step < c.Distinct() && c.runKey(from+step) < key {
		from += step
		step *= 2
	}
	end := min(from+step, c.Distinct())
	run = from + sort.Search(end-from, func(i int) bool { return c.runKey(from+i) >= key })
	return run, run < c.Distinct() && c.runKey(run) == key
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

// addToBuckets counts values in ascending order.
func addToBuckets(f *herb.Field, buckets []query.Bucket, values []Value) []query.Bucket {
	for i := len(buckets) - 1; i >= 0; i-- {
		from := 0
		if border := borderKey(f, buckets[i].From); i > 0 {
			from = sort.Search(len(values), func(i int) bool { return values[i].Key >= border })
		}
		for _, v := range values[from:] {
			buckets[i].Count += v.Count
		}
		values = values[:from]
	}
	return buckets
}

// facetMerger collects the most frequent of values in ascending order.
type facetMerger struct {
	query.Facet
	top int
}

func (m *facetMerger) add(v Value) {
	if m.count(v.Count) {
		m.insert(v.Text, v.Count)
	}
}

// addRun adds the value of a run.
func (m *facetMerger) addRun(c *Column, run, n int) {
	if m.count(n) {
		m.insert(c.RunValue(run), n)
	}
}

// count counts a value and reports whether it is among the most frequent.
func (m *facetMerger) count(n int) bool {
	m.Distinct++
	return m.top > 0 && (len(m.Values) < m.top || n > m.Values[m.top-1].Count)
}

func (m *facetMerger) insert(value string, n int) {
	i := sort.Search(len(m.Values), func(i int) bool { return m.Values[i].Count < n })
	m.Values = slices.Insert(m.Values, i, query.ValueCount{Value: value, Count: n})
	m.Values = m.Values[:min(len(m.Values), m.top)]
}
