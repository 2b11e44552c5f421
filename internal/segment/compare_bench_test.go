package segment_test

import (
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"syscall"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/segment"
)

// BenchmarkCompare compares two versions of which one record in a hundred changed, and reports the
// processor time and the largest heap: with equal fields, and with a field more.
func BenchmarkCompare(b *testing.B) {
	for _, records := range []int{300_000, 1_000_000} {
		b.Run(fmt.Sprintf("records=%d", records), func(b *testing.B) { benchmarkCompare(b, records) })
	}
}

func benchmarkCompare(b *testing.B, records int) {
	fields := []herb.Field{{Name: "id", Type: herb.TypeText, Filterable: true, Sortable: true}}
	for i := range 10 {
		fields = append(fields, herb.Field{Name: fmt.Sprint("field", i), Type: herb.TypeText})
	}
	build := func(fields []herb.Field, version int) *segment.Reader {
		path := filepath.Join(b.TempDir(), "x.seg")
		var rows iter.Seq2[herb.Record, error] = func(yield func(herb.Record, error) bool) {
			for n := range records {
				r := make(herb.Record, len(fields)) // a build keeps records for a while
				r[0] = fmt.Sprint("record-", n)
				for i := 1; i <= 10; i++ {
					r[i] = fmt.Sprint("value ", n*i%1000, " of field")
				}
				if n%100 == 0 {
					r[3] = fmt.Sprint("version ", version)
				}
				if !yield(r, nil) {
					return
				}
			}
		}
		_, err := segment.Create(b.Context(), path, fields, rows, segment.Options{})
		must.NoError(b, err)
		r, err := segment.Open(path)
		must.NoError(b, err)
		b.Cleanup(func() { _ = r.Release() })
		return r
	}
	from := build(fields, 1)
	for _, more := range []int{0, 1} {
		next := fields
		if more > 0 {
			next = append(fields[:len(fields):len(fields)], herb.Field{Name: "more", Type: herb.TypeText})
		}
		to := build(next, 2)
		b.Run(fmt.Sprintf("fields+%d", more), func(b *testing.B) {
			b.ReportAllocs()
			heap := watchHeap()
			before := processorTime()
			for b.Loop() {
				c, err := segment.Compare(b.Context(), from, to,
					segment.CompareOptions{SortOptions: segment.SortOptions{Dir: b.TempDir()}, Key: []string{"id"}})
				must.NoError(b, err)
				if c.Changed != records/100 {
					b.Fatalf("%d changed", c.Changed)
				}
				must.NoError(b, c.Close())
			}
			b.ReportMetric((processorTime()-before).Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(heap())/(1<<20), "heap-MiB")
		})
	}
}

// watchHeap measures the heap until the function that it returns is called, which returns how much
// it has grown at most.
func watchHeap() (grown func() uint64) {
	const objects = "/memory/classes/heap/objects:bytes"
	size := func() uint64 {
		sample := []metrics.Sample{{Name: objects}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	first, stop, largest := size(), make(chan struct{}), make(chan uint64)
	go func() {
		most := first
		for {
			select {
			case <-stop:
				largest <- most - first
				return
			case <-time.After(time.Millisecond):
				most = max(most, size())
			}
		}
	}()
	return func() uint64 {
		close(stop)
		return <-largest
	}
}

func processorTime() time.Duration {
	var use syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
