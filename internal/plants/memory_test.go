package plants

import (
	"strconv"
	"testing"

	"herbarium/internal/herb"
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
	file := &part{reader: s.union.Segments[0]}
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
