package postgres_test

import (
	"context"
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
	"herbarium/internal/store/postgres"
	"herbarium/internal/storetest/pgtest"
)

// sizeVariable names the environment variable with the number of plants to list in the benchmark.
const sizeVariable = "HERBARIUM_BENCH_PLANTS"

// benchPlants returns that number: a million, unless told otherwise.
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

// fill creates n plants, the same as the benchmark of SQLite: names of three words, of which the first is one of 50, one
// of ten tags for nine of ten.
func fill(b *testing.B, s *postgres.Store, n int) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	const batch = 5000
	for first := 0; first < n; first += batch {
		creations := make([]store.Creation, min(batch, n-first))
		for i := range creations {
			p := herb.NewPlant{ID: int64(first + i + 1)}
			p.Name = fmt.Sprintf("Genus%d species%d variety%d", r.IntN(50), r.IntN(5000), r.IntN(100_000))
			if tag := r.IntN(10); tag > 0 {
				p.Tag = new("tag" + strconv.Itoa(tag))
			}
			creations[i].Plant = p
		}
		if _, err := s.CreatePlants(context.Background(), creations); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkListPlants measures the shapes of listings on a server with its usual settings, whose statistics are up to date.
func BenchmarkListPlants(b *testing.B) {
	server := &pgtest.Cluster{Durable: true}
	stopAfter(b, server)
	n := benchPlants(b)
	address := server.Database(b)
	s := open(b, address, postgres.Options{})
	fill(b, s, n)
	run(b, address, "VACUUM ANALYZE")
	list := func(b *testing.B, raw string) query.Page {
		r, err := query.Parse(raw, herb.PlantFields())
		if err != nil {
			b.Fatal(err)
		}
		page, err := s.ListPlants(context.Background(), r)
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
				before, _ := server.CPU() // where it is not known, there is no figure
				for b.Loop() {
					list(b, raw)
				}
				if after, err := server.CPU(); err == nil {
					b.ReportMetric(float64((after-before).Microseconds())/1000/float64(b.N), "server-ms/op")
				}
			})
		}
	}
}
