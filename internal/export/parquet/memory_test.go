package parquet_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"herbarium/internal/export/parquet"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/typed"
)

// TestWriter_memory checks that the memory of a writer does not grow with the number of records. It
// is not parallel: it measures the heap of the process.
func TestWriter_memory(t *testing.T) {
	scratch, err := os.Create(filepath.Join(t.TempDir(), "scratch"))
	must.NoError(t, err)
	defer scratch.Close()
	fields := []herb.Field{{Name: "n", Type: herb.TypeNumber}, {Name: "text", Type: herb.TypeText}}
	var facts typed.Facts
	facts.Add(&fields[0], []byte("1000000"))
	w, err := parquet.NewWriter(io.Discard, parquet.Options{
		Fields: fields, Types: []typed.Column{typed.Of(&fields[0], facts), {}}, Exact: true, Sorted: -1,
		Scratch: scratch,
	})
	must.NoError(t, err)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var first, most uint64
	long := make([]byte, 0, 1<<10)
	for n := range 5 * parquet.RowGroupRows {
		long = fmt.Appendf(long[:0], "%d %x", n, n*2_654_435_761)
		must.NoError(t, w.Add(0, fmt.Append(nil, n)))
		must.NoError(t, w.Add(1, long))
		must.NoError(t, w.EndRecord())
		switch {
		case n == 2*parquet.RowGroupRows-2: // almost a whole row group is held
			first = heap()
		case n%parquet.RowGroupRows == parquet.RowGroupRows-2:
			most = max(most, heap())
		}
	}
	must.NoError(t, w.Close())
	most = max(most, heap())
	if first == 0 || most > first+1<<20 {
		t.Errorf("the writer holds %d KiB of many row groups and %d KiB of two", most>>10, first>>10)
	}
	runtime.KeepAlive(w)
}
