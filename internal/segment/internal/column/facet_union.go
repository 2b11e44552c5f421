package column

import (
	"maps"
	"slices"
	"sort"

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
	All   []Value
	Empty int // records whose value is missing
}

// AddValues adds the values of the matches.
func (c *Column) AddValues(m *Matches, values *Values) {
	if m.n == 0 {
		return
	}
	t := c.facetCounter(m)
	defer t.release()
	values.Empty += t.empty()
	t.each(func(run, n int) { values.All = append(values.All, c.runValues(m, run, n)...) })
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
func FacetOf(f herb.Field, values Values, q *query.FacetRequest) query.Facet {
	m := facetMerger{Facet: query.Facet{Field: f.Name, Type: f.Type, Empty: values.Empty}, top: q.Top}
	if n := len(values.All); n > 0 {
		m.setRange(&f, q, values.All[0].Text, values.All[n-1].Text)
	}
	for _, v := range values.All {
		m.addValue(v)
	}
	return m.Facet
}

// FacetWith counts the values of the field among the matches and in other records. The other values are in order and
// distinct.
//
// Each of them is looked up in the value runs. Between them, runs are counted without reading their values.
func (c *Column) FacetWith(matches *Matches, others Values, q *query.FacetRequest) query.Facet {
	if len(others.All) == 0 && others.Empty == 0 {
		return c.Facet(matches, q)
	}
	if matches.n == 0 {
		return FacetOf(c.Field, others, q)
	}
	t := c.facetCounter(matches)
	defer t.release()
	m := facetMerger{Facet: query.Facet{Field: c.Field.Name, Type: c.Field.Type, Empty: t.empty() + others.Empty}, top: q.Top}
	if t.empty() == matches.n {
		others.Empty = m.Empty
		return FacetOf(c.Field, others, q)
	}
	first, last := t.ends()
	least, greatest := c.RunValue(first), c.RunValue(last)
	if n := len(others.All); n > 0 {
		if others.All[0].Key < c.runKey(first) {
			least = others.All[0].Text
		}
		if others.All[n-1].Key > c.runKey(last) {
			greatest = others.All[n-1].Text
		}
	}
	m.setRange(&c.Field, q, least, greatest)
	m.locateBuckets(c)
	// The run of the next other value, or the one before which it sorts.
	nextRun, equal := c.locate(others.All)
	t.each(func(run, n int) {
		matches.steps.Add(1)
		for len(others.All) > 0 && (nextRun < run || nextRun == run && !equal) {
			m.addValue(others.All[0])
			others.All = others.All[1:]
			nextRun, equal = c.locate(others.All)
		}
		nonUniform := countsAsWritten(c.Field.Type) && c.isNonUniform(run)
		if nextRun > run && !nonUniform {
			m.addRun(c, run, n)
			return
		}
		values := c.runValues(matches, run, n)
		for len(others.All) > 0 && nextRun == run {
			values = mergeValue(values, others.All[0], countsAsWritten(c.Field.Type))
			others.All = others.All[1:]
			nextRun, equal = c.locate(others.All)
		}
		for _, v := range values {
			m.addValue(v)
		}
	})
	for _, v := range others.All {
		m.addValue(v)
	}
	return m.Facet
}

// locate returns the run of the first value, or the one before which it sorts. Without a value, it returns one after all
// runs.
func (c *Column) locate(values []Value) (run int, equal bool) {
	if len(values) == 0 {
		return c.Distinct() + 1, false
	}
	run = c.firstRun(values[0].Key)
	return run, run < c.Distinct() && c.runKey(run) == values[0].Key
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

// facetMerger collects a facet from values in ascending order.
type facetMerger struct {
	query.Facet
	top     int
	borders []string // key of the start of each bucket
	starts  []int    // first run of each bucket
	bucket  int      // of the last value
}

// setRange sets the least and the greatest value and the empty buckets.
func (m *facetMerger) setRange(f *herb.Field, q *query.FacetRequest, least, greatest string) {
	if !query.HasRange(f.Type) {
		return
	}
	m.Min, m.Max, m.Histogram = least, greatest, query.Buckets(*f, least, greatest, q.Buckets)
	for _, b := range m.Histogram {
		m.borders = append(m.borders, borderKey(f, b.From))
	}
}

// locateBuckets prepares addRun.
func (m *facetMerger) locateBuckets(c *Column) {
	for _, border := range m.borders {
		m.starts = append(m.starts, c.firstRun(border))
	}
}

// addRun counts the records of a value run.
func (m *facetMerger) addRun(c *Column, run, n int) {
	for m.bucket+1 < len(m.starts) && run >= m.starts[m.bucket+1] {
		m.bucket++
	}
	m.add(n, func() string { return c.RunValue(run) })
}

// addValue counts the records of a value.
func (m *facetMerger) addValue(v Value) {
	for m.bucket+1 < len(m.borders) && v.Key >= m.borders[m.bucket+1] {
		m.bucket++
	}
	m.add(v.Count, func() string { return v.Text })
}

func (m *facetMerger) add(n int, value func() string) {
	m.Distinct++
	if len(m.Histogram) > 0 {
		m.Histogram[m.bucket].Count += n
	}
	full := len(m.Values) == m.top
	if m.top == 0 || full && n <= m.Values[m.top-1].Count {
		return
	}
	if full {
		m.Values = m.Values[:m.top-1]
	}
	i := sort.Search(len(m.Values), func(i int) bool { return m.Values[i].Count < n })
	m.Values = slices.Insert(m.Values, i, query.ValueCount{Value: value(), Count: n})
}
