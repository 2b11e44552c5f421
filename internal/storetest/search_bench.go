package storetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// BenchmarkSearches fills an empty store with plants whose names share few first letters, and measures searches and facets
// that match a large part of them.
func BenchmarkSearches(b *testing.B, s PlantStore) {
	fillWithWords(b, s, benchPlants(b))
	for _, raw := range []string{
		"", "search=r*", "search=r*+s*+t*+b*", "search=r*+s*+t*+b*&sort=name", "search=-r*",
	} {
		r, err := query.Parse(raw, herb.PlantFields())
		if err != nil {
			b.Fatal(err)
		}
		b.Run("list/"+raw, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Plants().List(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
		facets := &query.FacetRequest{Request: r, Fields: []int{0, 1, 2}, Top: 10, Buckets: 10}
		b.Run("facets/"+raw, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Plants().Facets(b.Context(), facets); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// fillWithWords creates n plants with names of six words and one of 50 tags.
func fillWithWords(b *testing.B, s PlantStore, n int) {
	b.Helper()
	fill(b, s, n, func(r *rand.Rand) herb.Plant {
		words := make([]string, 6)
		for j := range words {
			words[j] = fmt.Sprintf("%c%d", "rstbo"[r.IntN(5)], r.IntN(3000))
		}
		return herb.Plant{Name: strings.Join(words, " "), Tag: new(fmt.Sprintf("t%d", r.IntN(50)))}
	})
}
