package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/plants"
	"herbarium/internal/store"
	"herbarium/internal/store/pgtest"
	"herbarium/internal/store/postgres"
)

// creator creates a plant and returns once it is on disk.
type creator func(context.Context, herb.NewPlant) error

// BenchmarkCreate measures creation with group commit on a server with fsync, by one node and by
// two, and compares it with one INSERT per plant over as many connections.
func BenchmarkCreate(b *testing.B) {
	server := &pgtest.Cluster{Durable: true}
	stopAfter(b, server)
	for _, callers := range []int{1, 16, 256} {
		for _, way := range []struct {
			name  string
			start func(b *testing.B, address string) creator
		}{
			{"nodes=1", func(b *testing.B, address string) creator { return serve(b, address, 1) }},
			{"nodes=2", func(b *testing.B, address string) creator { return serve(b, address, 2) }},
			{"INSERT plain", insertPlain},
		} {
			b.Run(fmt.Sprintf("callers=%d/%s", callers, way.name), func(b *testing.B) {
				measure(b, server, callers, way.start(b, server.Database(b)))
			})
		}
	}
}

// measure creates plants from a number of concurrent callers.
func measure(b *testing.B, server *pgtest.Cluster, callers int, create creator) {
	var wg sync.WaitGroup
	var last atomic.Int64
	before, _ := server.CPU() // not reported where it is unknown
	b.ResetTimer()
	for range callers {
		wg.Go(func() {
			for id := last.Add(1); id <= int64(b.N); id = last.Add(1) {
				p := herb.NewPlant{ID: id}
				p.Name, p.Tag = fmt.Sprintf("Genus%d species%d", id%50, id), new(fmt.Sprintf("tag%d", id%10))
				if err := create(context.Background(), p); err != nil {
					b.Errorf("plant %d: %v", id, err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "plants/s")
	if after, err := server.CPU(); err == nil {
		b.ReportMetric(float64((after-before).Microseconds())/float64(b.N), "server-µs/plant")
	}
}

// serve starts nodes, which are used in turn.
func serve(b *testing.B, address string, nodes int) creator {
	ctx, cancel := context.WithCancel(context.Background())
	var background sync.WaitGroup
	services := make([]*plants.Service, nodes)
	for i := range services {
		services[i] = plants.New(open(b, address, postgres.Options{}), plants.Options{})
		background.Go(func() { _ = services[i].Run(ctx) })
	}
	b.Cleanup(func() {
		cancel()
		background.Wait()
	})
	return func(ctx context.Context, p herb.NewPlant) error {
		o, err := services[p.ID%int64(nodes)].Create(ctx, store.Creation{Plant: p})
		if err != nil {
			return err
		}
		return o.Err
	}
}

// connections returns as many connections as a store has.
func connections(b *testing.B, address string) *pgxpool.Pool {
	pool, err := pgxpool.New(context.Background(), address)
	must.NoError(b, err)
	b.Cleanup(pool.Close)
	return pool
}

func insertPlain(b *testing.B, address string) creator {
	pool := connections(b, address)
	run(b, address, "CREATE TABLE plain (id bigint PRIMARY KEY, name text NOT NULL, tag text)")
	return func(ctx context.Context, p herb.NewPlant) error {
		_, err := pool.Exec(ctx, "INSERT INTO plain VALUES ($1, $2, $3)", p.ID, p.Name, p.Tag)
		return err
	}
}
