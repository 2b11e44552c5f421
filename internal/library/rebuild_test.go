package library_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/must"
	"herbarium/internal/segment"
	"herbarium/internal/store"
	"herbarium/internal/versions/versionstest"
)

// setFormat changes the format version of the segment at a path, as if another release had built
// it, and returns its content.
func setFormat(t *testing.T, path string, version byte) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	must.NoError(t, err)
	content[8] = version // after the magic
	must.NoError(t, os.Remove(path))
	must.NoError(t, os.WriteFile(path, content, 0o600))
	return content
}

// TestRebuild opens versions whose indexes an earlier and a later release have built: the live one,
// and one that is kept. They keep their names and files, and an index is built beside each, once.
func TestRebuild(t *testing.T) {
	t.Parallel()
	for name, format := range map[string]byte{"earlier release": 1, "later release": 99} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := versionstest.NewSharedDir(t)
			l := s.Open(t)
			kept, live := versionstest.Publish(t, l, 2), versionstest.Publish(t, l, 3)
			files := map[string][]byte{}
			for _, d := range []herb.Dataset{kept, live} {
				path := filepath.Join(s.Dir, store.SegmentFile(d.Version))
				files[path] = setFormat(t, path, format)
			}
			for i := range 2 {
				l = s.Open(t)
				v := versionstest.Acquire(t, l)
				if v.Version != live.Version || versionstest.Total(t, v) != 3 {
					t.Errorf("version %s lists %d records, want %s", v.Version, versionstest.Total(t, v), live.Version)
				}
				old, err := l.AcquireVersion(t.Context(), ref, kept.Version)
				must.NoError(t, err)
				if n := versionstest.Total(t, old); n != 2 {
					t.Errorf("the kept version lists %d records", n)
				}
				old.Release()
				if n := l.Health().Rebuilt; n != 2-2*i {
					t.Errorf("start %d rebuilt %d indexes", i+1, n)
				}
			}
			for path, content := range files {
				if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, content) {
					t.Errorf("%s has changed: %v", filepath.Base(path), err)
				}
			}
			index := segment.CurrentIndex()
			want := []string{
				store.RebuiltFile(kept.Version, index), store.SegmentFile(kept.Version),
				store.RebuiltFile(live.Version, index), store.SegmentFile(live.Version),
			}
			must.NoError(t, versionstest.Sweep(t.Context(), l))
			if got := s.Files(t); len(got) != len(want) ||
				slices.ContainsFunc(want, func(f string) bool { return !slices.Contains(got, f) }) {
				t.Errorf("files %v, want %v", got, want)
			}
			must.NoError(t, l.Remove(t.Context(), ref, ""))
			if got := s.Files(t); len(got) != 0 {
				t.Errorf("removing the dataset leaves %v", got)
			}
		})
	}
}

// TestRebuild_damaged checks that a damaged rebuilt file is built again, and that no index is built
// from damaged records.
func TestRebuild_damaged(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	d := versionstest.Publish(t, s.Open(t), 3)
	published := filepath.Join(s.Dir, store.SegmentFile(d.Version))
	setFormat(t, published, 1)
	versionstest.Acquire(t, s.Open(t))

	rebuilt := filepath.Join(s.Dir, store.RebuiltFile(d.Version, segment.CurrentIndex()))
	content, err := os.ReadFile(rebuilt)
	must.NoError(t, err)
	content[20] ^= 1
	must.NoError(t, os.WriteFile(rebuilt, content, 0o600))
	l := s.Open(t)
	if n := versionstest.Total(t, versionstest.Acquire(t, l)); n != 3 || l.Health().Rebuilt != 1 {
		t.Errorf("lists %d records after %d rebuilds", n, l.Health().Rebuilt)
	}

	must.NoError(t, os.Remove(rebuilt))
	content, err = os.ReadFile(published)
	must.NoError(t, err)
	content[20] ^= 1 // in the records
	must.NoError(t, os.WriteFile(published, content, 0o600))
	wantUnavailable(t, s.Open(t), ref, "cannot open dataset")
	if _, err := os.Stat(rebuilt); err == nil {
		t.Error("an index was built from damaged records")
	}
}

// TestRebuild_otherRecords checks that an index is only built from the records that the catalogue
// describes.
func TestRebuild_otherRecords(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	l := s.Open(t)
	d, other := versionstest.Publish(t, l, 3), versionstest.PublishAs(t, l, versionstest.Named(1), 4)
	content, err := os.ReadFile(filepath.Join(s.Dir, store.SegmentFile(other.Version)))
	must.NoError(t, err)
	path := filepath.Join(s.Dir, store.SegmentFile(d.Version))
	must.NoError(t, os.WriteFile(path, content, 0o600))
	setFormat(t, path, 1)
	wantUnavailable(t, s.Open(t), ref, "cannot open dataset")
}

