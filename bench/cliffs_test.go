package bench_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"herbarium/bench/gen"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// cliffs are requests that are expensive for an engine that has no good plan for them. Their pages
// are those of a million records.
var cliffs = []struct{ name, raw string }{
	{"prefix-of-all", "url[prefix]=https://"},
	{"prefix-of-some", "title[prefix]=Fo&sort=date"},
	{"prefixes-deep", "search=b*+t*&page=20000"},
	{"prefixes-first", "search=b*+t*"},
	{"prefix-and-word", "search=a*+" + gen.CommonWord},
	{"words-prefixes-filters",
		"search=ka*+zemes+diglu+b*+breral+s*+t*+fo*&category=shrub&status=published&price[gte]=10"},
	{"common-word-deep", "search=" + gen.CommonWord + "&page=8000"},
	{"range-of-elements", "tags[gte]=m"},
	{"small-category-sort", "category=succulent&sort=date&page=700"},
	{"tag-sort-middle", "tags=" + gen.Tag + "&sort=date&page=400"},
	{"exclusions", "tags[ne]=" + gen.Tag + "&category[ne]=" + gen.Category + "&search=-" + gen.CommonWord +
		"&sort=url"},
	{"fields-sort-middle", "sort=category,-price&page=20000"},
	{"word-fields-sort-middle", "search=" + gen.CommonWord + "&sort=-status,category,-price,title&page=4000"},
	{"phrase-with-prefix", "search=diglu-b*"},
	{"match-common-word", "description[match]=" + gen.CommonWord},
	{"match-word", "title[match]=" + gen.FirstWord},
	{"match-prefix", "title[match]=b*"},
	{"match-few-values", "category[match]=" + gen.Category},
	{"match-excluded", "title[match]=-" + gen.CommonWord},
	{"match-search-sort", "title[match]=" + gen.FirstWord + "&search=" + gen.CommonWord + "&sort=date"},
}

// allFields is the facets of all fields.
const allFields = "field=id&field=title&field=category&field=status&field=date&field=url&field=image&field=price&field=author&field=tags"

// gridCliffs are grid requests of the same kind.
var gridCliffs = []struct{ name, raw string }{
	{"all", "_x=id&_y=price&_bounds=0,0,1000000,100"},
	{"common-word", "_x=id&_y=price&_bounds=0,0,1000000,100&search=" + gen.CommonWord},
}

// facetCliffs are facet requests of the same kind.
var facetCliffs = []struct{ name, raw string }{
	{"distinct-values", "field=image&field=id&field=url"},
	{"distinct-values-of-some", "field=image&field=id&field=url&search=" + gen.CommonWord},
	{"charts", allFields + "&_scale=auto&_edges=all&_own_filter=ignore&buckets=24&price[gte]=20&search=" +
		gen.CommonWord},
	{"charts-of-all", allFields + "&_scale=auto&_edges=all&_own_filter=ignore&buckets=24"},
	{"distinct-values-of-last-records", "field=id&field=image&id[gte]=900000"},
	{"value-search", "field=author&_values=an"},
	{"value-search-of-distinct-values", "field=title&_values=an"},
	{"all-fields", allFields + "&search=" + gen.CommonWord},
}

// aggregateCliffs are aggregate requests of the same kind, as charts send them.
var aggregateCliffs = []struct{ name, raw string }{
	{"count", "_by=category"},
	{"mean-by-month", "_by=date:month&_measure=mean:price"},
	{"sum-by-day", "_by=date:day&_measure=sum:price&_top=1000"},
	{"distinct-of-some", "_by=category&_measure=distinct:author&search=" + gen.CommonWord},
	{"median-by-two", "_by=date:year&_by=category&_measure=median:price&_top=1000"},
	{"numbers-by-two", "_by=price:5&_by=id:50000&_top=1000"},
	{"many-groups", "_by=author&_measure=mean:price"},
}

// BenchmarkCliffs measures the CPU time and the allocations of expensive requests.
func BenchmarkCliffs(b *testing.B) {
	atEachSize(b, func(b *testing.B, l *segment.Reader, fields []herb.Field) {
		for _, c := range cliffs {
			benchmarkCliff(b, "list="+c.name, c.raw, fields, query.Parse, l.List)
		}
		for _, c := range gridCliffs {
			benchmarkCliff(b, "grid="+c.name, c.raw, fields, query.ParseGrid, l.Grid)
		}
		for _, c := range facetCliffs {
			benchmarkCliff(b, "facets="+c.name, c.raw, fields, query.ParseFacets, l.Facets)
		}
		for _, c := range aggregateCliffs {
			benchmarkCliff(b, "aggregate="+c.name, c.raw, fields, query.ParseAggregate, l.Aggregate)
		}
	})
}

// benchmarkCliff reports the CPU time of the process, which other processes on the machine disturb
// less than elapsed time.
func benchmarkCliff[Request, Result any](
	b *testing.B, name, raw string, fields []herb.Field,
	parse func(string, []herb.Field) (Request, error), run func(context.Context, Request) (Result, error),
) {
	r, err := parse(raw, fields)
	must.NoError(b, err)
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		before := processCPU(b)
		for b.Loop() {
			_, err := run(b.Context(), r)
			must.NoError(b, err)
		}
		b.ReportMetric(float64((processCPU(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
	})
}

func processCPU(b *testing.B) time.Duration {
	var u syscall.Rusage
	must.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// checkedContext measures the CPU time between checks of a context, which is the work that is still
// done after a cancellation.
type checkedContext struct {
	context.Context
	b       *testing.B
	checked time.Duration // CPU time at the last check
	longest time.Duration
}

func (c *checkedContext) Err() error {
	now := processCPU(c.b)
	c.longest = max(c.longest, now-c.checked)
	c.checked = now
	return nil
}

// BenchmarkCancel measures how long expensive requests continue after they are canceled: the
// longest CPU time between two checks of the context, in the best of all runs, because other
// goroutines also take time.
func BenchmarkCancel(b *testing.B) {
	atEachSize(b, func(b *testing.B, l *segment.Reader, fields []herb.Field) {
		for _, c := range cliffs {
			r, err := query.Parse(c.raw, fields)
			must.NoError(b, err)
			b.Run("list="+c.name, func(b *testing.B) {
				best := time.Hour
				for b.Loop() {
					ctx := &checkedContext{Context: b.Context(), b: b, checked: processCPU(b)}
					_, err := l.List(ctx, r)
					must.NoError(b, err)
					_ = ctx.Err() // the rest of the request
					best = min(best, ctx.longest)
				}
				b.ReportMetric(float64(best.Nanoseconds()), "ns-to-cancel")
			})
		}
	})
}
