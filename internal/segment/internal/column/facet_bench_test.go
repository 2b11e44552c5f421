package column_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
)

// BenchmarkFacetCounter measures every facet counter. Its results are the basis of the cost constants by which
// facetCounter selects one.
func BenchmarkFacetCounter(b *testing.B) {
	const n = 1_000_000
	columns, pool := facetColumns(b, n)
	for _, share := range []float64{0.4, 0.16, 0.01, 0.0001} {
		g := rand.New(rand.NewPCG(7, 8))
		set := roaring.New()
		for rec := range uint32(n) {
			if g.Float64() < share {
				set.Add(rec)
			}
		}
		st, matches := guard.NewSteps(b.Context()), setOf(pool, set)
		for i := range columns[:4] {
			c := &columns[i]
			for _, name := range column.Counters() {
				b.Run(fmt.Sprintf("share=%v/field=%s/counter=%s", share, c.Field.Name, name), func(b *testing.B) {
					chosen := 0.0
					if c.ChosenCounter(st, matches) == name {
						chosen = 1
					}
					for b.Loop() {
						c.CountRuns(st, name, 2, matches, func(_, _ int) {})
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(matches.Len()), "ns/match")
					b.ReportMetric(chosen, "chosen")
				})
			}
		}
	}
}