// TestRebuild_ready checks that a start does not wait for a rebuild, that a request waits for it
// briefly, and that its error says how long it takes.
func TestRebuild_ready(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	l := s.Open(t)
	versionstest.PublishAs(t, l, versionstest.Named(1), 5)
	setFormat(t, filepath.Join(s.Dir, store.SegmentFile(versionstest.Publish(t, l, 3).Version)), 1)
	blocked, release := make(chan struct{}), make(chan struct{})
	block := sync.OnceFunc(func() { close(blocked) })
	l = versionstest.OpenLibrary(t, s.DB, versionstest.Options{Dir: s.Dir, Wait: time.Millisecond})
	l.SetOpenFile(func(path string, open func(string) (*segment.Reader, error)) (*segment.Reader, error) {
		if strings.Contains(path, segment.CurrentIndex()) {
			block()
			<-release
		}
		return open(path)
	})
	must.NoError(t, l.Refresh(t.Context()))
	<-blocked
	versionstest.WantListed(t, l, versionstest.Named(1), 5)
	_, err := l.Acquire(t.Context(), ref)
	if herb.CodeOf(err) != herb.CodeUnavailable || herb.RetryAfterOf(err) < time.Second ||
		!strings.Contains(herb.MessageOf(err), "rebuilding the index of dataset ") {
		t.Errorf("a request during the rebuild: %v, retry after %s", err, herb.RetryAfterOf(err))
	}
	close(release)
	l = versionstest.OpenLibrary(t, s.DB, versionstest.Options{Dir: s.Dir, Wait: -1})
	u, err := l.Upgrade(t.Context(), true, func(int, int) {})
	if err != nil || u != (library.Upgrade{Versions: 2}) {
		t.Errorf("%+v, %v", u, err)
	}
	versionstest.WantListed(t, l, ref, 3)
}

// TestRebuild_outdated checks that versions count as outdated until they are rebuilt, also by a
// later request, or until they are no longer live.
func TestRebuild_outdated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := versionstest.NewSharedDir(t)
		l := s.Open(t)
		var intact [][]byte
		var paths []string
		for i := range 3 {
			paths = append(paths, filepath.Join(s.Dir,
				store.SegmentFile(versionstest.PublishAs(t, l, versionstest.Named(i), i+1).Version)))
			intact = append(intact, setFormat(t, paths[i], 1))
			if i > 0 {
				damaged := bytes.Clone(intact[i])
				damaged[20] ^= 1 // in the records
				must.NoError(t, os.WriteFile(paths[i], damaged, 0o600))
			}
		}
		l = s.Open(t)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = l.Run(ctx) })
		synctest.Wait()
		want := func(outdated, rebuilt int) {
			t.Helper()
			if h := l.Health(); h.Outdated != outdated || h.Rebuilt != rebuilt {
				t.Errorf("%d are outdated and %d rebuilt, want %d and %d", h.Outdated, h.Rebuilt, outdated, rebuilt)
			}
		}
		want(2, 1)
		must.NoError(t, os.WriteFile(paths[1], intact[1], 0o600))
		time.Sleep(time.Hour) // the failure is retried
		versionstest.WantListed(t, l, versionstest.Named(1), 2)
		want(1, 2)
		versionstest.PublishAs(t, l, versionstest.Named(2), 9) // replaces the version that cannot be rebuilt
		must.NoError(t, l.Refresh(t.Context()))
		want(0, 2)
		cancel()
		running.Wait()
	})
}

// TestUpgrade rebuilds everything before a server starts. A version that cannot be rebuilt does not
// hold back the others.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	l := s.Open(t)
	for i := range 4 {
		d := versionstest.PublishAs(t, l, versionstest.Named(i), i+1)
		path := filepath.Join(s.Dir, store.SegmentFile(d.Version))
		setFormat(t, path, 1)
		if i == 2 {
			must.NoError(t, os.Truncate(path, 100))
		}
	}
	u, err := versionstest.OpenLibrary(t, s.DB, versionstest.Options{Dir: s.Dir, Wait: -1}).Upgrade(t.Context(), false,
		func(int, int) {})
	if u != (library.Upgrade{Versions: 4, Rebuilt: 3, Failed: 1}) || err == nil ||
		!strings.Contains(err.Error(), "shop/d2") {
		t.Errorf("%+v, %v", u, err)
	}
	l = s.Open(t)
	for _, i := range []int{0, 1, 3} {
		versionstest.WantListed(t, l, versionstest.Named(i), i+1)
	}
	if n := l.Health().Rebuilt; n != 0 {
		t.Errorf("a server rebuilt %d indexes again", n)
	}
}

