package build

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
)

// TestTables counts what a dictionary of many words holds on the heap: no more than the limit.
func TestTables(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("tables are mapped only on Linux")
	}
	const memory = 1 << 20
	tmp := newTempDir(t.Context(), filesystem.OS{}, t.TempDir(), memory, 1)
	v := newInvertedIndex(tmp, memory)
	const words = 100_000
	for i := range words {
		if id := v.id(fmt.Appendf(nil, "word %d", i)); id != uint32(i) {
			t.Fatalf("word %d has the number %d", i, id)
		}
		v.addPair(uint32(i), uint32(i), 0)
		v.spillIfFull(uint32(i + 1))
	}
	v.finish()
	for i := range words {
		if got, want := string(v.name(uint32(i))), fmt.Sprintf("word %d", i); got != want {
			t.Fatalf("word %d is %q", i, got)
		}
	}
	if len(v.order()) != words || tmp.tables.heap > memory/2 || len(tmp.tables.mapped) == 0 {
		t.Errorf("%d bytes on the heap and %d maps; at most %d bytes", tmp.tables.heap,
			len(tmp.tables.mapped), memory/2)
	}
	if err := tmp.close(); err != nil || tmp.err() == nil {
		t.Errorf("closing: %v", err)
	}
}

// TestCreate_smallMemory builds the same segment whether tables are on the heap or mapped.
func TestCreate_smallMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fields := []herb.Field{{Name: "text", Type: herb.TypeText, Searchable: true, Filterable: true, Sortable: true}}
	records := func(yield func(herb.Record, error) bool) {
		for i := range 5_000 {
			if !yield(herb.Record{fmt.Sprintf("a%d b%d c%d d", i, i/2, i*7919)}, nil) {
				return
			}
		}
	}
	var files [2]string
	for i, memory := range []int{64 << 20, 1 << 16} {
		path := filepath.Join(dir, fmt.Sprint(i))
		if _, err := Create(t.Context(), path, fields, records, Options{Memory: memory}); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = string(content)
	}
	if files[0] != files[1] {
		t.Error("the files differ")
	}
}

// TestReadBatches_longRecords counts the bytes of long records that are in flight at once.
func TestReadBatches_longRecords(t *testing.T) {
	t.Parallel()
	const inFlight = 4
	free := make(chan *batch, inFlight)
	for range inFlight {
		free <- newBatch(nil)
	}
	long := herb.Record{string(make([]byte, 16*batchBytes))}
	records := func(yield func(herb.Record, error) bool) {
		for range 10 {
			if !yield(long, nil) {
				return
			}
		}
	}
	sent := 0
	err := readBatches(t.Context(), records, free, func(x *batch) {
		sent++
		if len(free)+len(x.held) != inFlight-1 {
			t.Errorf("batch %d: %d are free and %d are held", sent, len(free), len(x.held))
		}
		for _, other := range x.held {
			free <- other
		}
		x.held = nil
		free <- x.reset(nil)
	})
	if err != nil || sent != 10 {
		t.Errorf("sent %d, error %v", sent, err)
	}
}
