package versions_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

func readSource(ctx context.Context, l *versionstest.Node, version string) (string, herb.Dataset, error) {
	r, d, err := l.OpenSource(ctx, ref, version)
	if err != nil {
		return "", d, err
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	return string(content), d, err
}

// leftSources returns the files of sources in a folder, without the unfinished uploads of a bucket,
// which it does not list.
func leftSources(t *testing.T, dir string) (left []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.NoError(t, err)
	for _, e := range entries {
		if strings.Contains(e.Name(), store.SourceSuffix) && !strings.HasPrefix(e.Name(), "part of ") {
			left = append(left, e.Name())
		}
	}
	return left
}

// TestKeptSource follows the source of a version until the version is removed, in a folder and in
// an object store, where every node can read it.
func TestKeptSource(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, publisher, reader *versionstest.Node) herb.Dataset {
		t.Helper()
		checked := versionstest.WithSource(1)
		checked.Check = true
		_, err := publisher.Publish(t.Context(), checked)
		must.NoError(t, err)
		_, err = publisher.Publish(t.Context(), versionstest.WithSource(1))
		must.NoError(t, err)
		first := versionstest.LiveVersion(t, publisher, ref)
		content, d, err := readSource(t.Context(), reader, "")
		if err != nil || content != versionstest.SourceContent || d.Settings.Kept.Name != "plants.csv" ||
			d.Settings.Kept.Size != int64(len(versionstest.SourceContent)) {
			t.Errorf("the source is %q, %+v, %v", content, d.Settings, err)
		}
		versionstest.PublishAs(t, publisher, ref, 2)
		if _, _, err := readSource(t.Context(), reader, ""); herb.CodeOf(err) != herb.CodeNotFound {
			t.Errorf("a version without a source gives %v", err)
		}
		if content, _, err := readSource(t.Context(), reader, first.Version); content != versionstest.SourceContent {
			t.Errorf("the source of the earlier version is %q, %v", content, err)
		}
		return first
	}
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		l, err := versionstest.Open(versionstest.OpenDB(t, t.TempDir()), versionstest.Options{Dir: dir})
		must.NoError(t, err)
		t.Cleanup(func() { l.Close() })
		check(t, l, l)
		must.NoError(t, l.Sweep(t.Context()))
		if left := leftSources(t, dir); len(left) != 1 {
			t.Errorf("files %v", left)
		}
		must.NoError(t, os.WriteFile(dir+"/20260101T000000Z-abcdefghij.source", nil, 0o600)) // of a killed publish
		must.NoError(t, l.Remove(t.Context(), ref, ""))
		must.NoError(t, l.Sweep(t.Context()))
		if left := leftSources(t, dir); len(left) != 0 {
			t.Errorf("files %v are left", left)
		}
	})
	t.Run("object store", func(t *testing.T) {
		t.Parallel()
		versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
			a, b := c.Node(t, nil), c.Node(t, nil)
			check(t, a.Node, b.Node)
			if left := leftSources(t, a.Opts.Dir); len(left) != 0 {
				t.Errorf("the node has %v", left)
			}
			must.NoError(t, a.Remove(t.Context(), ref, ""))
			versionstest.Pass(versions.DefaultRetention + 1)
			must.NoError(t, a.Collect(t.Context()))
			if left := leftSources(t, c.Bucket.Dir); len(left) != 0 {
				t.Errorf("objects %v are left", left)
			}
		})
	})
	t.Run("failing object store", func(t *testing.T) {
		t.Parallel()
		versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
			a := c.Node(t, nil)
			for _, suffix := range []string{store.SourceSuffix, store.SegmentSuffix} {
				c.Bucket.Fault = func(call versionstest.Call) error {
					if call.Op == "put" && strings.HasSuffix(call.Name, suffix) {
						return versionstest.ErrStore
					}
					return call.Do()
				}
				if _, err := a.Publish(t.Context(),
					versionstest.WithSource(1)); herb.CodeOf(err) != herb.CodeUnavailable {
					t.Errorf("%s cannot be stored: %v", suffix, err)
				}
				if left := append(leftSources(t, c.Bucket.Dir), leftSources(t, a.Opts.Dir)...); len(left)+
					len(a.Files(t)) != 0 {
					t.Errorf("%s cannot be stored: %v are left", suffix, left)
				}
			}
		})
	})
}
