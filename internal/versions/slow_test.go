package versions_test

import (
	"io/fs"
	"path/filepath"
	"sync"
	"testing"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
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

// TestPublish_slowDisk lists while a publish waits for the disk, which then goes on.
func TestPublish_slowDisk(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	versionstest.Publish(t, s.Open(t), 3)
	stuck := &stuckFS{reached: make(chan struct{}), release: make(chan struct{})}
	l := versionstest.OpenLibrary(t, s.DB, versionstest.Options{Dir: s.Dir, FS: stuck})
	done := make(chan error, 1)
	go func() {
		_, err := l.Publish(t.Context(), versions.Publication{
			Dataset: herb.Dataset{Ref: ref, Access: herb.AccessOpen, Fields: fields},
			Records: versionstest.Numbers(5, nil), PublishOptions: versions.PublishOptions{
				Consents: []herb.Consent{herb.ConsentBreaking}},
		})
		done <- err
	}()
	<-stuck.reached
	for range 10 {
		must.NoError(t, l.Refresh(t.Context()))
		versionstest.WantListed(t, l, ref, 3)
	}
	close(stuck.release)
	must.NoError(t, <-done)
	must.NoError(t, l.Refresh(t.Context()))
	versionstest.WantListed(t, l, ref, 5)
	if parts, err := filepath.Glob(filepath.Join(s.Dir, "*.part*")); err != nil || len(parts) > 0 {
		t.Errorf("it left %v, %v", parts, err)
	}
}
