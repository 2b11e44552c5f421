package storetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/store"
)

// sizeVariable names the environment variable with the number of plants to list in the benchmark.
const sizeVariable = "HERBARIUM_BENCH_PLANTS"

// benchPlants returns the number of plants: that of sizeVariable, or a million.
func benchPlants(b *testing.B) int {
	if s := os.Getenv(sizeVariable); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1000 {
			b.Fatalf("%s is %q; it must be a number from 1000", sizeVariable, s)
		}
		return n
	}
	if testing.Short() {
		return 10_000
	}
	return 1_000_000
}

// BenchOptions of BenchmarkListings. The zero value will do.
type BenchOptions struct {
	Filled  func()                         // is called when all plants are there; nil: nothing
	Measure func(b *testing.B, run func()) // calls run and reports what else is of interest; nil: only calls it
}

// BenchmarkListings fills an empty store and measures the shapes of listings.
func BenchmarkListings(b *testing.B, s PlantStore, o BenchOptions) {
	n := benchPlants(b)
	fillForBench(b, s, n)
	if o.Filled != nil {
		o.Filled()
	}
	list := func(b *testing.B, raw string) query.Page {
		r, err := query.Parse(raw, herb.PlantFields())
		if err != nil {
			b.Fatal(err)
		}
		page, err := s.Plants().List(b.Context(), r)
		if err != nil {
			b.Fatal(err)
		}
		if len(page.Records) == 0 {
			b.Fatalf("%q finds nothing", raw)
		}
		return page
	}
	var first struct{ Name string }
	if err := json.Unmarshal(list(b, "").Records[0], &first); err != nil {
		b.Fatal(err)
	}
	words := strings.Fields(first.Name)

	shapes := []struct{ name, raw string }{
		{"creation", ""},
		{"sort=id", "sort=id"},
		{"sort=name asc", "sort=name"},
		{"sort=name desc", "sort=name&order=desc"},
		{"sort=tag asc", "sort=tag"},
		{"sort=tag desc", "sort=tag&order=desc"},
		{"tag", "tag=tag3"},
		{"tag, sort=id", "tag=tag3&sort=id"},
		{"tag, sort=name asc", "tag=tag3&sort=name"},
		{"tag, sort=name desc", "tag=tag3&sort=name&order=desc"},
		{"name", "name=" + strings.Join(words, "+")},
		{"name prefix", "name[prefix]=Genus7+"},
		{"id", "id=77"},
		{"search", "search=genus7"},
		{"search, two words", "search=genus7+tag3"},
		{"search, prefix", "search=species77*"},
		{"search, phrase", "search=%22" + words[0] + "+" + words[1] + "%22"},
		{"search, sort=name", "search=genus7&sort=name"},
	}
	for _, shape := range shapes {
		total := list(b, shape.raw).Total
		last := (total + query.DefaultPerPage - 1) / query.DefaultPerPage
		for _, page := range []struct {
			name string
			n    int
		}{{"first", 1}, {"middle", last / 2}, {"last", last}} {
			if page.n == 0 || page.n == 1 && page.name != "first" {
				continue
			}
			raw := fmt.Sprintf("%s&page=%d", shape.raw, page.n)
			b.Run(shape.name+"/"+page.name, func(b *testing.B) {
				run := func() {
					for b.Loop() {
						list(b, raw)
					}
				}
				if o.Measure == nil {
					run()
					return
				}
				o.Measure(b, run)
			})
		}
	}
}

// fillForBench creates n plants with names of three words, the first being one of 50, and for nine of ten one of ten tags.
func fillForBench(b *testing.B, s PlantStore, n int) {
	b.Helper()
	fill(b, s, n, func(r *rand.Rand) (p herb.Plant) {
		p.Name = fmt.Sprintf("Genus%d species%d variety%d", r.IntN(50), r.IntN(5000), r.IntN(100_000))
		if tag := r.IntN(10); tag > 0 {
			p.Tag = new("tag" + strconv.Itoa(tag))
		}
		return p
	})
}

// fill creates n generated plants.
func fill(b *testing.B, s PlantStore, n int, generate func(*rand.Rand) herb.Plant) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	const batch = 5000
	for first := 0; first < n; first += batch {
		creations := make([]store.Creation, min(batch, n-first))
		for i := range creations {
			creations[i].Plant = herb.NewPlant{ID: int64(first + i + 1), Plant: generate(r)}
		}
		if _, err := s.CreatePlants(b.Context(), creations); err != nil {
			b.Fatal(err)
		}
	}
}
