package library_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// cluster is a database and an object store that nodes share.
type cluster struct {
	db     *sqlite.Store
	bucket *bucket
}

// inCluster runs a test with fake time.
func inCluster(t *testing.T, test func(t *testing.T, c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newCluster(t)) })
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	return &cluster{db: openDB(t, t.TempDir()), bucket: newBucket(t, time.Now)}
}

// node is a library with a folder of its own.
type node struct {
	*versionstest.Node
	catalogue *unsteady
	opts      versionstest.Options
	log       *logBook
	stop      func() // stops Run, if run has started it
}

// node opens a library in a new folder. change adjusts its options; it may be nil.
func (c *cluster) node(t testing.TB, change func(*versionstest.Options)) *node {
	t.Helper()
	n := &node{catalogue: &unsteady{Catalogue: c.db}, log: &logBook{}, stop: func() {}}
	n.opts = versionstest.Options{Dir: t.TempDir(), Blobs: c.bucket, Log: slog.New(slog.NewTextHandler(n.log, nil))}
	if change != nil {
		change(&n.opts)
	}
	n.open(t)
	return n
}

// open opens the library of a node that is closed.
func (n *node) open(t testing.TB) {
	t.Helper()
	l, err := versionstest.Open(n.catalogue, n.opts)
	if err != nil {
		t.Fatal(err)
	}
	closing := sync.OnceFunc(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	n.Node, n.stop = l, closing
	t.Cleanup(closing)
}

// run starts Run of the library, as in a server.
func (n *node) run(t testing.TB) *node {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	l, closing := n.Node, n.stop
	running.Go(func() {
		if err := l.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	n.stop = sync.OnceFunc(func() { cancel(); running.Wait(); closing() })
	t.Cleanup(n.stop)
	return n
}

// serving returns a publisher, and a node that runs and lists the one record that the publisher has
// published.
func (c *cluster) serving(t testing.TB) (publisher, b *node) {
	t.Helper()
	publisher = c.node(t, nil)
	publishAs(t, publisher.Node, ref, 1)
	b = c.node(t, nil).run(t)
	pass(3 * time.Second)
	return publisher, b
}

// restart closes the library of a node and opens it again on the same folder.
func (n *node) restart(t testing.TB) {
	t.Helper()
	n.stop()
	n.open(t)
}

// files returns the file sizes in the node's folder by version, and reports leftover files as
// errors.
func (n *node) files(t testing.TB) map[string]int64 {
	t.Helper()
	entries, err := os.ReadDir(n.opts.Dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]int64{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := strings.CutSuffix(e.Name(), ".segment"); ok {
			files[v] = info.Size()
		} else if strings.HasSuffix(e.Name(), ".part") {
			t.Errorf("%s is left", e.Name())
		}
	}
	return files
}

// unsteady is a catalogue that can be down.
type unsteady struct {
	versionstest.Catalogue
	away   atomic.Bool
	silent atomic.Bool // it does not answer
	edit   func(d *herb.Dataset)
	rows   atomic.Int64 // read
}

var errCatalogue = herb.Errorf(herb.CodeUnavailable, "the database is down")

func (u *unsteady) check(ctx context.Context) error {
	if u.silent.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if u.away.Load() {
		return errCatalogue
	}
	return nil
}

// Changes, Descriptions, Words, Version and Versions implement versionstest.Catalogue.
func (u *unsteady) Changes(ctx context.Context, since int64) (store.Changes, error) {
	if err := u.check(ctx); err != nil {
		return store.Changes{}, err
	}
	c, err := u.Catalogue.Changes(ctx, since)
	u.rows.Add(int64(len(c.Datasets)))
	return c, err
}

func (u *unsteady) Descriptions(ctx context.Context, versions []herb.LiveVersion, details bool) ([]herb.Dataset, error) {
	if err := u.check(ctx); err != nil {
		return nil, err
	}
	u.rows.Add(int64(len(versions)))
	return u.Catalogue.Descriptions(ctx, versions, details)
}

func (u *unsteady) Words(ctx context.Context, since int64) ([]store.VersionWords, error) {
	if err := u.check(ctx); err != nil {
		return nil, err
	}
	words, err := u.Catalogue.Words(ctx, since)
	u.rows.Add(int64(len(words)))
	return words, err
}

func (u *unsteady) Version(ctx context.Context, ref herb.Ref, version string) (herb.Dataset, error) {
	if err := u.check(ctx); err != nil {
		return herb.Dataset{}, err
	}
	u.rows.Add(1)
	d, err := u.Catalogue.Version(ctx, ref, version)
	if u.edit != nil {
		u.edit(&d)
	}
	return d, err
}

func (u *unsteady) Versions(ctx context.Context) ([]string, error) {
	if err := u.check(ctx); err != nil {
		return nil, err
	}
	return u.Catalogue.Versions(ctx)
}

// logBook records the log.
type logBook struct {
	mu    sync.Mutex
	lines []string
}

// Write adds a line.
func (b *logBook) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, string(p))
	return len(p), nil
}

// count returns the number of lines that contain part.
func (b *logBook) count(part string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, line := range b.lines {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

func (b *logBook) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.lines, "")
}

// pass advances the fake time.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// named returns the n-th dataset of a test.
func named(n int) herb.Ref { return herb.Ref{Namespace: "shop", Name: fmt.Sprintf("d%d", n)} }

// publishAs publishes a version of a dataset with a number of records.
func publishAs(t testing.TB, l *versionstest.Node, ref herb.Ref, n int) herb.Dataset {
	t.Helper()
	_, err := l.Publish(t.Context(), versions.Publication{
		Dataset: herb.Dataset{Ref: ref, Access: herb.AccessOpen, Fields: fields}, Records: numbers(n, nil), AllowBreaking: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return liveVersion(t, l, ref)
}

// liveVersion returns the live version of a dataset.
func liveVersion(t testing.TB, l *versionstest.Node, ref herb.Ref) herb.Dataset {
	t.Helper()
	d, err := l.LiveVersion(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// wantFiles checks which versions have a file on a node.
func wantFiles(t *testing.T, n *node, want ...herb.Dataset) {
	t.Helper()
	names := []string{}
	for _, d := range want {
		names = append(names, d.Version)
	}
	slices.Sort(names)
	if got := slices.Sorted(maps.Keys(n.files(t))); !slices.Equal(names, got) {
		t.Errorf("cached versions %v; want %v", got, names)
	}
}

// wantListed checks the number of records of a dataset that a node lists.
func wantListed(t *testing.T, l *versionstest.Node, ref herb.Ref, want int) {
	t.Helper()
	s, err := l.Acquire(t.Context(), ref)
	if err != nil {
		t.Errorf("%s: %v; want %d records", ref, err, want)
		return
	}
	defer s.Release()
	if got := total(t, s); got != want || s.Records != want {
		t.Errorf("%s lists %d records, described as %d; want %d", ref, got, s.Records, want)
	}
	if s.File != nil {
		t.Errorf("the description of %s contains its file", ref)
	}
}

// wantUnavailable checks that a dataset is unavailable on a node, and the message.
func wantUnavailable(t *testing.T, l *versionstest.Node, ref herb.Ref, message string) {
	t.Helper()
	s, err := l.Acquire(t.Context(), ref)
	if err == nil {
		s.Release()
	}
	if herb.CodeOf(err) != herb.CodeUnavailable || !strings.Contains(herb.MessageOf(err), message) ||
		!strings.Contains(herb.MessageOf(err), ref.String()) {
		t.Errorf("%s: %v; want it unavailable: %s", ref, err, message)
	}
}

// wantHealth checks the counts of a node's health.
func wantHealth(t *testing.T, l *versionstest.Node, want library.Health) {
	t.Helper()
	ignore := cmpopts.IgnoreFields(library.Health{}, "Read", "Err", "Reasons")
	if d := cmp.Diff(want, l.Health(), ignore); d != "" {
		t.Errorf("health (-want +got):\n%s", d)
	}
}

// wantWhole checks that every version in the catalogue has its object.
func (c *cluster) wantWhole(t testing.TB) {
	t.Helper()
	versions, err := c.db.Versions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	there := c.bucket.versions(t)
	for _, v := range versions {
		if !slices.Contains(there, v) {
			t.Errorf("version %s is in the catalogue and has no object", v)
		}
	}
}

// TestCluster publishes, rolls back and removes on two nodes without faults.
func TestCluster(t *testing.T) {
	t.Parallel()
	inCluster(t, func(t *testing.T, c *cluster) {
		a, b := c.node(t, nil).run(t), c.node(t, nil).run(t)
		first := publishAs(t, a.Node, ref, 1)
		pass(3 * time.Second)
		wantListed(t, a.Node, ref, 1)
		wantListed(t, b.Node, ref, 1)
		wantHealth(t, b.Node, library.Health{Open: 1})
		wantCached(t, a, first)

		publishAs(t, a.Node, ref, 2)
		pass(3 * time.Second)
		wantListed(t, a.Node, ref, 2)
		wantListed(t, b.Node, ref, 2)
		if n := c.bucket.count("get"); n != 2 {
			t.Errorf("%d downloads of two versions to one node; the other had built them", n)
		}

		if back, err := b.Rollback(t.Context(), ref, "", false); err != nil || back != first.Version {
			t.Errorf("rolled back to %s, %v", back, err)
		}
		pass(3 * time.Second)
		wantListed(t, a.Node, ref, 1)
		wantListed(t, b.Node, ref, 1)
		if n := c.bucket.count("get"); n != 2 {
			t.Errorf("%d downloads; both nodes had the version before", n)
		}

		if err := a.Remove(t.Context(), ref, ""); err != nil {
			t.Error(err)
		}
		pass(3 * time.Second)
		for _, n := range []*node{a, b} {
			if _, err := n.Acquire(t.Context(), ref); herb.CodeOf(err) != herb.CodeNotFound {
				t.Errorf("a removed dataset: %v", err)
			}
		}
		if n := a.log.count("level=ERROR") + b.log.count("level=ERROR") + a.log.count("level=WARN") + b.log.count("level=WARN"); n > 0 {
			t.Errorf("logged:\n%s%s", a.log, b.log)
		}
	})
}

// TestCluster_twoSeconds: a version that was published on one node is listed by all nodes within
// two seconds, whenever they polled the catalogue last. The time is that of the test.
func TestCluster_twoSeconds(t *testing.T) {
	t.Parallel()
	inCluster(t, func(t *testing.T, c *cluster) {
		publisher := c.node(t, nil).run(t)
		publishAs(t, publisher.Node, ref, 1)
		var nodes []*node
		for range 3 {
			pass(330 * time.Millisecond) // so that they do not poll at the same time
			nodes = append(nodes, c.node(t, nil).run(t))
		}
		pass(3 * time.Second)
		for i, later := range []time.Duration{0, 250 * time.Millisecond, 500 * time.Millisecond, 999 * time.Millisecond} {
			pass(later)
			if _, err := publisher.Publish(t.Context(), withSource(i+2)); err != nil {
				t.Fatal(err)
			}
			pass(2 * time.Second)
			for _, n := range append(nodes, publisher) {
				wantListed(t, n.Node, ref, i+2)
			}
		}
	})
}

// TestCluster_withoutRun: a command fetches only the dataset it needs.
func TestCluster_withoutRun(t *testing.T) {
	t.Parallel()
	inCluster(t, func(t *testing.T, c *cluster) {
		publisher := c.node(t, nil)
		for i := range 3 {
			publishAs(t, publisher.Node, named(i), i+1)
		}
		command := c.node(t, nil)
		wantListed(t, command.Node, named(1), 2)
		if files := command.files(t); len(files) != 1 {
			t.Errorf("%v were fetched for one dataset", files)
		}
		publishAs(t, publisher.Node, named(1), 5)
		if err := command.Refresh(t.Context()); err != nil {
			t.Error(err)
		}
		pass(0)
		wantListed(t, command.Node, named(1), 5)
	})
}

// TestRestart: a restarted node downloads no file that it has.
func TestRestart(t *testing.T) {
	t.Parallel()
	inCluster(t, func(t *testing.T, c *cluster) {
		publisher := c.node(t, nil)
		d := publishAs(t, publisher.Node, ref, 7)
		b := c.node(t, nil)
		wantListed(t, b.Node, ref, 7)
		b.restart(t)
		wantListed(t, b.Node, ref, 7)
		if n := c.bucket.count("get"); n != 1 {
			t.Errorf("%d downloads of one version", n)
		}
		b.stop()
		if err := os.WriteFile(filepath.Join(b.opts.Dir, d.Version+".segment"), make([]byte, d.File.Size), 0o600); err != nil {
			t.Fatal(err)
		}
		b.open(t)
		wantListed(t, b.Node, ref, 7)
		if n := c.bucket.count("get"); n != 2 {
			t.Errorf("%d downloads; want another one of a file that was damaged", n)
		}
		if b.log.count(d.Version+".segment") == 0 {
			t.Errorf("the log does not name the damaged file:\n%s", b.log)
		}
	})
}

// TestRestart_withoutCatalogue: a node that starts while the database is down lists the versions of
// its catalogue copy until the catalogue is readable.
func TestRestart_withoutCatalogue(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(u *unsteady, is bool){
		"refused": func(u *unsteady, is bool) { u.away.Store(is) },
		"silent":  func(u *unsteady, is bool) { u.silent.Store(is) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inCluster(t, func(t *testing.T, c *cluster) {
				publisher := c.node(t, nil)
				publishAs(t, publisher.Node, named(1), 1)
				publishAs(t, publisher.Node, named(2), 2)
				b := c.node(t, func(o *versionstest.Options) { o.CacheSize = 1 }).run(t)
				wantListed(t, b.Node, named(1), 1)
				pass(3 * time.Second)
				if files := b.files(t); len(files) != 1 {
					t.Fatalf("the files %v are here; want one, so that the other dataset is fetched without the catalogue", files)
				}
				fail(b.catalogue, true)
				b.restart(t)
				began := time.Now()
				for range 100 {
					wantListed(t, b.Node, named(1), 1)
				}
				wantListed(t, b.Node, named(2), 2)
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("requests waited %s for a database that is down", took)
				}
				if h := b.Health(); !h.Restored || h.Err == nil || !h.Read.IsZero() || !h.CanList() {
					t.Errorf("health: %+v", h)
				}
				publishAs(t, publisher.Node, named(1), 3)
				b.run(t)
				pass(10 * time.Second)
				wantListed(t, b.Node, named(1), 1)
				if n := b.log.count("cannot read catalogue"); n != 1 {
					t.Errorf("logged %d times that the catalogue cannot be read; want once", n)
				}
				fail(b.catalogue, false)
				pass(30 * time.Second)
				wantListed(t, b.Node, named(1), 3)
				wantHealth(t, b.Node, library.Health{Open: 1, Cold: 1})
				if n := b.log.count("catalogue is readable again"); n != 1 {
					t.Errorf("logged %d times that the catalogue is readable again; want once", n)
				}
			})
		})
	}
}

// TestStart_withNothing: a node without a catalogue copy reports that it cannot list, and recovers.
func TestStart_withNothing(t *testing.T) {
	t.Parallel()
	inCluster(t, func(t *testing.T, c *cluster) {
		publishAs(t, c.node(t, nil).Node, ref, 4)
		b := c.node(t, nil)
		b.catalogue.away.Store(true)
		for range 3 {
			if _, err := b.Acquire(t.Context(), ref); !errors.Is(err, errCatalogue) {
				t.Errorf("got %v", err)
			}
		}
		if b.Health().CanList() {
			t.Error("a node without a catalogue reports that it can list")
		}
		b.catalogue.away.Store(false)
		pass(10 * time.Second)
		wantListed(t, b.Node, ref, 4)
		if !b.Health().CanList() {
			t.Errorf("health: %+v", b.Health())
		}
	})
}

// TestCatalogueCopy_anotherCatalogue: the copy of one catalogue is replaced when another catalogue
// is read, regardless of its generation.
func TestCatalogueCopy_anotherCatalogue(t *testing.T) {
	t.Parallel()
	inCluster(t, func(t *testing.T, c *cluster) {
		b := c.node(t, nil)
		publishAs(t, b.Node, named(1), 1)
		wantListed(t, b.Node, named(1), 1)
		b.stop()
		other := newCluster(t)
		publishAs(t, other.node(t, nil).Node, named(2), 2)
		b.catalogue.Catalogue, b.opts.Blobs = other.db, other.bucket
		b.open(t)
		wantListed(t, b.Node, named(2), 2)
		if _, err := b.Acquire(t.Context(), named(1)); herb.CodeOf(err) != herb.CodeNotFound {
			t.Errorf("a dataset of the other catalogue: %v", err)
		}
	})
}

// TestCatalogueCopy_damaged: an invalid copy does not prevent the start.
func TestCatalogueCopy_damaged(t *testing.T) {
	t.Parallel()
	inCluster(t, func(t *testing.T, c *cluster) {
		b := c.node(t, nil)
		publishAs(t, b.Node, ref, 4)
		wantListed(t, b.Node, ref, 4)
		b.stop()
		if err := os.WriteFile(filepath.Join(b.opts.Dir, "catalogue.json"), []byte(`{"generation":`), 0o600); err != nil {
			t.Fatal(err)
		}
		b.open(t)
		wantListed(t, b.Node, ref, 4)
	})
}
