package versions_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
	"herbarium/internal/versions/versionstest"
)

// filesOfVersion returns the names of the files of a version in a folder.
func filesOfVersion(t *testing.T, dir, version string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, version+"*"))
	must.NoError(t, err)
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	return names
}

// wantWithdrawn checks that a node reads a version neither by its name nor by its former label.
func wantWithdrawn(t *testing.T, n *versionstest.ClusterNode, version, label string) {
	t.Helper()
	for name, want := range map[string]string{version: "was withdrawn on", label: "no version or label"} {
		v, err := n.AcquireVersion(t.Context(), ref, name)
		if err == nil {
			v.Release()
		}
		if herb.CodeOf(err) != herb.CodeGone || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, file := range filesOfVersion(t, n.Opts.Dir, version) {
		t.Errorf("%s is left", file)
	}
}

// TestWithdraw_cluster withdraws a version that another node has opened, and its Parquet file.
func TestWithdraw_cluster(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		a := c.Node(t, nil)
		_, err := a.Publish(t.Context(), versionstest.WithSource(3))
		must.NoError(t, err)
		first := versionstest.LiveVersion(t, a.Node, ref).Version
		versionstest.Publish(t, a.Node, 5)
		_, err = a.Label(t.Context(), ref, first, "2026-Q1")
		must.NoError(t, err)
		b := c.Node(t, nil).Start(t)
		versionstest.Pass(3 * time.Second)
		for _, n := range []*versionstest.ClusterNode{a, b} {
			v, err := n.AcquireVersion(t.Context(), ref, "2026-Q1")
			must.NoError(t, err)
			defer v.Release()
			if total := versionstest.Total(t, v); v.Version != first || total != 3 {
				t.Errorf("the label names %s with %d records", v.Version, total)
			}
			for _, exact := range []bool{false, true} {
				f, err := n.OpenParquet(t.Context(), v, exact)
				must.NoError(t, err)
				must.NoError(t, f.Close())
			}
			if files := filesOfVersion(t, n.Opts.Dir, first); len(files) < 3 {
				t.Errorf("a node has only %v", files)
			}
		}
		must.NoError(t, a.Withdraw(t.Context(), ref, first))
		must.NoError(t, a.Refresh(t.Context()))
		wantWithdrawn(t, a, first, "2026-Q1")
		for blob, err := range c.Bucket.List(t.Context(), "") {
			must.NoError(t, err)
			if strings.HasPrefix(blob.Name, first) {
				t.Errorf("%s is left in the object store", blob.Name)
			}
		}
		versionstest.Pass(3 * time.Second)
		wantWithdrawn(t, b, first, "2026-Q1")
		versionstest.WantListed(t, b.Node, ref, 5)

		b.Stop()
		b.Open(t) // on its folder
		wantWithdrawn(t, b, first, "2026-Q1")
		if err := a.Withdraw(t.Context(), ref, first); err != nil {
			t.Errorf("again: %v", err)
		}
	})
}

// TestWithdraw_failures withdraws a version while its files cannot be deleted: nobody reads it, and
// garbage collection deletes them.
func TestWithdraw_failures(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		a := c.Node(t, nil)
		first := versionstest.Publish(t, a.Node, 3).Version
		versionstest.Publish(t, a.Node, 5)
		c.Bucket.Set(versionstest.Only("delete", versionstest.Away), nil)
		must.NoError(t, a.Withdraw(t.Context(), ref, first))
		must.NoError(t, a.Refresh(t.Context()))
		wantWithdrawn(t, a, first, "none")
		if !strings.Contains(strings.Join(c.Bucket.Versions(t), " "), first) ||
			a.Log.Count("cannot delete the files of a withdrawn version") != 1 {
			t.Errorf("the object store has %v, the log is %s", c.Bucket.Versions(t), a.Log)
		}
		c.Bucket.Set(nil, nil)
		// A download that was running has left a file.
		must.NoError(t, os.WriteFile(filepath.Join(a.Opts.Dir, first+".segment"), nil, 0o600))
		a.Start(t)
		versionstest.Pass(6 * time.Minute)
		wantWithdrawn(t, a, first, "none")
		if all := c.Bucket.Versions(t); strings.Contains(strings.Join(all, " "), first) {
			t.Errorf("the object store has %v", all)
		}
	})
}

// unlistedFS is a file system whose folders cannot be listed while failing is set.
type unlistedFS struct {
	filesystem.OS
	failing *atomic.Bool
}

