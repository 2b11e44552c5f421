package bench_test

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	"herbarium/bench/gen"
	"herbarium/bench/internal/load"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// BenchmarkFacets counts the values of single fields and of all that a page would show together, among every record,
// those with a word that two fifths of them have, those of a category, and those of an author.
func BenchmarkFacets(b *testing.B) {
	fields := []struct{ name, raw string }{
		{"category", "field=category"}, {"status", "field=status"}, {"author", "field=author"}, {"tags", "field=tags"},
		{"price", "field=price"}, {"date", "field=date"}, {"title", "field=title"},
		{"page", "field=category&field=status&field=author&field=tags&field=price&field=date"},
	}
	among := []struct{ name, raw string }{
		{"all", ""}, {"word", "&search=" + gen.CommonWord}, {"category", "&category=" + gen.Category},
		{"author", "&author=" + url.QueryEscape(gen.Author)},
	}
	for _, n := range sizes(b) {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			path, err := gen.File(b.Context(), cmp.Or(os.Getenv(dataEnv), "data"), 1, n)
			if err != nil {
				b.Fatal(err)
			}
			l, exposed := open(b, path)
			for _, a := range among {
				for _, f := range fields {
					r, err := query.ParseFacets(f.raw+a.raw, exposed)
					if err != nil {
						b.Fatal(err)
					}
					b.Run("among="+a.name+"/field="+f.name, func(b *testing.B) { benchmarkFacets(b, l, r) })
				}
			}
		})
	}
}

func benchmarkFacets(b *testing.B, l *segment.Reader, r *query.FacetRequest) {
	latency := make(load.Latencies, 0, 1<<20) // so that it is not reported as allocated
	b.ReportAllocs()
	total := 0
	for b.Loop() {
		start := time.Now()
		f, err := l.Facets(b.Context(), r)
		latency = append(latency, time.Since(start))
		if err != nil {
			b.Fatal(err)
		}
		total = f.Total
	}
	b.ReportMetric(float64(latency.Quantile(0.50)), "p50-ns")
	b.ReportMetric(float64(total), "records")
}
