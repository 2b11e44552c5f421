// Package bench_test measures the engine without a server around it.
package bench_test

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"herbarium/bench/gen"
	"herbarium/bench/internal/load"
	"herbarium/bench/shapes"
	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/must"
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
		must.NoError(tb, err)
		page, err := l.List(tb.Context(), r)
		must.NoError(tb, err)
		requests = append(requests, request{s, page.Total, s.Raw(page.Total)})
	}
	return requests
}

// atEachSize runs a benchmark with the records of every size. HERBARIUM_BENCH_SIZES sets the sizes;
// a file with a million records has 400 MB.
func atEachSize(b *testing.B, run func(b *testing.B, l *segment.Reader, fields []herb.Field)) {
	for _, n := range sizes(b) {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			path, err := gen.File(b.Context(), cmp.Or(os.Getenv(dataEnv), "data"), 1, n)
			must.NoError(b, err)
			l, fields := open(b, path)
			run(b, l, fields)
		})
	}
}

// measureLatency reports the allocations and the latencies of an operation.
func measureLatency(b *testing.B, do func()) {
	latency := make(load.Latencies, 0, 1<<20) // so that it is not reported as allocated
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		do()
		latency = append(latency, time.Since(start))
	}
	b.ReportMetric(float64(latency.Quantile(0.50)), "p50-ns")
	b.ReportMetric(float64(latency.Quantile(0.99)), "p99-ns")
}

// BenchmarkList lists a page of every shape.
func BenchmarkList(b *testing.B) {
	atEachSize(b, func(b *testing.B, l *segment.Reader, fields []herb.Field) {
		for _, shape := range resolve(b, l, fields) {
			r, err := query.Parse(shape.Raw, fields)
			must.NoError(b, err)
			b.Run("shape="+shape.Name, func(b *testing.B) {
				measureLatency(b, func() {
					page, err := l.List(b.Context(), r)
					must.NoError(b, err)
					if page.Total != shape.Total {
						b.Fatalf("%d records; want %d", page.Total, shape.Total)
					}
				})
			})
		}
	})
}

// BenchmarkFacets counts the values of single fields and of all that a page would show together,
// among every record, those with a word that two fifths of them have, those of a category, and
// those of an author.
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
	atEachSize(b, func(b *testing.B, l *segment.Reader, exposed []herb.Field) {
		for _, a := range among {
			for _, f := range fields {
				r, err := query.ParseFacets(f.raw+a.raw, exposed)
				must.NoError(b, err)
				b.Run("among="+a.name+"/field="+f.name, func(b *testing.B) {
					total := 0
					measureLatency(b, func() {
						counted, err := l.Facets(b.Context(), r)
						must.NoError(b, err)
						total = counted.Total
					})
					b.ReportMetric(float64(total), "records")
				})
			}
		}
	})
}

// servingGC is the GC percentage that a server sets for itself.
const servingGC = 800

// open prepares a file of records for listing by the engine that is measured. It is closed when tb
// ends.
func open(tb testing.TB, path string) (*segment.Reader, []herb.Field) {
	tb.Helper()
	table, err := ingest.Inspect(tb.Context(), ingest.Source{Path: path}, ingest.Options{})
	must.NoError(tb, err)
	fields := table.Dataset.Fields
	file := filepath.Join(tb.TempDir(), "bench.segment")
	_, err = segment.Create(tb.Context(), file, fields, table.Records(tb.Context()), segment.Options{})
	must.NoError(tb, err)
	r, err := segment.Open(file)
	must.NoError(tb, err)
	runtime.GC() // so that garbage of the build does not count
	before := debug.SetGCPercent(servingGC)
	tb.Cleanup(func() {
		debug.SetGCPercent(before)
		must.NoError(tb, r.Release())
	})
	return r, fields
}
