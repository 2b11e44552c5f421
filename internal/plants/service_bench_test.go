package plants_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"herbarium/internal/plants"
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
