package plants_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/plants"
	"herbarium/internal/query"
	"herbarium/internal/segment/segmenttest"
)

// TestIndex_listings runs the conformance suite of listings. Plants are created in several batches
// and indexed between them.
func TestIndex_listings(t *testing.T) {
	t.Parallel()
	segmenttest.Run(t, segmenttest.Engine{
		Plants: true,
		Open: func(t testing.TB, _ []herb.Field, records []herb.Record) query.Engine {
			log, random := newMemoryLog(0), rand.New(rand.NewPCG(1, uint64(len(records))))
			x := openIndex(t, log, plants.IndexOptions{Dir: t.TempDir(), SealAt: 1 + random.IntN(len(records)+1)})
			for len(records) > 0 {
				n := 1 + random.IntN(len(records))
				log.mu.Lock() // segments are built in the background
				for _, r := range records[:n] {
					log.plants = append(log.plants, plantOf(t, r))
				}
				log.numberBatch()
				log.mu.Unlock()
				records = records[n:]
				if err := with(x, t.Context(), func(*plants.Snapshot) error { return nil }); err != nil {
					t.Fatal(err)
				}
			}
			s, err := x.Acquire(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Release)
			return s
		},
	})
}

// plantOf reads a plant from its record. An empty tag may have been given or not.
func plantOf(t testing.TB, r herb.Record) herb.NewPlant {
	t.Helper()
	id, err := strconv.ParseInt(r[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if r[2] != "" || id%2 == 0 {
		return plant(id, r[1], r[2])
	}
	return plant(id, r[1])
}

// with calls do with a snapshot of the current plants.
func with(x *plants.Index, ctx context.Context, do func(*plants.Snapshot) error) error {
	s, err := x.Acquire(ctx)
	if err != nil {
		return err
	}
	defer s.Release()
	return do(s)
}
