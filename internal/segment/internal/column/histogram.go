package column

import (
	"slices"
	"sort"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/guard"
)

// population is the matching values of a segment in ascending order.
type population struct {
	*sortedResult
	keys *runKeys
}

// extremes are the least and the greatest value, and those next to zero; empty if there is none.
type extremes struct{ min, max, negative, positive string }

// setHistogram sets the range and the histogram of the facet of a population. Its boundaries and
// its scale are those for edges, which may be another population.
func setHistogram(facet *query.Facet, f *herb.Field, counted, edges population, q *query.FacetRequest) {
	own := counted.extremes(f, false)
	facet.Min, facet.Max = own.min, own.max
	logarithmic := f.Type == herb.TypeNumber && (q.Scale == query.ScaleLog || q.Scale == query.ScaleAuto)
	e := edges.extremes(f, logarithmic)
	facet.Histogram = query.Buckets(*f, e.min, e.max, q.Buckets)
	if logarithmic {
		r := query.Range{Min: e.min, Max: e.max, GreatestNegative: e.negative, LeastPositive: e.positive}
		log := query.LogBuckets(*f, r, q.Buckets)
		if len(log) > 0 && (q.Scale == query.ScaleLog || isSkewed(f, facet.Histogram, edges) &&
			!isSkewed(f, log, edges)) {
			facet.Histogram, facet.Scale = log, query.ScaleLog
		}
	}
	addCounts(f, facet.Histogram, counted)
}

// isSkewed reports whether a histogram of a population is skewed. It does not change the
// buckets.
func isSkewed(f *herb.Field, buckets []query.Bucket, p population) bool {
	buckets = slices.Clone(buckets)
	addCounts(f, buckets, p)
	return query.IsSkewed(buckets)
}

// addCounts adds the numbers of values in buckets to their counts.
func addCounts(f *herb.Field, buckets []query.Bucket, p population) {
	end := p.len()
	for i := len(buckets) - 1; i >= 0; i-- {
		from := 0
		if i > 0 {
			from = p.countBelowKey(edgeKey(f, buckets[i].From))
		}
		buckets[i].Count += end - from
		end = from
	}
}

// extremes returns the extremes of the population, with those next to zero if signs is set.
func (p population) extremes(f *herb.Field, signs bool) (all extremes) {
	n := p.len()
	if n == 0 {
		return all
	}
	all.min, all.max = p.at(0), p.at(n-1)
	if !signs {
		return all
	}
	zero := edgeKey(f, "0")
	if below := p.countBelowKey(zero); below > 0 {
		all.negative = p.at(below - 1)
	}
	if through := p.countBelowKey(zero + "\x00"); through < n {
		all.positive = p.at(through)
	}
	return all
}

func (p population) len() int { return p.countBelow(p.Values()) }

// at returns the value at a position.
func (p population) at(i int) string { return p.keys.value(p.runAt(0, p.rank(i))) }

// countBelowKey returns the number of values whose sort key is less than the given one.
func (p population) countBelowKey(key string) int {
	run := sort.Search(p.Distinct(), func(i int) bool { return p.keys.at(i) >= key })
	return p.countBelow(int(p.runs.At(run)))
}

// runKeys reads the values and the sort keys of runs in any order. It remembers the keys, because
// the searches for the edges of a histogram read many of them several times.
type runKeys struct {
	c       *Column
	steps   *guard.Steps
	samples []valueSample // before every sampleInterval-th run; nil if values are read from records
	sampled []byte        // values of the samples
	buffer  []byte        // for a value
	keys    map[int]string
}

// valueSample is the state of a reader of stored values between two runs: the end of the last value
// in sampled, and the length of the stored values that it has not read yet.
type valueSample struct{ end, rest int }

// sampleInterval is the number of runs between samples.
const sampleInterval = 32

// newRunKeys returns a reader of the keys that a histogram needs. Reading a value from a record
// takes microseconds if many fields precede it. Then it is faster to read all stored values once.
func (c *Column) newRunKeys(st *guard.Steps, buckets int) *runKeys {
	k := &runKeys{c: c, steps: st, keys: map[int]string{}, buffer: make([]byte, 0, 128)}
	if !c.StoresValues() || c.Distinct() > cost.ReadsPerBucket*buckets*(c.fieldIndex+cost.RecordReadAsField) {
		return k
	}
	for v := c.newRunValues(st, c.Distinct()); v.next < c.Distinct(); {
		st.Add(sampleInterval)
		st.Reserve(2 * len(v.value)) // also while the array grows
		k.sampled = append(k.sampled, v.value...)
		k.samples = append(k.samples, valueSample{len(k.sampled), len(v.rest)})
		v.at(min(v.next+sampleInterval, c.Distinct()) - 1)
	}
	return k
}

func (k *runKeys) value(run int) string {
	if k.samples == nil {
		return k.c.readRunValue(k.steps, run)
	}
	i, start := run/sampleInterval, 0
	if i > 0 {
		start = k.samples[i-1].end
	}
	v := runValues{
		c: k.c, steps: k.steps, stored: true, next: i * sampleInterval,
		value: append(k.buffer[:0], k.sampled[start:k.samples[i].end]...),
		rest:  k.c.values[len(k.c.values)-k.samples[i].rest:],
	}
	k.buffer = v.at(run)
	return string(k.buffer)
}

func (k *runKeys) at(run int) string {
	key, ok := k.keys[run]
	if !ok {
		key = sortKey(&k.c.Field, k.value(run))
		k.keys[run] = key
	}
	return key
}
