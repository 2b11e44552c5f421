package column

import (
	"slices"
	"sort"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// population is the values of some records of a field in ascending order.
type population interface {
	// extremes returns the least and the greatest value, and if signs is set those next to zero.
	extremes(signs bool) extremes
	// addTo adds the numbers of values in buckets to their counts.
	addTo(buckets []query.Bucket)
}

// extremes are values with their sort keys. A value that does not exist has no key.
type extremes struct{ min, max, negative, positive Value }

// setHistogram sets the range and the histogram of a facet of some populations. Its boundaries and its scale are those for
// edges, which may be other populations.
func setHistogram(facet *query.Facet, f *herb.Field, counted, edges []population, q *query.FacetRequest) {
	own := combine(counted, false)
	facet.Min, facet.Max, facet.Scale = own.min.Text, own.max.Text, query.ScaleLinear
	logarithmic := f.Type == herb.TypeNumber && (q.Scale == query.ScaleLog || q.Scale == query.ScaleAuto)
	e := combine(edges, logarithmic)
	facet.Histogram = query.Buckets(*f, e.min.Text, e.max.Text, q.Buckets)
	if logarithmic {
		r := query.Range{Min: e.min.Text, Max: e.max.Text, GreatestNegative: e.negative.Text, LeastPositive: e.positive.Text}
		log := query.LogBuckets(*f, r, q.Buckets)
		if len(log) > 0 && (q.Scale == query.ScaleLog || isSkewed(facet.Histogram, edges) && !isSkewed(log, edges)) {
			facet.Histogram, facet.Scale = log, query.ScaleLog
		}
	}
	for _, p := range counted {
		p.addTo(facet.Histogram)
	}
}

// isSkewed reports whether a histogram of some populations is skewed. It does not change the buckets.
func isSkewed(buckets []query.Bucket, populations []population) bool {
	buckets = slices.Clone(buckets)
	for _, p := range populations {
		p.addTo(buckets)
	}
	return query.IsSkewed(buckets)
}

// combine returns the extremes of several populations. Of equal values it returns that of the first population.
func combine(populations []population, signs bool) (all extremes) {
	lower := func(dst *Value, v Value) {
		if v.Key != "" && (dst.Key == "" || v.Key < dst.Key) {
			*dst = v
		}
	}
	upper := func(dst *Value, v Value) {
		if v.Key > dst.Key {
			*dst = v
		}
	}
	for _, p := range populations {
		e := p.extremes(signs)
		lower(&all.min, e.min)
		upper(&all.max, e.max)
		upper(&all.negative, e.negative)
		lower(&all.positive, e.positive)
	}
	return all
}

// extremes implements population.
func (o *sortedResult) extremes(signs bool) (e extremes) {
	withValue := o.countBelow(o.Values())
	if withValue == 0 {
		return e
	}
	at := func(i int) Value {
		run := o.runAt(0, o.rank(i))
		return Value{Key: o.runKey(run), Text: o.RunValue(run)}
	}
	e.min, e.max = at(0), at(withValue-1)
	if !signs {
		return e
	}
	zero := borderKey(&o.Field, "0")
	if below := o.countBelow(int(o.runs.At(o.firstRun(zero)))); below > 0 {
		e.negative = at(below - 1)
	}
	if through := o.countBelow(int(o.runs.At(o.firstRun(zero + "\x00")))); through < withValue {
		e.positive = at(through)
	}
	return e
}

// addTo implements population.
func (o *sortedResult) addTo(buckets []query.Bucket) {
	end := o.countBelow(o.Values())
	for i := len(buckets) - 1; i >= 0; i-- {
		from := 0
		if i > 0 {
			from = o.countBelow(int(o.runs.At(o.firstRun(borderKey(&o.Field, buckets[i].From)))))
		}
		buckets[i].Count += end - from
		end = from
	}
}

// valuePopulation is a population in memory.
type valuePopulation struct {
	field  *herb.Field
	values []Value // in ascending order
}

// firstAt returns the index of the first value whose key is not less than the given one.
func (p valuePopulation) firstAt(key string) int {
	return sort.Search(len(p.values), func(i int) bool { return p.values[i].Key >= key })
}

// extremes implements population.
func (p valuePopulation) extremes(signs bool) (e extremes) {
	n := len(p.values)
	if n == 0 {
		return e
	}
	e.min, e.max = p.values[0], p.values[n-1]
	if !signs {
		return e
	}
	zero := borderKey(p.field, "0")
	if below := p.firstAt(zero); below > 0 {
		e.negative = p.values[below-1]
	}
	if through := p.firstAt(zero + "\x00"); through < n {
		e.positive = p.values[through]
	}
	return e
}

// addTo implements population.
func (p valuePopulation) addTo(buckets []query.Bucket) {
	end := len(p.values)
	for i := len(buckets) - 1; i >= 0; i-- {
		from := 0
		if i > 0 {
			from = p.firstAt(borderKey(p.field, buckets[i].From))
		}
		for _, v := range p.values[from:end] {
			buckets[i].Count += v.Count
		}
		end = from
	}
}
