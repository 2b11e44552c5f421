package column

import (
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/guard"
)

// Facet counts the values of the field among the records of a set; nil means all.
//
// For all records, the counts are the lengths of the value runs. Otherwise it uses the cheaper of two methods: intersect
// the result with the stored sets of a field with few values, or mark it in the sorted rows and count the marks of each
// run.
func (c *Column) Facet(m *Matches, q *query.FacetRequest) query.Facet {
	f := query.Facet{Field: c.Field.Name, Type: c.Field.Type}
	if m.n == 0 {
		return f
	}
	if c.Field.Type == herb.TypeList {
		f.Empty = c.countEmpty(m)
		c.countElements(m, q.Top, &f)
		return f
	}
	if c.Distinct() == c.Values() {
		c.countDistinct(m, q, &f)
		return f
	}
	t := c.facetCounter(m)
	defer t.release()
	f.Empty = t.empty()
	if f.Empty == m.n {
		return f
	}
	var h bucketCounter
	if query.HasRange(c.Field.Type) {
		first, last := t.ends()
		f.Min, f.Max = c.RunValue(first), c.RunValue(last)
		h = c.bucketCounter(query.Buckets(c.Field, f.Min, f.Max, q.Buckets))
		f.Histogram = h.buckets
	}
	best := topValues{most: q.Top}
	exact := c.exact(m.steps)
	switch {
	case m.set == nil && !exact:
		f.Distinct = c.Distinct()
		h.addAll(c)
		c.addLongestRuns(m.steps, &best)
	default:
		t.each(func(run, n int) {
			h.add(run, n)
			if exact && c.isNonUniform(run) {
				f.Distinct += c.addWritings(m, run, &best)
				return
			}
			f.Distinct++
			best.offerRun(run, n)
		})
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

// countDistinct counts a field in which every value is different: the most frequent values are the first ones, and the
// histogram is the number of matches between some ranks.
func (c *Column) countDistinct(m *Matches, q *query.FacetRequest, f *query.Facet) {
	o := newSortedResult(m.steps, c, m.set)
	defer o.release()
	f.Distinct = o.countBelow(c.Values())
	f.Empty = m.n - f.Distinct
	for _, rec := range o.appendAscending(nil, 0, min(q.Top, f.Distinct)) {
		f.Values = append(f.Values, query.ValueCount{Value: c.value(rec), Count: 1})
	}
	if f.Distinct == 0 || !query.HasRange(c.Field.Type) {
		return
	}
	f.Min, f.Max = c.value(c.sorted.At(o.rank(0))), c.value(c.sorted.At(o.rank(f.Distinct-1)))
	h := c.bucketCounter(query.Buckets(c.Field, f.Min, f.Max, q.Buckets))
	f.Histogram = h.buckets
	for i := range h.starts {
		first, end := h.runs(c, i)
		f.Histogram[i].Count = o.countBelow(int(c.runs.At(end))) - o.countBelow(int(c.runs.At(first)))
	}
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
	if long >= best.most {
		for k := range long {
			st.Add(1)
			run := int(c.longRuns.At(k))
			from, to := c.run(run)
			best.offerRun(run, to-from)
		}
		return
	}
	from := 0
	for run := range c.Distinct() {
		st.Add(1)
		to := int(c.runs.At(run + 1))
		best.offerRun(run, to-from)
		from = to
	}
}

// bucketCounter counts records by the buckets of their runs.
type bucketCounter struct {
	buckets []query.Bucket
	starts  []int // first run of each bucket
	at      int   // bucket of the last added run
}

func (c *Column) bucketCounter(buckets []query.Bucket) bucketCounter {
	h := bucketCounter{buckets: buckets, starts: make([]int, len(buckets))}
	for i, b := range buckets {
		h.starts[i] = c.firstRun(borderKey(&c.Field, b.From))
	}
	return h
}

// add counts records of a run. Runs must be added in ascending order.
func (h *bucketCounter) add(run, n int) {
	if len(h.buckets) == 0 {
		return
	}
	for h.at+1 < len(h.starts) && run >= h.starts[h.at+1] {
		h.at++
	}
	h.buckets[h.at].Count += n
}

// addAll counts all records.
func (h *bucketCounter) addAll(c *Column) {
	for i := range h.starts {
		first, end := h.runs(c, i)
		h.buckets[i].Count = int(c.runs.At(end) - c.runs.At(first))
	}
}

// runs returns the runs of a bucket.
func (h *bucketCounter) runs(c *Column, i int) (first, end int) {
	if i+1 < len(h.starts) {
		return h.starts[i], h.starts[i+1]
	}
	return h.starts[i], c.Distinct()
}
