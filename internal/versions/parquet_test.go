package versions_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/must"
	"herbarium/internal/store"
	"herbarium/internal/versions/versionstest"
)

// parquetFiles returns the names of the Parquet files in a folder.
func parquetFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.parquet*"))
	must.NoError(t, err)
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	return names
}

// TestPublish_parquet checks that a Parquet file that the descriptor requests is there before the
// version is live, that it does not survive a publish that fails, and that it is removed with the
// version.
func TestPublish_parquet(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	l := s.Open(t)
	p := versionstest.Publication(3)
	p.Parquet, p.Check = true, true
	_, err := l.Publish(t.Context(), p)
	if files := s.Files(t); err != nil || len(files) > 0 {
		t.Errorf("a dry run leaves %v, error %v", files, err)
	}
	p.Records, p.Check = versionstest.Numbers(3, nil), false
	refused := errors.New("refused")
	p.Authorize = func(context.Context) error {
		if len(parquetFiles(t, s.Dir)) != 1 {
			t.Error("the file is not there before the version is live")
		}
		return refused
	}
	if _, err := l.Publish(t.Context(), p); !errors.Is(err, refused) || len(s.Files(t)) > 0 {
		t.Errorf("a refused publish leaves %v, error %v", s.Files(t), err)
	}
	p.Records, p.Authorize = versionstest.Numbers(3, nil), nil
	_, err = l.Publish(t.Context(), p)
	must.NoError(t, err)
	d := versionstest.LiveVersion(t, l, ref)
	if files := parquetFiles(t, s.Dir); !slices.Equal(files, []string{library.ParquetName(d.Version, false)}) {
		t.Errorf("files %v", files)
	}

	others := store.ParquetFile(d.Version, "f1-r1-p0")
	path := filepath.Join(s.Dir, others)
	must.NoError(t, os.WriteFile(path, nil, 0o600))
	must.NoError(t, versionstest.Sweep(t.Context(), l))
	if files := parquetFiles(t, s.Dir); !slices.Contains(files, others) || len(files) != 2 {
		t.Errorf("the file of another release was removed: %v", files)
	}
	old := time.Now().Add(-31 * 24 * time.Hour)
	must.NoError(t, os.Chtimes(path, old, old))
	must.NoError(t, os.Chtimes(filepath.Join(s.Dir, library.ParquetName(d.Version, false)), old, old))
	must.NoError(t, versionstest.Sweep(t.Context(), l))
	if files := parquetFiles(t, s.Dir); !slices.Equal(files, []string{library.ParquetName(d.Version, false)}) {
		t.Errorf("after a month there are %v", files)
	}
	must.NoError(t, l.Remove(t.Context(), ref, ""))
	if files := s.Files(t); len(files) > 0 {
		t.Errorf("removing the dataset leaves %v", files)
	}
}

// fullFS is a file system without space for Parquet files.
type fullFS struct{ filesystem.OS }

func (f fullFS) OpenFile(name string, flag int, perm fs.FileMode) (filesystem.File, error) {
	if strings.Contains(filepath.Base(name), ".parquet") {
		return nil, errFull
	}
	return f.OS.OpenFile(name, flag, perm)
}

// TestPublish_parquetFails checks that a publish fails, with the reason, if its Parquet file cannot
// be built.
func TestPublish_parquetFails(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	l := versionstest.OpenLibrary(t, s.DB, versionstest.Options{Dir: s.Dir, FS: fullFS{}})
	before := versionstest.Publish(t, l, 1)
	p := versionstest.Publication(3)
	p.Parquet = true
	r, err := l.Publish(t.Context(), p)
	if !errors.Is(err, errFull) || !strings.Contains(err.Error(), "Parquet file") || r.Version != "" {
		t.Errorf("version %q, error %v", r.Version, err)
	}
	if live := versionstest.LiveVersion(t, l, ref); live.Version != before.Version {
		t.Errorf("version %s is live", live.Version)
	}
	if files := s.Files(t); !slices.Equal(files, []string{store.SegmentFile(before.Version)}) {
		t.Errorf("the publish leaves %v", files)
	}
}

// TestCollect_parquet checks that a Parquet file is stored for all nodes when its version is
// published, and deleted from there with the version, and after a publish that failed.
func TestCollect_parquet(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		n := c.Node(t, func(o *versionstest.Options) { o.Retention = time.Hour })
		p := versionstest.Publication(3)
		p.Parquet = true
		p.Authorize = func(context.Context) error { return herb.Errorf(herb.CodeForbidden, "the key was revoked") }
		if _, err := n.Publish(t.Context(), p); err == nil || len(parquetFiles(t, c.Bucket.Dir)) > 0 {
			t.Errorf("a failed publish leaves %v, error %v", parquetFiles(t, c.Bucket.Dir), err)
		}
		p.Records, p.Authorize = versionstest.Numbers(3, nil), nil
		_, err := n.Publish(t.Context(), p)
		must.NoError(t, err)
		d := versionstest.LiveVersion(t, n.Node, ref)
		if files := parquetFiles(t, c.Bucket.Dir); !slices.Equal(files,
			[]string{library.ParquetName(d.Version, false)}) {
			t.Errorf("the object store has %v", files)
		}
		must.NoError(t, n.Remove(t.Context(), ref, ""))
		versionstest.Pass(time.Hour)
		collect(t, n)
		if files := parquetFiles(t, c.Bucket.Dir); len(files) > 0 {
			t.Errorf("the version is deleted and its file is not: %v", files)
		}
	})
}

// TestOpenParquet checks that the file of a release with another index is not read, and that a file
// that was deleted is built again.
func TestOpenParquet(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	l := s.Open(t)
	d := versionstest.Publish(t, l, 3)
	must.NoError(t, os.WriteFile(filepath.Join(s.Dir, store.ParquetFile(d.Version, "f1-r1-p0")),
		[]byte("of another release"), 0o600))
	view := versionstest.Acquire(t, l)
	for range 2 {
		f, err := l.OpenParquet(t.Context(), view, false)
		must.NoError(t, err)
		magic := make([]byte, 4)
		if _, err := f.ReadAt(magic, 0); err != nil || string(magic) != "PAR1" {
			t.Errorf("the file begins with %q, error %v", magic, err)
		}
		must.NoError(t, f.Close())
		must.NoError(t, os.Remove(filepath.Join(s.Dir, library.ParquetName(d.Version, false))))
	}
}
