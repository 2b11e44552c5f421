package segment_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// BenchmarkForms compares searches for a word that has another form in a million records with those
// for the word alone: frequent words (tree), medium ones (rose) and rare ones (lily), and a word
// without other forms (oaks).
func BenchmarkForms(b *testing.B) {
	records := make([]herb.Record, 1_000_000)
	g := rand.New(rand.NewPCG(1, 2))
	for i := range records {
		words := []string{"plant"}
		for word, share := range map[string]int{"tree": 4, "rose": 50, "lilie": 2000, "oak": 10} {
			for _, ending := range []string{"", "s"} {
				for g.IntN(share) == 0 {
					words = append(words, word+ending)
				}
			}
		}
		for range g.IntN(20) {
			words = append(words, fmt.Sprintf("word%d", g.IntN(20_000)))
		}
		records[i] = herb.Record{strconv.Itoa(i), strings.Join(words, " "), "tag" + strconv.Itoa(i%10)}
	}
	r := openBuilt(b, herb.PlantFields(), records, segment.Options{FS: unsynced{}})
	for _, raw := range []string{"search=tree", "search=rose", "search=lilies", "search=plant", "search=word77",
		"search=tree+rose", "search=tree+plant", "search=tree&tag=tag3", "search=rose&tag=tag3",
		"search=tree&sort=name",
		"search=rose&sort=name", "name[match]=tree", "name[match]=rose", "search=tree&page=4000"} {
		for _, words := range []string{"", "&_words=exact"} {
			q, err := query.Parse(raw+words, herb.PlantFields())
			if err != nil {
				b.Fatal(err)
			}
			b.Run(raw+words, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := r.List(b.Context(), q); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
