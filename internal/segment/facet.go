package segment

import (
	"context"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// Facets counts the values of fields among the records that meet a request.
//
// If that is every record, the counts are the lengths of runs. Otherwise it depends on what is less work: the stored sets of
// a field with few values are counted against the records found; or these are marked in the order of the field, and the
// marks of each run are counted; or, if they are few, their places are sorted. It takes memory for the records found and,
// from a pool, two bits for each record there is or a number for each of the few.
func (r *Reader) Facets(ctx context.Context, q *query.FacetRequest) (f query.Facets, err error) {
	err = r.guard(func() error {
		st := newSteps(ctx)
		set, _, err := r.answer(st, q.Request)
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
	t := c.tally(m)
	f.Empty = t.empty()
	if f.Empty == m.n {
		return f
	}
	var h spread
	if query.HasRange(c.field.Type) {
		first, last := t.ends()
		f.Min, f.Max = c.runValue(first), c.runValue(last)
		h = c.spread(query.Buckets(c.field.Type, f.Min, f.Max, q.Buckets))
		f.Histogram = h.buckets
	}
	best := ranking{most: q.Top}
	exact := c.exact(m.steps)
	switch {
	case m.set == nil && !exact:
		f.Distinct = c.distinct()
		h.addAll(c)
		c.rankLongest(m.steps, &best)
	default:
		t.each(func(run, n int) {
			h.add(run, n)
			if exact && c.isMixed(run) {
				f.Distinct += c.rankWritings(m, run, &best)
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

// exact reports whether the field has values that sort alike and are different values all the same.
func (c *column) exact(st *steps) bool {
	if c.field.Type != herb.TypeText {
		return false
	}
	for _, b := range c.mixed {
		st.add(1)
		if b != 0 {
			return true
		}
	}
	return false
}

// rankWritings counts the values of a run that sort alike, each as it is written, and returns how many there are.
func (c *column) rankWritings(m *matches, run int, best *ranking) (distinct int) {
	counts := map[string]int{}
	from, to := c.run(run)
	for p := from; p < to; p++ {
		m.steps.add(1)
		if rec := c.order.at(p); m.set == nil || m.set.Contains(rec) {
			counts[c.value(rec)]++
		}
	}
	for value, n := range counts {
		m.steps.add(1)
		best.offer(ranked{n: n, run: run, value: value})
	}
	return len(counts)
}

// rankLongest offers the runs by their lengths. Where there are enough long ones no other can be among the best.
func (c *column) rankLongest(st *steps, best *ranking) {
	long := c.long.len()
	if long > 0 && int(c.long.at(long-1)) == c.distinct() { // the records without a value
		long--
	}
	if long >= best.most {
		for k := range long {
			st.add(1)
			run := int(c.long.at(k))
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

// spread counts records by the buckets that their runs belong to.
type spread struct {
	buckets []query.Bucket
	starts  []int // first run of each
	at      int   // bucket of the run that was added last
}

func (c *column) spread(buckets []query.Bucket) spread {
	h := spread{buckets: buckets, starts: make([]int, len(buckets))}
	for i, b := range buckets {
		key, _ := text.Key(c.field.Type, b.From)
		h.starts[i], _ = c.firstRun(key)
	}
	return h
}

// add counts records of a run. Runs come in ascending order.
func (h *spread) add(run, n int) {
	if len(h.buckets) == 0 {
		return
	}
	for h.at+1 < len(h.starts) && run >= h.starts[h.at+1] {
		h.at++
	}
	h.buckets[h.at].Count += n
}

// addAll counts all records.
func (h *spread) addAll(c *column) {
	for i, from := range h.starts {
		to := c.distinct()
		if i+1 < len(h.starts) {
			to = h.starts[i+1]
		}
		h.buckets[i].Count = int(c.runs.at(to) - c.runs.at(from))
	}
}
