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

// BenchmarkUnionFacets counts the names of a million plants in several segments. Most names are distinct.
func BenchmarkUnionFacets(b *testing.B) {
	fields := herb.PlantFields()
	g := rand.New(rand.NewPCG(1, 2))
	u := segment.Union{Tail: segment.NewTail(fields)}
	next := 0
	for _, size := range []int{600_000, 300_000, 90_000, 10_000} {
		path := filepath.Join(b.TempDir(), fmt.Sprint(size))
		records := func(yield func(herb.Record, error) bool) {
			for range size {
				next++
				if !yield(herb.Record{fmt.Sprint(next), fmt.Sprintf("Plant %d", g.IntN(2_000_000)), []string{"tree", "fern", ""}[next%3]}, nil) {
					return
				}
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
	for _, raw := range []string{"field=name", "field=id", "field=tag", "field=name&tag=tree"} {
		r, err := query.ParseFacets(raw, fields)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(raw, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := u.Facets(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
