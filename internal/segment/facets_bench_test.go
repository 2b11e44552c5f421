package segment_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// BenchmarkUnionFacets counts the values of a million plants in several segments. Most names are
// distinct, and IDs are in random order.
func BenchmarkUnionFacets(b *testing.B) {
	fields := herb.PlantFields()
	g := rand.New(rand.NewPCG(1, 2))
	u := segment.Union{}
	ids, next := g.Perm(1_000_000), 0
	for _, size := range []int{600_000, 300_000, 90_000, 10_000} {
		path := filepath.Join(b.TempDir(), fmt.Sprint(size))
		records := func(yield func(herb.Record, error) bool) {
			for range size {
				if !yield(herb.Record{fmt.Sprint(ids[next]), fmt.Sprintf("Plant %d", g.IntN(2_000_000)), []string{"tree", "fern", ""}[next%3]}, nil) {
					return
				}
				next++
			}
		}
		if _, err := segment.Create(b.Context(), path, fields, records, segment.Options{}); err != nil {
			b.Fatal(err)
		}
		r, err := segment.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = r.Release() }) // the folder is removed
		u.Segments = append(u.Segments, r)
	}
	for _, raw := range []string{"field=name", "field=name&_values=77", "field=name&tag=tree", "field=id", "field=id&_values=77", "field=tag"} {
		r, err := query.ParseFacets(raw, fields)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(raw, func(b *testing.B) {
			reportCPU(b, func() error {
				_, err := u.Facets(b.Context(), r)
				return err
			})
		})
	}
}
