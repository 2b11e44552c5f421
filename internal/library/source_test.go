package library_test

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

const sourceContent = "id,name\n1,Rose\n"

// withSource returns a publication whose source is kept.
func withSource(n int) versions.Publication {
	p := publication(n)
	p.Source = &versions.KeptSource{
		Content: io.NewSectionReader(strings.NewReader(sourceContent), 0, int64(len(sourceContent))), Name: "plants.csv", SHA256: "abc",
	}
	return p
}

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
		checked := withSource(1)
		checked.Check = true
		_, err := publisher.Publish(t.Context(), checked)
		must.NoError(t, err)
		_, err = publisher.Publish(t.Context(), withSource(1))
		must.NoError(t, err)
		first := liveVersion(t, publisher, ref)
		content, d, err := readSource(t.Context(), reader, "")
		if err != nil || content != sourceContent || d.Settings.Kept.Name != "plants.csv" || d.Settings.Kept.Size != int64(len(sourceContent)) {
			t.Errorf("the source is %q, %+v, %v", content, d.Settings, err)
		}
		publishAs(t, publisher, ref, 2)
		if _, _, err := readSource(t.Context(), reader, ""); herb.CodeOf(err) != herb.CodeNotFound {
			t.Errorf("a version without a source gives %v", err)
		}
		if content, _, err := readSource(t.Context(), reader, first.Version); content != sourceContent {
			t.Errorf("the source of the earlier version is %q, %v", content, err)
		}
		return first
	}
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		l, err := versionstest.Open(openDB(t, t.TempDir()), versionstest.Options{Dir: dir})
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
		inCluster(t, func(t *testing.T, c *cluster) {
			a, b := c.node(t, nil), c.node(t, nil)
			check(t, a.Node, b.Node)
			if left := leftSources(t, a.opts.Dir); len(left) != 0 {
				t.Errorf("the node has %v", left)
			}
			must.NoError(t, a.Remove(t.Context(), ref, ""))
			pass(versions.DefaultRetention + 1)
			must.NoError(t, a.Collect(t.Context()))
			if left := leftSources(t, c.bucket.dir); len(left) != 0 {
				t.Errorf("objects %v are left", left)
			}
		})
	})
	t.Run("failing object store", func(t *testing.T) {
		t.Parallel()
		inCluster(t, func(t *testing.T, c *cluster) {
			a := c.node(t, nil)
			for _, suffix := range []string{store.SourceSuffix, store.SegmentSuffix} {
				c.bucket.fault = func(call call) error {
					if call.op == "put" && strings.HasSuffix(call.name, suffix) {
						return errStore
					}
					return call.do()
				}
				if _, err := a.Publish(t.Context(), withSource(1)); herb.CodeOf(err) != herb.CodeUnavailable {
					t.Errorf("%s cannot be stored: %v", suffix, err)
				}
				if left := append(leftSources(t, c.bucket.dir), leftSources(t, a.opts.Dir)...); len(left)+len(a.files(t)) != 0 {
					t.Errorf("%s cannot be stored: %v are left", suffix, left)
				}
			}
		})
	})
}
