package build

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"testing"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
)

// countingFS counts open files.
type countingFS struct {
	filesystem.OS
	open, most, created atomic.Int64
}

type countedFile struct {
	filesystem.File
	open *atomic.Int64
}

func (c *countingFS) OpenFile(name string, flag int, perm fs.FileMode) (filesystem.File, error) {
	f, err := c.OS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if perm != 0 {
		c.created.Add(1)
	}
	n := c.open.Add(1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	return countedFile{f, &c.open}, nil
}

func (f countedFile) Close() error {
	f.open.Add(-1)
	return f.File.Close()
}

// TestCreate_openFiles builds a segment whose fields are all spilled. It must open only a few files
// at a time.
func TestCreate_openFiles(t *testing.T) {
	t.Parallel()
	const columns, records = 300, 600
	fields := make([]herb.Field, columns)
	for i := range fields {
		fields[i] = herb.Field{Name: fmt.Sprintf("f%d", i), Type: herb.TypeText, Filterable: true, Sortable: true}
	}
	all := func(yield func(herb.Record, error) bool) {
		for i := range records {
			record := make(herb.Record, columns)
			for j := range record {
				record[j] = fmt.Sprintf("value %d of %d", i, j)
			}
			if !yield(record, nil) {
				return
			}
		}
	}
	files := &countingFS{}
	if _, err := Create(t.Context(), filepath.Join(t.TempDir(), "x"), fields, all, Options{Memory: 1 << 20, FS: files}); err != nil {
		t.Fatal(err)
	}
	if files.created.Load() < columns {
		t.Errorf("%d files were written, want one for each of %d columns", files.created.Load(), columns)
	}
	if files.most.Load() > 100 {
		t.Errorf("%d files were open at a time, want at most 100", files.most.Load())
	}
}
