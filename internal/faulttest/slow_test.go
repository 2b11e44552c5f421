package faulttest

import (
	"io/fs"
	"path/filepath"
	"sync"
	"testing"

	"herbarium/internal/filesystem"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// stuckFS is a file system whose disk does not finish a write: Sync waits until it is released.
type stuckFS struct {
	filesystem.OS
	reached chan struct{} // closed when a file is synced
	release chan struct{} // closed to go on
	once    sync.Once
}

func (s *stuckFS) OpenFile(name string, flag int, perm fs.FileMode) (filesystem.File, error) {
	f, err := s.OS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return stuckFile{f, s}, nil
}

type stuckFile struct {
	filesystem.File
	fs *stuckFS
}

func (f stuckFile) Sync() error {
	f.fs.once.Do(func() { close(f.fs.reached) })
	<-f.fs.release
	return f.File.Sync()
}

// TestSlowDisk_publish lists while a publish waits for the disk, which then goes on.
func TestSlowDisk_publish(t *testing.T) {
	t.Parallel()
	c := newClock()
	db, folder := openStore(t, c)
	publishCount(t, openLibrary(t, db, library.Options{Dir: folder}), 3)
	stuck := &stuckFS{reached: make(chan struct{}), release: make(chan struct{})}
	l := openLibrary(t, db, library.Options{Dir: folder, FS: stuck})
	done := make(chan error, 1)
	go func() {
		_, err := l.Publish(t.Context(), publication(5))
		done <- err
	}()
	<-stuck.reached
	for range 10 {
		if got := countRecords(t, l); got != 3 {
			t.Errorf("%d records while a publish waits; want those of the live version, 3", got)
		}
	}
	close(stuck.release)
	must(t, <-done)
	if got := countRecords(t, l); got != 5 {
		t.Errorf("%d records after the publish; want 5", got)
	}
	if parts, err := filepath.Glob(filepath.Join(folder, "*.part*")); err != nil || len(parts) > 0 {
		t.Errorf("it left %v, %v", parts, err)
	}
}

// countRecords lists the dataset and returns its number of records.
func countRecords(t *testing.T, l *library.Library) int {
	t.Helper()
	must(t, l.Refresh(t.Context()))
	snap, err := l.Acquire(t.Context(), ref)
	must(t, err)
	defer snap.Release()
	q, err := query.Parse("", snap.Fields)
	must(t, err)
	page, err := snap.List(t.Context(), q)
	must(t, err)
	return page.Total
}
