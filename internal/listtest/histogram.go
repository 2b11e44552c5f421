package listtest

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// histogram returns the histogram of some values and its scale. Boundaries and scale are those for edges. Both are in
// ascending order. Tests of package query compare the boundaries with a reference implementation.
func histogram(f herb.Field, all, edges []*counted, r *query.FacetRequest) (query.Scale, []query.Bucket) {
	if r.Buckets == 0 || len(edges) == 0 {
		return query.ScaleLinear, nil
	}
	span := query.Range{Min: edges[0].Value, Max: edges[len(edges)-1].Value}
	linear := query.Buckets(f, span.Min, span.Max, r.Buckets)
	if f.Type == herb.TypeNumber {
		for _, v := range edges {
			if sign := v.place.number.Sign(); sign < 0 {
				span.GreatestNegative = v.Value
			} else if sign > 0 && span.LeastPositive == "" {
				span.LeastPositive = v.Value
			}
		}
		log := query.LogBuckets(f, span, r.Buckets)
		if len(log) > 0 && (r.Scale == query.ScaleLog ||
			r.Scale == query.ScaleAuto && isSkewed(fill(f, linear, edges)) && !isSkewed(fill(f, log, edges))) {
			return query.ScaleLog, fill(f, log, all)
		}
	}
	return query.ScaleLinear, fill(f, linear, all)
}

// isSkewed reports whether one bucket has more than three quarters of the records.
func isSkewed(buckets []query.Bucket) bool {
	sum := 0
	for _, b := range buckets {
		sum += b.Count
	}
	return slices.ContainsFunc(buckets, func(b query.Bucket) bool { return float64(b.Count) > 0.75*float64(sum) })
}

// fill returns buckets with the counts of values.
func fill(f herb.Field, buckets []query.Bucket, all []*counted) []query.Bucket {
	buckets = slices.Clone(buckets)
	for i := range buckets {
		b, last := &buckets[i], i == len(buckets)-1
		from, to := parseValue(f, b.From), parseValue(f, b.To)
		for _, v := range all {
			if v.place.compare(from) >= 0 && (v.place.compare(to) < 0 || last && v.place.compare(to) == 0) {
				b.Count += v.Count
			}
		}
	}
	return buckets
}
