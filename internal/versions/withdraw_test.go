package versions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
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
		for blob, err := range c.Bucket.List(t.Context()) {
			if must.NoError(t, err); strings.HasPrefix(blob.Name, first) {
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
		if !strings.Contains(strings.Join(c.Bucket.Versions(t), " "), first) || a.Log.Count("cannot delete the files of a withdrawn version") != 1 {
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
