package storetest

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/listtest"
	"herbarium/internal/plants"
	"herbarium/internal/store"
)

// RunListings runs the conformance suite of listings on a number of random datasets. Plants are created in several batches and
// indexed between them.
func RunListings(t *testing.T, datasets int, open func(testing.TB) Store) {
	listtest.Run(t, listtest.Engine{
		Plants:   true,
		Datasets: datasets, // each is a database of its own, synced to disk
		Open: func(t testing.TB, _ []herb.Field, records []herb.Record) listtest.Lister {
			s, random := open(t), rand.New(rand.NewPCG(1, uint64(len(records))))
			x := plants.NewIndex(s, plants.IndexOptions{Dir: t.TempDir(), SealAt: 1 + random.IntN(len(records)+1)})
			t.Cleanup(func() {
				if err := x.Close(); err != nil {
					t.Error(err)
				}
			})
			for len(records) > 0 {
				n := 1 + random.IntN(len(records))
				createRecords(t, s, records[:n])
				records = records[n:]
				if err := with(x, t.Context(), func(*plants.Snapshot) error { return nil }); err != nil {
					t.Fatal(err)
				}
			}
			snapshot, err := x.Acquire(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(snapshot.Release)
			return snapshot
		},
	})
}

// createRecords creates the plants of records.
func createRecords(t testing.TB, s Store, records []herb.Record) {
	t.Helper()
	creations := make([]store.Creation, len(records))
	for i, r := range records {
		creations[i] = store.Creation{Plant: plantOf(t, r)}
	}
	outcomes, err := s.CreatePlants(context.Background(), creations)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
	}
}

// plantOf reads a plant from its record. An empty tag may have been given or not.
func plantOf(t testing.TB, r herb.Record) herb.NewPlant {
	t.Helper()
	id, err := strconv.ParseInt(r[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	p := herb.NewPlant{ID: id, Plant: herb.Plant{Name: r[1]}}
	if r[2] != "" || id%2 == 0 {
		p.Tag = &r[2]
	}
	return p
}
