// Package bench_test measures the engine without a server around it.
package bench_test

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"herbarium/bench/gen"
	"herbarium/bench/internal/load"
	"herbarium/bench/shapes"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

const (
	sizesEnv = "HERBARIUM_BENCH_SIZES" // numbers of records to measure with, separated by commas
	dataEnv  = "HERBARIUM_BENCH_DATA"  // folder for files that a later run can use again
)

func sizes(b *testing.B) []int {
	list, ok := os.LookupEnv(sizesEnv)
	if !ok {
		list = "10000"
	}
	var out []int
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			b.Fatalf("%s is %q; write numbers with commas between them, such as 10000,1000000", sizesEnv, list)
		}
		out = append(out, n)
	}
	return out
}

// request is a shape resolved for one dataset.
type request struct {
	shapes.Shape
	Total int    // matching records
	Raw   string // raw query with the page
}

// resolve resolves all shapes for an engine.
func resolve(tb testing.TB, l *segment.Reader, fields []herb.Field) (requests []request) {
	tb.Helper()
	for _, s := range shapes.All() {
		r, err := query.Parse(s.Query, fields)
		if err != nil {
			tb.Fatal(err)
		}
		page, err := l.List(tb.Context(), r)
		if err != nil {
			tb.Fatal(err)
		}
		requests = append(requests, request{s, page.Total, s.Raw(page.Total)})
	}
	return requests
}

// BenchmarkList lists a page of every shape at every size. HERBARIUM_BENCH_SIZES sets the sizes; a file with a million records
// has 400 MB.
func BenchmarkList(b *testing.B) {
	for _, n := range sizes(b) {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			path, err := gen.File(b.Context(), cmp.Or(os.Getenv(dataEnv), "data"), 1, n)
			if err != nil {
				b.Fatal(err)
			}
			l, fields := open(b, path)
			for _, r := range resolve(b, l, fields) {
				b.Run("shape="+r.Name, func(b *testing.B) { benchmarkShape(b, l, fields, r) })
			}
		})
	}
}

func benchmarkShape(b *testing.B, l *segment.Reader, fields []herb.Field, shape request) {
	r, err := query.Parse(shape.Raw, fields)
	if err != nil {
		b.Fatal(err)
	}
	latency := make(load.Latencies, 0, 1<<20) // so that it is not reported as allocated
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		page, err := l.List(b.Context(), r)
		latency = append(latency, time.Since(start))
		if err != nil {
			b.Fatal(err)
		}
		if page.Total != shape.Total {
			b.Fatalf("%d records; want %d", page.Total, shape.Total)
		}
	}
	b.ReportMetric(float64(latency.Quantile(0.50)), "p50-ns")
	b.ReportMetric(float64(latency.Quantile(0.99)), "p99-ns")
}
