package build

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"herbarium/internal/filesystem"
)

// TestDictionary numbers names of all lengths, more than the first table has room for, and compares
// with a map.
func TestDictionary(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 10))
	v := newInvertedIndex(newTempDir(t.Context(), filesystem.OS{}, t.TempDir(), 1<<20, 1), 1<<20)
	want := map[string]uint32{}
	var names []string
	for i := range 20_000 {
		name := fmt.Sprintf("%d", r.IntN(8000))
		switch i {
		case 50, 5000:
			name = string(bytes.Repeat([]byte("long"), blockSize)) + name
		case 100:
			name = "a"
		case 101:
			name = "a\x00"
		case 102:
			name = ""
		}
		id, known := want[name]
		if !known {
			if got, _, _ := v.locate([]byte(name)); got != unknown {
				t.Fatalf("new name %.20q has the number %d", name, got)
			}
			id = uint32(len(names))
			want[name], names = id, append(names, name)
		}
		if got := v.id([]byte(name)); got != id {
			t.Fatalf("name %.20q has the number %d; want %d", name, got, id)
		}
	}
	for name, id := range want {
		if got, _, _ := v.locate([]byte(name)); got != id {
			t.Errorf("name %.20q is found as %d; want %d", name, got, id)
		}
	}
	v.finish()
	for id, name := range names {
		if got := string(v.name(uint32(id))); got != name {
			t.Errorf("name %d is %.20q; want %.20q", id, got, name)
		}
	}
	slices.Sort(names)
	if !slices.Equal(sortedNames(v), names) {
		t.Error("the names are not sorted")
	}
}

// TestDictionary_blocks checks that a dictionary of 20 MB has no more blocks than that needs.
func TestDictionary_blocks(t *testing.T) {
	t.Parallel()
	d := newDictionary(&tables{limit: 1 << 40})
	const names, size = 20_000, 1 << 10
	name := make([]byte, size)
	for i := range uint32(names) {
		binary.LittleEndian.PutUint32(name, i)
		if id := d.id(name); id != i {
			t.Fatalf("name %d has the number %d", i, id)
		}
	}
	if most := names*(size+16)/blockSize + 8; len(d.blocks) > most {
		t.Errorf("%d blocks, want at most %d", len(d.blocks), most)
	}
}
