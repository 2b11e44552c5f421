package bench_test

import (
	"cmp"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"herbarium/bench/gen"
	"herbarium/internal/query"
)

// cliffs are requests that are expensive for an engine that has no good plan for them. Their pages are those of a million
// records.
var cliffs = []struct{ name, raw string }{
	{"prefix-of-all", "url[prefix]=https://"},
	{"prefix-of-some", "title[prefix]=Fo&sort=date"},
	{"prefixes-deep", "search=b*+t*&page=20000"},
	{"prefixes-first", "search=b*+t*"},
	{"prefix-and-word", "search=a*+" + gen.CommonWord},
	{"words-prefixes-filters", "search=ka*+zemes+diglu+b*+breral+s*+t*+fo*&category=shrub&status=published&price[gte]=10"},
	{"common-word-deep", "search=" + gen.CommonWord + "&page=8000"},
	{"range-of-elements", "tags[gte]=m"},
	{"small-category-sort", "category=succulent&sort=date&page=700"},
	{"tag-sort-middle", "tags=" + gen.Tag + "&sort=date&page=400"},
	{"exclusions", "tags[ne]=" + gen.Tag + "&category[ne]=" + gen.Category + "&search=-" + gen.CommonWord + "&sort=url"},
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
	{"charts", allFields + "&_scale=auto&_edges=all&_own_filter=ignore&buckets=24&price[gte]=20&search=" + gen.CommonWord},
	{"charts-of-all", allFields + "&_scale=auto&_edges=all&_own_filter=ignore&buckets=24"},
	{"distinct-values-of-last-records", "field=id&field=image&id[gte]=900000"},
	{"value-search", "field=author&_values=an"},
	{"value-search-of-distinct-values", "field=title&_values=an"},
	{"all-fields", allFields + "&search=" + gen.CommonWord},
}

// BenchmarkCliffs measures the CPU time and the allocations of expensive requests.
func BenchmarkCliffs(b *testing.B) {
	for _, n := range sizes(b) {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			path, err := gen.File(b.Context(), cmp.Or(os.Getenv(dataEnv), "data"), 1, n)
			if err != nil {
				b.Fatal(err)
			}
			l, fields := open(b, path)
			for _, c := range cliffs {
				r, err := query.Parse(c.raw, fields)
				if err != nil {
					b.Fatal(err)
				}
				benchmarkCPU(b, "list="+c.name, func() error {
					_, err := l.List(b.Context(), r)
					return err
				})
			}
			for _, c := range gridCliffs {
				r, err := query.ParseGrid(c.raw, fields)
				if err != nil {
					b.Fatal(err)
				}
				benchmarkCPU(b, "grid="+c.name, func() error {
					_, err := l.Grid(b.Context(), r)
					return err
				})
			}
			for _, c := range facetCliffs {
				r, err := query.ParseFacets(c.raw, fields)
				if err != nil {
					b.Fatal(err)
				}
				benchmarkCPU(b, "facets="+c.name, func() error {
					_, err := l.Facets(b.Context(), r)
					return err
				})
			}
		})
	}
}

// benchmarkCPU reports the CPU time of the process, which other processes on the machine disturb less than elapsed time.
func benchmarkCPU(b *testing.B, name string, run func() error) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		before := processCPU(b)
		for b.Loop() {
			if err := run(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64((processCPU(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
	})
}

func processCPU(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
