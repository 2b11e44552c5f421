package bench_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"herbarium/bench/gen"
	"herbarium/internal/query"
)

// checkedContext measures the CPU time between checks of a context, which is the work that is still done after a cancellation.
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

// BenchmarkCancel measures how long expensive requests continue after they are canceled: the longest CPU time between two
// checks of the context, in the best of all runs, because other goroutines also take time.
func BenchmarkCancel(b *testing.B) {
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
				b.Run("list="+c.name, func(b *testing.B) {
					best := time.Hour
					for b.Loop() {
						ctx := &checkedContext{Context: b.Context(), b: b, checked: processCPU(b)}
						if _, err := l.List(ctx, r); err != nil {
							b.Fatal(err)
						}
						_ = ctx.Err() // the rest of the request
						best = min(best, ctx.longest)
					}
					b.ReportMetric(float64(best.Nanoseconds()), "ns-to-cancel")
				})
			}
		})
	}
}
