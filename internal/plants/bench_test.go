package plants_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/plants"
	"herbarium/internal/query"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
)

// BenchmarkService_Create creates plants, durably, for several callers at once.
func BenchmarkService_Create(b *testing.B) {
	for _, callers := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			ctx, cancel := context.WithCancel(context.Background())
			db, err := sqlite.Open(ctx, filepath.Join(b.TempDir(), "herbarium.db"), sqlite.Options{})
			if err != nil {
				b.Fatal(err)
			}
			s := plants.New(db, plants.Options{})
			var background, foreground sync.WaitGroup
			background.Go(func() { _ = s.Run(ctx) })
			var last atomic.Int64
			b.ResetTimer()
			for range callers {
				foreground.Go(func() {
					for id := last.Add(1); id <= int64(b.N); id = last.Add(1) {
						p := plant(id, fmt.Sprintf("Genus%d species%d", id%50, id), fmt.Sprintf("tag%d", id%10))
						if o, err := s.Create(ctx, store.Creation{Plant: p}); err != nil || o.Err != nil {
							b.Errorf("plant %d: %v, %v", id, err, o.Err)
							return
						}
					}
				})
			}
			foreground.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "plants/s")
			cancel()
			background.Wait()
			if err := db.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}

// sizeVariable names the environment variable with the number of plants of BenchmarkIndex.
const sizeVariable = "HERBARIUM_BENCH_PLANTS"

// BenchmarkIndex creates a million plants, indexes them and measures facets and the first, the
// middle and the last page of listings. A share of the plants, one in a hundred, is created after
// the rest was indexed.
func BenchmarkIndex(b *testing.B) {
	n, err := strconv.Atoi(cmp.Or(os.Getenv(sizeVariable), "1000000"))
	if err != nil || n < 1000 {
		b.Fatalf("%s must be a number from 1000", sizeVariable)
	}
	log := newMemoryLog(0)
	x := openIndex(b, log, plants.IndexOptions{Dir: b.TempDir()})
	fill(log, n-n/100)
	began := time.Now()
	if err := with(x, b.Context(), func(*plants.Snapshot) error { return nil }); err != nil {
		b.Fatal(err)
	}
	b.Logf("indexed %d plants in %s", n-n/100, time.Since(began))
	fill(log, n)
	measure := func(name string, list func() error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := list(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	var facets []func()
	for _, raw := range []string{
		"", "sort=id", "sort=name", "sort=name&order=desc", "sort=tag", "sort=tag&order=desc", "tag=tag3",
		"tag=tag3&sort=id",
		"sort=tag,name", "sort=-tag,-name,id", "tag=tag3&sort=name", "tag=tag3&sort=name&order=desc",
		"name[prefix]=Genus7+", "id=77", "search=genus7", "search=genus7+tag3",
		"search=species77*", "search=%22genus7+species77%22", "search=genus7&sort=name", "search=g*+s*+v*",
		"search=-tag3",
	} {
		r, err := query.Parse(raw, herb.PlantFields())
		if err != nil {
			b.Fatal(err)
		}
		total := 0
		list := func() error {
			return with(x, b.Context(), func(s *plants.Snapshot) error {
				page, err := s.List(b.Context(), r)
				total = page.Total
				return err
			})
		}
		if err := list(); err != nil {
			b.Fatal(err)
		}
		last := max(1, r.Meta(total).TotalPages)
		for _, r.Page = range []int{1, max(1, last/2), last} {
			measure(fmt.Sprintf("%s/page=%d", raw, r.Page), list)
		}
		q := &query.FacetRequest{Request: r, Fields: []int{0, 1, 2}, Top: 10, Buckets: 10}
		facets = append(facets, func() {
			measure(raw+"/facets", func() error {
				return with(x, b.Context(), func(s *plants.Snapshot) error {
					_, err := s.Facets(b.Context(), q)
					return err
				})
			})
		})
	}
	for _, run := range facets { // the first one merges all segments
		run()
	}
}

// BenchmarkIndex_facets creates a plant and then counts values, again and again, with different
// numbers of plants: all of them are indexed again each time.
func BenchmarkIndex_facets(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			log := newMemoryLog(0)
			x := openIndex(b, log, plants.IndexOptions{Dir: b.TempDir()})
			fill(log, n)
			q, err := query.ParseFacets("field=name&field=tag", herb.PlantFields())
			if err != nil {
				b.Fatal(err)
			}
			before := cpuTime(b)
			for b.Loop() {
				log.mu.Lock() // segments are built in the background
				fill(log, len(log.plants)+1)
				log.mu.Unlock()
				if err := with(x, b.Context(), func(s *plants.Snapshot) error {
					_, err := s.Facets(b.Context(), q)
					return err
				}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}

// BenchmarkIndex_creation creates a plant and then lists plants, again and again. It reports the
// CPU time of the process, which includes builds in the background.
func BenchmarkIndex_creation(b *testing.B) {
	for _, raw := range []string{"", "sort=name", "search=genus7", "tag=tag3&sort=name&order=desc"} {
		b.Run(raw, func(b *testing.B) {
			log := newMemoryLog(0)
			x := openIndex(b, log, plants.IndexOptions{Dir: b.TempDir()})
			fill(log, 100_000)
			r, err := query.Parse(raw, herb.PlantFields())
			if err != nil {
				b.Fatal(err)
			}
			r.Page = 40
			list := func() {
				err := with(x, b.Context(), func(s *plants.Snapshot) error {
					_, err := s.List(b.Context(), r)
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			list()
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				log.mu.Lock() // segments are built in the background
				fill(log, len(log.plants)+1)
				log.mu.Unlock()
				list()
			}
			b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// fill creates plants up to a number, with names of three words, the first being one of 50, and for
// nine of ten one of ten tags.
func fill(log *memoryLog, n int) {
	r := rand.New(rand.NewPCG(1, uint64(len(log.plants))))
	for id := int64(len(log.plants) + 1); id <= int64(n); id++ {
		p := plant(id, fmt.Sprintf("Genus%d species%d variety%d", r.IntN(50), r.IntN(5000), r.IntN(100_000)))
		if tag := r.IntN(10); tag > 0 {
			p.Tag = new("tag" + strconv.Itoa(tag))
		}
		log.plants = append(log.plants, p)
	}
	log.numberBatch()
}
