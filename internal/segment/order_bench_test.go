package segment_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// orderBenchmark returns the fields and records of the benchmarks below: fields with 3, 5, 100,
// 1000, 500,000 and a million values.
func orderBenchmark() ([]herb.Field, []herb.Record) {
	const n = 1_000_000
	fields := []herb.Field{{Name: "five"}, {Name: "thousand"}, {Name: "pairs"}, {Name: "distinct"}, {Name: "third"},
		{Name: "hundredth"}}
	for i := range fields {
		fields[i].Type, fields[i].Sortable, fields[i].Filterable = herb.TypeNumber, true, true
	}
	records := make([]herb.Record, n)
	for i := range records {
		shuffled := i * 7919 % n
		records[i] = herb.Record{
			fmt.Sprint(shuffled % 5), fmt.Sprint(shuffled / 7 % 1000), fmt.Sprint(shuffled / 2),
			fmt.Sprint(i * 104_729 % n),
			fmt.Sprint(i % 3), fmt.Sprint(i / 10 % 100),
		}
	}
	return fields, records
}

// benchmarkPages measures the first, the middle and the last page with and without filters.
func benchmarkPages(b *testing.B, l query.Engine, fields []herb.Field, sort string) {
	for _, filter := range []string{"", "third=1&", "hundredth=7&"} {
		for _, share := range []float64{0, 0.5, 1} {
			q, err := query.Parse(filter+"per_page=100&sort="+sort, fields)
			if err != nil {
				b.Fatal(err)
			}
			page, err := l.List(b.Context(), q)
			if err != nil {
				b.Fatal(err)
			}
			q.Page = max(1, int(share*float64(q.Meta(page.Total).TotalPages)))
			b.Run(fmt.Sprintf("sort=%s/filter=%s/page=%d", sort, strings.TrimSuffix(filter, "&"), q.Page),
				func(b *testing.B) {
					reportCPU(b, func() error {
						_, err := l.List(b.Context(), q)
						return err
					})
				})
		}
	}
}

// BenchmarkOrder measures pages and exports of a segment, sorted by one to six fields.
func BenchmarkOrder(b *testing.B) {
	fields, records := orderBenchmark()
	r := openBuilt(b, fields, records, segment.Options{FS: unsynced{}})
	for _, sort := range []string{
		"five", "-five", "distinct", "-distinct",
		"five,distinct", "-five,-distinct", "five,thousand,-distinct", "five,third,distinct", "thousand,distinct",
		"-thousand,-five,-distinct",
		"pairs,-distinct", "distinct,five", "third,five,hundredth,thousand,pairs,-distinct",
	} {
		benchmarkPages(b, r, fields, sort)
		b.Run("sort="+sort+"/export", func(b *testing.B) {
			reportCPU(b, func() error {
				_, err := count(b, r, fields, "sort="+sort)
				return err
			})
		})
	}
}

// reportCPU reports the CPU time of the process, which other processes on the machine disturb less
// than elapsed time.
func reportCPU(b *testing.B, run func() error) {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	b.ReportAllocs()
	before := used()
	for b.Loop() {
		if err := run(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((used()-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
}
