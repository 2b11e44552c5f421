package build

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"testing"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/must"
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
	if _, err := Create(t.Context(), filepath.Join(t.TempDir(), "x"), fields, all,
		Options{Memory: 1 << 20, FS: files}); err != nil {
		t.Fatal(err)
	}
	if files.created.Load() < columns {
		t.Errorf("%d files were written, want one for each of %d columns", files.created.Load(), columns)
	}
	if files.most.Load() > 100 {
		t.Errorf("%d files were open at a time, want at most 100", files.most.Load())
	}
}

// brokenFS fails operations of some kinds.
type brokenFS struct {
	filesystem.OS
	fails map[string]error // by kind of operation
	calls int              // operations of any kind
}

type brokenFile struct {
	filesystem.File
	fs *brokenFS
}

func (b *brokenFS) operate(kind string) error { b.calls++; return b.fails[kind] }

func (b *brokenFS) OpenFile(name string, flag int, perm fs.FileMode) (filesystem.File, error) {
	if err := b.operate("open"); err != nil {
		return nil, err
	}
	f, err := b.OS.OpenFile(name, flag, perm)
	return brokenFile{f, b}, err
}

func (f brokenFile) Write(p []byte) (int, error) {
	if err := f.fs.operate("write"); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f brokenFile) Read(p []byte) (int, error) {
	if err := f.fs.operate("read"); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f brokenFile) Close() error { return errors.Join(f.fs.operate("close"), f.File.Close()) }

// TestSpillFile_keepsFirstError checks the contract of spillFile: after its first error, writes do
// nothing, readers report the end, everything else returns the error, and the build is canceled.
func TestSpillFile_keepsFirstError(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"open", "write", "close", "read"} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			full := errors.New("disk full")
			files := &brokenFS{fails: map[string]error{}}
			tmp := newTempDir(t.Context(), files, t.TempDir(), 0, 1)
			s := tmp.newSpillFile()
			for i := range uint32(3 * tmp.buffer / 4) {
				s.writeU32(i)
			}
			must.NoError(t, s.err)
			must.NoError(t, tmp.err())
			if s.name == "" {
				t.Fatal("nothing is spilled")
			}
			files.fails[operation] = full
			r := s.reader() // writes the rest
			if r.more(4) || !errors.Is(s.err, full) || !errors.Is(tmp.err(), full) {
				t.Errorf("the file has the error %v, the build %v; want %v", s.err, tmp.err(), full)
			}
			other := errors.New("another error")
			files.fails = map[string]error{operation: other, "close": other}
			calls := files.calls
			for range 2 * tmp.buffer {
				s.writeU32(1)
				s.writeU64(1)
			}
			if n, err := s.Write(make([]byte, 2*tmp.buffer)); !errors.Is(err, full) {
				t.Errorf("Write: %d, %v", n, err)
			}
			if len(s.buf) > tmp.buffer {
				t.Errorf("the buffer has %d bytes; want at most %d", len(s.buf), tmp.buffer)
			}
			if r := s.reader(); r.more(1) || r.uvarint() != 0 {
				t.Error("a reader does not report the end")
			}
			if b, err := r.next(4); !errors.Is(err, full) || len(b) > 0 {
				t.Errorf("next: %d bytes, %v", len(b), err)
			}
			if b, err := r.nextSized(); !errors.Is(err, full) || len(b) > 0 {
				t.Errorf("nextSized: %d bytes, %v", len(b), err)
			}
			if err := s.eachU32(func(uint32) { t.Error("eachU32 yields a number") }); !errors.Is(err, full) {
				t.Errorf("eachU32: %v", err)
			}
			if n, err := s.WriteTo(io.Discard); n != 0 || !errors.Is(err, full) {
				t.Errorf("WriteTo: %d, %v", n, err)
			}
			if files.calls != calls {
				t.Errorf("%d operations after the error", files.calls-calls)
			}
			if err := s.remove(); !errors.Is(err, full) || errors.Is(err, other) {
				t.Errorf("remove: %v", err)
			}
			must.NoError(t, tmp.close())
		})
	}
}