// TestRebuild_background checks that a server rebuilds live versions that nobody requests, also if
// there are too many to open in advance.
func TestRebuild_background(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := versionstest.NewSharedDir(t)
		l := s.Open(t)
		const datasets = 105 // more than are opened in advance
		for i := range datasets {
			d := versionstest.PublishAs(t, l, versionstest.Named(i), 1)
			if i%40 == 0 {
				setFormat(t, filepath.Join(s.Dir, store.SegmentFile(d.Version)), 1)
			}
		}
		l = s.Open(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- l.Run(ctx) }()
		versionstest.Pass(time.Second)
		if h := l.Health(); h.Rebuilt != 3 || h.Outdated != 0 {
			t.Errorf("health: %+v", h)
		}
		cancel()
		must.NoError(t, <-ended)
	})
}

// TestCluster_releases lists a version that a node of another release has published. One node
// rebuilds the index and stores it for the others, the published object stays, and both are
// collected with the version. Indexes of a release that has left are collected later.
func TestCluster_releases(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		d := versionstest.PublishAs(t, c.Node(t, nil).Node, ref, 9)
		object := filepath.Join(c.Bucket.Dir, store.SegmentFile(d.Version))
		content := setFormat(t, object, 99)
		sum := herb.NewFileHash()
		_, _ = sum.Write(content)
		file := new(sum.File())
		edit := func(d *herb.Dataset) { d.File = file }
		newNode := func() *versionstest.ClusterNode {
			n := c.Node(t, nil)
			n.Catalogue.Edit = edit
			return n.Start(t)
		}
		b := newNode()
		versionstest.WantListed(t, b.Node, ref, 9)
		b2 := newNode()
		versionstest.WantListed(t, b2.Node, ref, 9)
		if b.Health().Rebuilt != 1 || b2.Health().Rebuilt != 0 {
			t.Errorf("%d and %d rebuilds", b.Health().Rebuilt, b2.Health().Rebuilt)
		}
		rebuilt := store.RebuiltFile(d.Version, segment.CurrentIndex())
		synctest.Wait() // the copy of the catalogue is saved
		for _, n := range []*versionstest.ClusterNode{b, b2} {
			if files := n.Files(t); len(files) != 1 || files[rebuilt] == 0 {
				t.Errorf("the cache has %v", files)
			}
		}
		var fetched []string
		c.Bucket.Set(versionstest.Only("get", func(x versionstest.Call) error {
			fetched = append(fetched, x.Name) // one download at a time
			return x.Do()
		}), nil)
		b3 := c.Node(t, nil) // does not run, so it does not know which objects there are
		b3.Catalogue.Edit = edit
		versionstest.WantListed(t, b3.Node, ref, 9)
		if !slices.Equal(fetched, []string{rebuilt}) {
			t.Errorf("a node without files fetched %v; want the rebuilt file alone", fetched)
		}
		c.Bucket.Set(nil, nil)
		other := store.RebuiltFile(d.Version, "f99-r9")
		must.NoError(t, os.WriteFile(filepath.Join(c.Bucket.Dir, other), []byte("x"), 0o600))
		stored := func() (names []string) {
			entries, err := os.ReadDir(c.Bucket.Dir)
			must.NoError(t, err)
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return names
		}
		setAge := func(days int) {
			c.Bucket.Mu.Lock()
			defer c.Bucket.Mu.Unlock()
			for _, name := range []string{other, rebuilt} {
				c.Bucket.Modified[name] = time.Now().Add(-time.Duration(days) * 24 * time.Hour)
			}
		}
		setAge(29)
		versionstest.Pass(10 * time.Minute)
		if got := stored(); len(got) != 3 {
			t.Errorf("after four weeks the objects are %v", got)
		}
		if now, err := os.ReadFile(object); err != nil || !bytes.Equal(now, content) {
			t.Errorf("the published object has changed: %v", err)
		}
		setAge(31)
		versionstest.Pass(10 * time.Minute)
		if got := stored(); len(got) != 2 || slices.Contains(got, other) {
			t.Errorf("after a month the objects are %v", got)
		}
		must.NoError(t, b.Remove(t.Context(), ref, ""))
		versionstest.Pass(25 * time.Hour)
		if got := stored(); len(got) != 0 {
			t.Errorf("after the removal of the dataset the objects are %v", got)
		}
	})
}
