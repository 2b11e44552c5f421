package segment

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// BenchmarkFacetCounter measures every facet counter. Its results are the basis of the cost constants by which
// facetCounter selects one.
func BenchmarkFacetCounter(b *testing.B) {
	const n = 1_000_000
	r := countable(b, n)
	for _, share := range []float64{0.4, 0.16, 0.01, 0.0001} {
		g := rand.New(rand.NewPCG(7, 8))
		set := roaring.New()
		for rec := range uint32(n) {
			if g.Float64() < share {
				set.Add(rec)
			}
		}
		m := &matches{steps: newSteps(b.Context()), set: set, n: int(set.GetCardinality()), records: n, scratch: r.scratch.get()}
		for i := range r.columns[:4] {
			c := &r.columns[i]
			for name, way := range map[string]func() facetCounter{
				"sets":  func() facetCounter { return setCounter{c, m.dense(), m.steps} },
				"marks": func() facetCounter { return newMarkCounter(c, m) },
				"few":   func() facetCounter { return newRankCounter(c, m) },
			} {
				b.Run(fmt.Sprintf("share=%v/field=%s/way=%s", share, c.field.Name, name), func(b *testing.B) {
					chosen := 0.0
					if fmt.Sprintf("%T", c.facetCounter(m)) == fmt.Sprintf("%T", way()) {
						chosen = 1
					}
					for b.Loop() {
						way().each(func(_, _ int) {})
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(m.n), "ns/match")
					b.ReportMetric(chosen, "chosen")
				})
			}
		}
	}
}
