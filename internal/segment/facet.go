package segment

import (
	"context"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// Facets counts the values of fields among the records that match a request.
//
// For all records, the counts are the lengths of the value runs. Otherwise it uses the cheapest of three methods:
// intersect the stored sets of a field with few values with the result; mark the result in the sorted rows and count
// the marks of each run; or, for few records, sort their ranks. It needs memory for the result and, from a pool, two
// bits per record of the segment or a number for each of the few.
func (r *Reader) Facets(ctx context.Context, q *query.FacetRequest) (f query.Facets, err error) {
	err = r.guard(func() error {
		st := newSteps(ctx)
		set, _, err := r.evaluate(st, q.Request)
		if err != nil {
			return err
		}
		f.Total = r.Len()
		if set != nil {
			if f.Total = int(set.GetCardinality()); f.Total == r.Len() {
				set = nil
			}
		}
		s := r.scratch.get()
		defer r.scratch.put(s)
		m := &matches{steps: st, set: set, n: f.Total, records: r.Len(), scratch: s}
		for _, i := range q.Fields {
			st.check()
			f.Fields = append(f.Fields, r.columns[i].facet(m, q))
		}
		return nil
	})
	if err != nil {
		return query.Facets{}, err
	}
	return f, nil
}

// facet counts the values of the field.
func (c *column) facet(m *matches, q *query.FacetRequest) query.Facet {
	f := query.Facet{Field: c.field.Name, Type: c.field.Type}
	if m.n == 0 {
		return f
	}
	if c.field.Type == herb.TypeList {
		f.Empty = c.countEmpty(m)
		c.countElements(m, q.Top, &f)
		return f
	}
	t := c.facetCounter(m)
	f.Empty = t.empty()
	if f.Empty == m.n {
		return f
	}
	var h bucketCounter
	if query.HasRange(c.field.Type) {
		first, last := t.ends()
		f.Min, f.Max = c.runValue(first), c.runValue(last)
		h = c.bucketCounter(query.Buckets(c.field, f.Min, f.Max, q.Buckets))
		f.Histogram = h.buckets
	}
	best := topValues{most: q.Top}
	exact := c.exact(m.steps)
	switch {
	case m.set == nil && !exact:
		f.Distinct = c.distinct()
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
			value = c.runValue(v.run)
		}
		f.Values = append(f.Values, query.ValueCount{Value: value, Count: v.n})
	}
	return f
}

// exact reports whether the field has distinct values that compare equal.
func (c *column) exact(st *steps) bool {
	if c.field.Type != herb.TypeText {
		return false
	}
	for _, b := range c.nonUniform {
		st.add(1)
		if b != 0 {
			return true
		}
	}
	return false
}

// addWritings counts the values of a non-uniform run by their written form, and returns the number of distinct ones.
func (c *column) addWritings(m *matches, run int, best *topValues) (distinct int) {
	counts := map[string]int{}
	from, to := c.run(run)
	for p := from; p < to; p++ {
		m.steps.add(1)
		if rec := c.sorted.at(p); m.set == nil || m.set.Contains(rec) {
			counts[c.value(rec)]++
		}
	}
	for value, n := range counts {
		m.steps.add(1)
		best.offer(valueCount{n: n, run: run, value: value})
	}
	return len(counts)
}

// addLongestRuns adds the runs by their lengths. If there are enough long runs, no other can be among the top.
func (c *column) addLongestRuns(st *steps, best *topValues) {
	long := c.longRuns.len()
	if long > 0 && int(c.longRuns.at(long-1)) == c.distinct() { // records without a value
		long--
	}
	if long >= best.most {
		for k := range long {
			st.add(1)
			run := int(c.longRuns.at(k))
			from, to := c.run(run)
			best.offerRun(run, to-from)
		}
		return
	}
	from := 0
	for run := range c.distinct() {
		st.add(1)
		to := int(c.runs.at(run + 1))
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

func (c *column) bucketCounter(buckets []query.Bucket) bucketCounter {
	h := bucketCounter{buckets: buckets, starts: make([]int, len(buckets))}
	for i, b := range buckets {
		border, _ := text.Operand(&c.field, b.From)
		key, _ := text.Key(c.field.Type, border)
		h.starts[i], _ = c.firstRun(key)
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
func (h *bucketCounter) addAll(c *column) {
	for i, from := range h.starts {
		to := c.distinct()
		if i+1 < len(h.starts) {
			to = h.starts[i+1]
		}
		h.buckets[i].Count = int(c.runs.at(to) - c.runs.at(from))
	}
}
