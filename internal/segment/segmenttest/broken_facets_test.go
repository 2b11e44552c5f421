package segmenttest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// brokenFaceter is an engine with a fault in its facets only.
type brokenFaceter struct {
	*Oracle
	fault func(o *Oracle, r *query.FacetRequest) (query.Facets, error)
}

func (b brokenFaceter) Facets(_ context.Context, r *query.FacetRequest) (query.Facets, error) {
	return b.fault(b.Oracle, r)
}

type facetFault = func(o *Oracle, r *query.FacetRequest) (query.Facets, error)

// withFacetRequest returns an engine that misinterprets facet requests.
func withFacetRequest(change func(*query.FacetRequest)) facetFault {
	return func(o *Oracle, r *query.FacetRequest) (query.Facets, error) {
		changed, request := *r, *r.Request
		changed.Request = &request
		change(&changed)
		return o.Facets(context.Background(), &changed)
	}
}

// withFacet returns an engine that corrupts each facet.
func withFacet(change func(f *query.Facet)) facetFault {
	return func(o *Oracle, r *query.FacetRequest) (query.Facets, error) {
		facets, err := o.Facets(context.Background(), r)
		for i := range facets.Fields {
			change(&facets.Fields[i])
		}
		return facets, err
	}
}

// withFacetTypes returns an engine that treats values of one type as another.
func withFacetTypes(from, to herb.Type) facetFault {
	return func(o *Oracle, r *query.FacetRequest) (query.Facets, error) {
		changed := o.retyped(from, to)
		facets := query.Facets{}
		found := o.findAll(r.Request)
		facets.Total = len(found)
		for _, i := range r.Fields {
			f := changed.facet(found, i, r)
			f.Type = o.fields[i].Type
			facets.Fields = append(facets.Fields, f)
		}
		return facets, nil
	}
}

