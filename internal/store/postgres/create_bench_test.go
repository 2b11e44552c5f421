package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/plants"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
	"herbarium/internal/storetest/pgtest"
)

// BenchmarkCreate measures creation with group commit on a server that syncs, by one node and by two.
func BenchmarkCreate(b *testing.B) {
	server := &pgtest.Cluster{Durable: true}
	stopAfter(b, server)
	for _, nodes := range []int{1, 2} {
		for _, callers := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("nodes=%d/callers=%d", nodes, callers), func(b *testing.B) {
				benchmarkCreate(b, server.Database(b), nodes, callers)
			})
		}
	}
}

func benchmarkCreate(b *testing.B, address string, nodes, callers int) {
	ctx, cancel := context.WithCancel(context.Background())
	var background, foreground sync.WaitGroup
	services := make([]*plants.Service, nodes)
	for i := range services {
		services[i] = plants.New(open(b, address, postgres.Options{}), plants.Options{})
		background.Go(func() { _ = services[i].Run(ctx) })
	}
	var last atomic.Int64
	b.ResetTimer()
	for caller := range callers {
		foreground.Go(func() {
			s := services[caller%nodes]
			for id := last.Add(1); id <= int64(b.N); id = last.Add(1) {
				p := herb.NewPlant{ID: id}
				p.Name, p.Tag = fmt.Sprintf("Genus%d species%d", id%50, id), new(fmt.Sprintf("tag%d", id%10))
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
}