func (f unlistedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if f.failing.Load() {
		return nil, errFull
	}
	return f.OS.ReadDir(name)
}

// TestWithdraw_fetched withdraws a version while another node fetches it, and cannot remove the
// files of the fetch at that moment: the version never becomes live there, and its files go when
// the fetch ends.
func TestWithdraw_fetched(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		a := c.Node(t, nil)
		versionstest.Publish(t, a.Node, 1)
		failing := &atomic.Bool{}
		b := c.Node(t, func(o *versionstest.Options) { o.FS = unlistedFS{failing: failing} }).Start(t)
		versionstest.Pass(3 * time.Second)
		versionstest.WantListed(t, b.Node, ref, 1)

		second := versionstest.Publish(t, a.Node, 2).Version
		secondGate, openSecond := versionstest.Gate()
		thirdGate, openThird := versionstest.Gate()
		c.Bucket.Set(versionstest.Only("get", func(x versionstest.Call) error {
			if strings.HasPrefix(x.Name, second) {
				return secondGate(x)
			}
			return thirdGate(x)
		}), nil)
		versionstest.Pass(3 * time.Second)
		versionstest.Publish(t, a.Node, 3)
		object := filepath.Join(c.Bucket.Dir, store.SegmentFile(second))
		content, err := os.ReadFile(object)
		must.NoError(t, err)
		failing.Store(true)
		must.NoError(t, a.Withdraw(t.Context(), ref, second))
		versionstest.Pass(3 * time.Second)
		failing.Store(false)
		must.NoError(t, os.WriteFile(object, content, 0o600)) // the transfer has begun before
		openSecond()
		versionstest.Pass(3 * time.Second)
		versionstest.WantListed(t, b.Node, ref, 1)
		if files := filesOfVersion(t, b.Opts.Dir, second); len(files) > 0 {
			t.Errorf("%v are left", files)
		}
		openThird()
		versionstest.Pass(3 * time.Second)
		versionstest.WantListed(t, b.Node, ref, 3)
	})
}

// gatedFS is a file system that blocks the creation of Parquet files.
type gatedFS struct {
	filesystem.OS
	blocked chan<- struct{}
	through <-chan struct{}
}

func (f gatedFS) OpenFile(name string, flag int, perm fs.FileMode) (filesystem.File, error) {
	file, err := f.OS.OpenFile(name, flag, perm)
	if strings.Contains(filepath.Base(name), ".parquet") {
		f.blocked <- struct{}{}
		<-f.through
	}
	return file, err
}

// TestWithdraw_parquet withdraws a version while its Parquet file is being built: the request for
// the file gets the reason, nothing of the file is left when the version is withdrawn, and nothing
// when the build has ended. Later requests that still read the version do not build it again. It
// makes no difference which process on the folder withdraws the version.
func TestWithdraw_parquet(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]bool{"same process": false, "other process": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testWithdrawParquet(t, other)
		})
	}
}

func testWithdrawParquet(t *testing.T, other bool) {
	s := versionstest.NewSharedDir(t)
	blocked, through := make(chan struct{}), make(chan struct{})
	l := versionstest.OpenLibrary(t, s.DB,
		versionstest.Options{Dir: s.Dir, FS: gatedFS{blocked: blocked, through: through}})
	first := versionstest.Publish(t, l, 3).Version
	versionstest.Publish(t, l, 5)
	v, err := l.AcquireVersion(t.Context(), ref, first)
	must.NoError(t, err)
	defer v.Release()
	ended := make(chan error, 1)
	go func() {
		_, err := l.OpenParquet(t.Context(), v, false)
		ended <- err
	}()
	<-blocked
	withdrawing := l
	if other {
		withdrawing = s.Open(t)
	}
	must.NoError(t, withdrawing.Withdraw(t.Context(), ref, first))
	if files := filesOfVersion(t, s.Dir, first); len(files) > 0 {
		t.Errorf("after the withdrawal: %v", files)
	}
	go func() {
		for range blocked { // the other files of the build
		}
	}()
	close(through)
	if err := <-ended; herb.CodeOf(err) != herb.CodeGone {
		t.Errorf("the request got %v", err)
	}
	if _, err := l.OpenParquet(t.Context(), v, false); herb.CodeOf(err) != herb.CodeGone {
		t.Errorf("a later request got %v", err)
	}
	if files := filesOfVersion(t, s.Dir, first); len(files) > 0 {
		t.Errorf("after the build: %v", files)
	}
}