func facetFaults() map[string]facetFault {
	return map[string]facetFault{
		"filters ignored":      withFacetRequest(func(r *query.FacetRequest) { r.Request.Conditions = nil }),
		"search ignored":       withFacetRequest(func(r *query.FacetRequest) { r.Request.Search = nil }),
		"top ignored":          withFacetRequest(func(r *query.FacetRequest) { r.Top = query.MaxTop }),
		"buckets ignored":      withFacetRequest(func(r *query.FacetRequest) { r.Buckets = query.MaxBuckets }),
		"offset ignored":       withFacetRequest(func(r *query.FacetRequest) { r.Offset = 0 }),
		"value search ignored": withFacetRequest(func(r *query.FacetRequest) { r.Containing = "" }),
		"value search of the returned values only": func(o *Oracle, r *query.FacetRequest) (query.Facets, error) {
			plain := *r
			plain.Containing = ""
			facets, err := o.Facets(context.Background(), &plain)
			for i := range facets.Fields {
				f := &facets.Fields[i]
				f.Values = slices.DeleteFunc(f.Values,
					func(v query.ValueCount) bool { return !containsText(v.Value, r.Containing) })
			}
			return facets, err
		},
		"value search with case": func(o *Oracle, r *query.FacetRequest) (query.Facets, error) {
			facets, err := o.Facets(context.Background(), r)
			for i := range facets.Fields {
				f := &facets.Fields[i]
				f.Values = slices.DeleteFunc(f.Values,
					func(v query.ValueCount) bool { return !strings.Contains(v.Value, r.Containing) })
			}
			return facets, err
		},
		"always linear": withFacetRequest(func(r *query.FacetRequest) { r.Scale = query.ScaleLinear }),
		"auto is log": withFacetRequest(func(r *query.FacetRequest) {
			if r.Scale == query.ScaleAuto {
				r.Scale = query.ScaleLog
			}
		}),
		"auto is linear": withFacetRequest(func(r *query.FacetRequest) {
			if r.Scale == query.ScaleAuto {
				r.Scale = query.ScaleLinear
			}
		}),
		"edges of the matching records": withFacetRequest(func(r *query.FacetRequest) { r.AllEdges = false }),
		"own filter applied":            withFacetRequest(func(r *query.FacetRequest) { r.IgnoreOwnFilter = false }),
		"own filter always ignored":     withFacetRequest(func(r *query.FacetRequest) { r.IgnoreOwnFilter = true }),
		"fields reversed": withFacetRequest(func(r *query.FacetRequest) {
			r.Fields = slices.Clone(r.Fields)
			slices.Reverse(r.Fields)
		}),
		"one field only":   withFacetRequest(func(r *query.FacetRequest) { r.Fields = r.Fields[:1] }),
		"numbers as text":  withFacetTypes(herb.TypeNumber, herb.TypeText),
		"dates as text":    withFacetTypes(herb.TypeDate, herb.TypeText),
		"booleans as text": withFacetTypes(herb.TypeBoolean, herb.TypeText),
		"lists as text":    withFacetTypes(herb.TypeList, herb.TypeText),
		"text as lists":    withFacetTypes(herb.TypeText, herb.TypeList),
		"empty values are values": withFacet(func(f *query.Facet) {
			if f.Empty > 0 {
				f.Distinct++
			}
		}),
		"empty values not counted":  withFacet(func(f *query.Facet) { f.Empty = 0 }),
		"distinct of the first few": withFacet(func(f *query.Facet) { f.Distinct = min(f.Distinct, len(f.Values)) }),
		"least frequent first":      withFacet(func(f *query.Facet) { slices.Reverse(f.Values) }),
		"ties reversed": withFacet(func(f *query.Facet) {
			slices.Reverse(f.Values)
			slices.SortStableFunc(f.Values, func(a, b query.ValueCount) int { return b.Count - a.Count })
		}),
		"ties by bytes": withFacet(func(f *query.Facet) {
			slices.SortFunc(f.Values, func(a, b query.ValueCount) int {
				if a.Count != b.Count {
					return b.Count - a.Count
				}
				return strings.Compare(a.Value, b.Value)
			})
		}),
		"numbers as they sort": withFacet(func(f *query.Facet) {
			for i, v := range f.Values {
				if f.Type == herb.TypeNumber && strings.Contains(v.Value, ".") {
					f.Values[i].Value = strings.TrimRight(strings.TrimRight(v.Value, "0"), ".")
				}
			}
		}),
		"no greatest value": withFacet(func(f *query.Facet) { f.Max = f.Min }),
		"empty buckets omitted": withFacet(func(f *query.Facet) {
			f.Histogram = slices.DeleteFunc(f.Histogram, isEmptyBucket)
		}),
		"one bucket short": withFacet(func(f *query.Facet) {
			f.Histogram = f.Histogram[:max(0, len(f.Histogram)-1)]
		}),
		"edges count twice": withFacet(func(f *query.Facet) {
			for i, b := range f.Histogram {
				for _, v := range f.Values {
					if i > 0 && v.Value == b.From {
						f.Histogram[i-1].Count += v.Count
					}
				}
			}
		}),
		"first written among those found": func(o *Oracle, r *query.FacetRequest) (query.Facets, error) {
			var left []herb.Record
			for _, n := range o.findAll(r.Request) {
				left = append(left, o.records[n])
			}
			all := *r.Request
			all.Conditions, all.Search = nil, nil
			return NewOracle(o.fields, left).Facets(context.Background(), &query.FacetRequest{
				Request: &all, Fields: r.Fields, Top: r.Top, Buckets: r.Buckets,
			})
		},
		"elements as often as they stand": func(o *Oracle, r *query.FacetRequest) (query.Facets, error) {
			facets, err := o.Facets(context.Background(), r)
			for i, f := range facets.Fields {
				for k := range f.Values {
					if f.Type == herb.TypeList {
						f.Values[k].Count = 0
						for _, n := range o.findAll(r.Request) {
							for _, e := range parts(o.fields[r.Fields[i]], o.records[n][r.Fields[i]]) {
								if e == f.Values[k].Value {
									f.Values[k].Count++
								}
							}
						}
					}
				}
			}
			return facets, err
		},
		"an error": func(*Oracle, *query.FacetRequest) (query.Facets, error) {
			return query.Facets{}, herb.Errorf(herb.CodeInternal, "out of order")
		},
	}
}

func isEmptyBucket(b query.Bucket) bool { return b.Count == 0 }

// TestFaultsInFacets checks that the suite detects every fault, by the named cases and by the
// random datasets alike.
func TestFaultsInFacets(t *testing.T) {
	t.Parallel()
	onlyInSoakRuns(t)
	checkAllDetected(t, facetFaults(), true, false,
		func(o *Oracle, fault facetFault) query.Engine { return brokenFaceter{o, fault} })
}
