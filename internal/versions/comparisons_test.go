package versions_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/must"
	"herbarium/internal/segment"
	"herbarium/internal/store"
	"herbarium/internal/versions/versionstest"
)

// comparisons returns the names of the comparisons in a folder.
func comparisons(t *testing.T, dir string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.comparison"))
	must.NoError(t, err)
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	return names
}

// acquireVersions returns versions of the dataset.
func acquireVersions(t *testing.T, n *versionstest.Node, names ...string) (views []library.View) {
	t.Helper()
	for _, name := range names {
		v, err := n.AcquireVersion(t.Context(), ref, name)
		must.NoError(t, err)
		t.Cleanup(v.Release)
		views = append(views, v)
	}
	return views
}

// TestComparisons checks that the comparison of a version with the one that it replaces is kept
// when it is published, that others are kept when they are requested, that a damaged one is made
// again, and that all are removed with either of their versions.
func TestComparisons(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	var log bytes.Buffer
	l := versionstest.OpenLibrary(t, s.DB,
		versionstest.Options{Dir: s.Dir, Log: slog.New(slog.NewTextHandler(&log, nil))})
	var names []string
	for i := range 3 {
		names = append(names, versionstest.Publish(t, l, 3+i).Version)
	}
	p := versionstest.Publication(9)
	p.Check = true
	_, err := l.Publish(t.Context(), p)
	must.NoError(t, err)
	if got := comparisons(t, s.Dir); len(got) != 2 {
		t.Fatalf("three publishes and a dry run keep %v", got)
	}
	v := acquireVersions(t, l, names...)
	compare := func(from, to library.View, added int) {
		t.Helper()
		c, release, err := l.Comparisons().Compare(t.Context(), from, to)
		must.NoError(t, err)
		defer release()
		if c.Added != added || c.Differences.Len() < added {
			t.Errorf("%d records are added, want %d", c.Added, added)
		}
	}
	compare(v[0], v[1], 1)
	compare(v[1], v[2], 1)
	if strings.Contains(log.String(), "built file") {
		t.Errorf("a comparison was made although the publish has kept it:\n%s", &log)
	}
	compare(v[0], v[2], 2)
	compare(v[0], v[2], 2)
	if n := strings.Count(log.String(), "built file"); n != 1 {
		t.Errorf("a comparison was made %d times", n)
	}
	path := filepath.Join(s.Dir, store.ComparisonFile(names[0], names[1], segment.ComparisonLayout))
	must.NoError(t, os.WriteFile(path, []byte("herbcmp1"), 0o600))
	compare(v[0], v[1], 1)
	if !strings.Contains(log.String(), "comparison is damaged") {
		t.Errorf("the log does not mention the damage:\n%s", &log)
	}
	must.NoError(t, os.WriteFile(
		filepath.Join(s.Dir, store.ComparisonFile("20200101T000000Z-aaaaaaaaaa", names[1], segment.ComparisonLayout)),
		nil, 0o600))
	old := time.Now().Add(-60 * 24 * time.Hour)
	for _, name := range comparisons(t, s.Dir) {
		must.NoError(t, os.Chtimes(filepath.Join(s.Dir, name), old, old))
	}
	must.NoError(t, versionstest.Sweep(t.Context(), l))
	if got := comparisons(t, s.Dir); len(got) != 3 {
		t.Errorf("a sweep leaves %v", got)
	}
	must.NoError(t, l.Withdraw(t.Context(), ref, names[0]))
	if got := comparisons(t, s.Dir); len(got) != 1 || !strings.HasPrefix(got[0], names[2]) {
		t.Errorf("after the withdrawal of %s: %v", names[0], got)
	}
	if _, _, err := l.Comparisons().Compare(t.Context(), v[0], v[2]); herb.CodeOf(err) != herb.CodeGone {
		t.Errorf("a comparison with a version that was withdrawn: %v", err)
	}
}

// TestComparisons_nodes checks that a node reads the comparison that another one has made.
func TestComparisons_nodes(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		n := c.Node(t, nil)
		var names []string
		for i := range 2 {
			names = append(names, versionstest.Publish(t, n.Node, 3+i).Version)
		}
		name := store.ComparisonFile(names[0], names[1], segment.ComparisonLayout)
		if got := comparisons(t, c.Bucket.Dir); len(got) != 1 || got[0] != name {
			t.Fatalf("the object store has %v", got)
		}
		other := c.Node(t, nil)
		v := acquireVersions(t, other.Node, names...)
		_, release, err := other.Comparisons().Compare(t.Context(), v[0], v[1])
		must.NoError(t, err)
		release()
		if got := comparisons(t, other.Opts.Dir); len(got) != 1 {
			t.Errorf("the other node has %v", got)
		}
	})
}
