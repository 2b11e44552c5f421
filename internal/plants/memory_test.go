package plants

import (
	"context"
	"strconv"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// TestIndex_levels adds plants one by one. The segments in memory must stay few, and each plant
// must be written to few of them on average, so that the cost of a listing after a creation is
// bounded.
func TestIndex_levels(t *testing.T) {
	t.Parallel()
	const n = 1200
	x := NewIndex(nil, IndexOptions{})
	x.mu.Lock()
	defer x.mu.Unlock()
	written := 0
	for i := range n {
		if err := x.append([]herb.Record{{strconv.Itoa(i), "Plant " + strconv.Itoa(i), ""}}); err != nil {
			t.Fatal(err)
		}
		x.end.plants++
		written += x.parts[len(x.parts)-1].reader.Len()
		if most := 1 + level(x.end.plants); len(x.parts) > most || x.inMemory() != i+1 {
			t.Fatalf("%d plants: %d in %d segments; want at most %d segments", i+1, x.inMemory(), len(x.parts), most)
		}
	}
	if written > n*firstLevel {
		t.Errorf("%d plants were written %d times", n, written)
	}
}

// TestIndex_frozen adds plants while earlier ones are being written to a file: these stay in their
// own segments, which the file replaces.
func TestIndex_frozen(t *testing.T) {
	t.Parallel()
	x := NewIndex(nil, IndexOptions{})
	add := func(n int) {
		x.mu.Lock()
		defer x.mu.Unlock()
		for range n {
			if err := x.append([]herb.Record{{strconv.Itoa(x.end.plants), "Plant", ""}}); err != nil {
				t.Fatal(err)
			}
			x.end.plants++
		}
	}
	add(10)
	s, end, err := x.freeze(10)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	add(10)
	if n := x.parts[0].reader.Len(); n != 10 || end.plants != 10 {
		t.Errorf("a segment of %d plants, frozen up to %d; want 10", n, end.plants)
	}
	file := &part{reader: s.parts[0]}
	file.reader.Acquire()
	if err := x.replace(0, file, end); err != nil {
		t.Fatal(err)
	}
	x.thaw()
	if len(x.parts) != 2 || x.parts[0] != file || x.inMemory() != 20 || x.end.plants != 20 {
		t.Errorf("%d segments, %d plants of %d", len(x.parts), x.inMemory(), x.end.plants)
	}
	add(1)
	if len(x.parts) != 1 || x.inMemory() != 21 {
		t.Errorf("%d segments of %d plants after thawing; want 1 of 21", len(x.parts), x.inMemory())
	}
}

// TestIndex_reset resets the index between a read of the log and its evaluation, as a failover or a
// damaged segment does: no snapshot has fewer plants than the log, and there is none after Close.
func TestIndex_reset(t *testing.T) {
	t.Parallel()
	x := NewIndex(nil, IndexOptions{Dir: t.TempDir()})
	add := func(page store.PlantPage, at logEnd, want int) {
		t.Helper()
		s, _, err := x.add(page, at)
		got := -1
		if s != nil {
			got = s.Dataset.Records
			s.Release()
		}
		if err != nil || got != want {
			t.Errorf("snapshot of %d plants, %v; want %d", got, err, want)
		}
	}
	const none = -1
	all := store.PlantPage{Epoch: "e1", Total: 2, Plants: make([]herb.NewPlant, 2), FirstBatch: 1, LastBatch: 1}
	last := store.PlantPage{Epoch: "e1", Total: 2, Plants: all.Plants[1:], FirstBatch: 1, LastBatch: 1}
	add(store.PlantPage{Epoch: "e1", Total: 2}, x.logEnd(), none) // opens the segments
	before := x.logEnd()
	add(all, before, 2)
	at := x.logEnd()
	for _, reset := range []func() error{
		func() error { return x.open("e2") },
		func() error { return x.open("e1") },
		x.reset,
	} {
		x.mu.Lock()
		if err := reset(); err != nil {
			t.Error(err)
		}
		x.mu.Unlock()
		add(last, at, none)
		add(all, before, none)
	}
	add(all, x.logEnd(), 2)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if s, _, err := x.add(last, x.logEnd()); herb.CodeOf(err) != herb.CodeUnavailable {
		t.Errorf("after Close: %v, %v", s, err)
	}
}

// unchangedLog is a log of so many plants, all of which an index has.
type unchangedLog int

func (l unchangedLog) ReadPlants(context.Context, int, int) (store.PlantPage, error) {
	return store.PlantPage{Total: int(l), Plants: make([]herb.NewPlant, 1)}, nil
}

// TestSnapshot_Facets_growing counts plants while no build with all of them ends: nearly all of
// them are counted, and a store with few plants in its first segment fails.
func TestSnapshot_Facets_growing(t *testing.T) {
	t.Parallel()
	const sealAt = 20
	for _, tt := range []struct {
		name        string
		first, more int // plants in the first segment, and after it
		fails       bool
	}{
		{"nearly all are in the first segment", 400, sealAt + 5, false},
		{"few are in the first segment", 100, 2 * sealAt, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := NewIndex(unchangedLog(tt.first+tt.more), IndexOptions{SealAt: sealAt})
			add := func(n int, path string) {
				records := make([]herb.Record, n)
				for i := range records {
					records[i] = herb.Record{strconv.Itoa(x.end.plants + i), "Plant", ""}
				}
				reader, err := segment.InMemory(t.Context(), herb.PlantFields(), records)
				must.NoError(t, err)
				x.parts, x.end.plants = append(x.parts, &part{reader, path}), x.end.plants+n
			}
			add(tt.first, "file")
			add(tt.more, "")
			x.mergeAfter = time.Now().Add(time.Hour)
			s, err := x.snapshot()
			must.NoError(t, err)
			defer s.Release()
			ctx, cancel := context.WithTimeout(t.Context(), 2*mergeWait)
			defer cancel()
			whole, err := s.merge(ctx)
			if (err != nil) != tt.fails || err == nil && whole.Len() != tt.first {
				t.Errorf("got %v, %v", whole, err)
			}
		})
	}
}
