package build_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/segment/internal/build"
	"herbarium/internal/segment/internal/buildtest"
	"herbarium/internal/testseed"
)

// faultFS counts the operations of each kind, and injects a fault at one of them.
type faultFS struct {
	filesystem.OS
	kind  string       // of the operation that fails
	at    int          // its number, from 1; 0 means none
	fault func() error // called instead of the operation; see finish
	mu    sync.Mutex
	calls map[string]int
}

type faultFile struct {
	filesystem.File
	fs *faultFS
}

// do counts an operation, and performs it unless it is the one that fails.
func (f *faultFS) do(kind string, operation func() error) error {
	f.mu.Lock()
	f.calls[kind]++
	fails := kind == f.kind && f.calls[kind] == f.at
	f.mu.Unlock()
	if fails {
		return f.fault()
	}
	return operation()
}

// finish is do for operations that are performed even if they fail: a file is closed after an error
// of close, too, and Create cannot leave nothing behind if it cannot remove files.
func (f *faultFS) finish(kind string, operation func() error) error {
	if err := operation(); err != nil {
		return err // such as fs.ErrClosed, if it was performed before
	}
	return f.do(kind, func() error { return nil })
}

func (f *faultFS) Mkdir(name string, perm fs.FileMode) error {
	return f.do("mkdir", func() error { return f.OS.Mkdir(name, perm) })
}

func (f *faultFS) Rename(from, to string) error {
	return f.do("rename", func() error { return f.OS.Rename(from, to) })
}

func (f *faultFS) RemoveAll(name string) error {
	return f.finish("remove", func() error { return f.OS.RemoveAll(name) })
}

func (f *faultFS) OpenFile(name string, flag int, perm fs.FileMode) (opened filesystem.File, err error) {
	err = f.do("open", func() error {
		opened, err = f.OS.OpenFile(name, flag, perm)
		return err
	})
	if err != nil {
		return nil, err
	}
	return faultFile{opened, f}, nil
}

func (f faultFile) Write(p []byte) (n int, err error) {
	err = f.fs.do("write", func() error { n, err = f.File.Write(p); return err })
	return n, err
}

func (f faultFile) Read(p []byte) (n int, err error) {
	err = f.fs.do("read", func() error { n, err = f.File.Read(p); return err })
	return n, err
}

func (f faultFile) Seek(offset int64, whence int) (at int64, err error) {
	err = f.fs.do("seek", func() error { at, err = f.File.Seek(offset, whence); return err })
	return at, err
}

func (f faultFile) Sync() error { return f.fs.do("sync", f.File.Sync) }

func (f faultFile) Close() error { return f.fs.finish("close", f.File.Close) }

// spilledRecords returns records of a text and a list field: just enough for spill files of 4 bytes
// per record, whose buffers have 4 KiB.
func spilledRecords() ([]herb.Field, iter.Seq2[herb.Record, error]) {
	fields := []herb.Field{
		{Name: "name", Type: herb.TypeText, Searchable: true, Filterable: true, Sortable: true},
		{Name: "tags", Type: herb.TypeList, Searchable: true, Filterable: true, Sortable: true},
	}
	return fields, func(yield func(herb.Record, error) bool) {
		for i := range 1100 {
			name := fmt.Sprintf("rose %d", i*7919%550)
			if !yield(herb.Record{name, fmt.Sprintf("fern,%d", i%50)}, nil) {
				return
			}
		}
	}
}

// createWithFault builds a small segment with so little memory that everything is spilled, and
// returns the number of operations of each kind. After an error, no file may be left.
func createWithFault(ctx context.Context, t *testing.T, files *faultFS) (calls map[string]int, err error) {
	t.Helper()
	files.calls = map[string]int{}
	dir, err := os.MkdirTemp(t.TempDir(), "")
	must.NoError(t, err)
	opts := build.Options{Memory: 1 << 16, FS: files, Indexes: buildtest.AllIndexes()}
	fields, records := spilledRecords()
	n, err := build.Create(ctx, filepath.Join(dir, "x"), fields, records, opts)
	left, readErr := os.ReadDir(dir)
	must.NoError(t, readErr)
	if err != nil && (n != 0 || len(left) > 0) {
		t.Errorf("operation %d: %d records and the files %v after the error %v", files.at, n, left, err)
	}
	return files.calls, err
}

// TestCreate_anyOperationFails fails the file operations of a build in turn; of frequent kinds,
// each one only in a soak run. Create must return the error, whichever goroutine, spill file or
// section it occurs in.
func TestCreate_anyOperationFails(t *testing.T) {
	t.Parallel()
	calls, err := createWithFault(t.Context(), t, &faultFS{})
	must.NoError(t, err)
	for _, kind := range []string{"mkdir", "open", "write", "read", "seek", "sync", "close", "rename", "remove"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			if calls[kind] == 0 {
				t.Fatal("a build has no such operation")
			}
			step := 1
			if calls[kind] > 50 && !testseed.Soak() {
				step = 11
			}
			for at := 1; at <= calls[kind]; at += step {
				full := errors.New("disk full")
				files := &faultFS{kind: kind, at: at, fault: func() error { return full }}
				if _, err := createWithFault(t.Context(), t, files); !errors.Is(err, full) {
					t.Errorf("operation %d of %d fails: the error is %v", at, calls[kind], err)
				}
			}
		})
	}
}

// TestCreate_unnoticedError cancels a build after its last section is written. An error of a spill
// file that no stage checks has the same effect: Create must not publish the file.
func TestCreate_unnoticedError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	reason := errors.New("enough")
	files := &faultFS{kind: "sync", at: 1, fault: func() error { cancel(reason); return nil }}
	if _, err := createWithFault(ctx, t, files); !errors.Is(err, reason) {
		t.Errorf("the error is %v; want the reason", err)
	}
	if n := files.calls["rename"]; n > 0 {
		t.Error("the file was renamed")
	}
}

// TestCreate_operationPanics has operations panic, in any goroutine. The process must not end, and
// Create must clean up as after an error.
func TestCreate_operationPanics(t *testing.T) {
	t.Parallel()
	calls, err := createWithFault(t.Context(), t, &faultFS{})
	must.NoError(t, err)
	for at := 1; at <= calls["open"]; at += 7 {
		files := &faultFS{kind: "open", at: at, fault: func() error { panic("bug") }}
		_, err := createWithFault(t.Context(), t, files)
		if bug, ok := errors.AsType[*herb.PanicError](err); !ok || bug.Value != "bug" {
			t.Errorf("operation %d of %d panics: the error is %v", at, calls["open"], err)
		}
	}
}
