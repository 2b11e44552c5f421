package library_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/versions/versionstest"
)

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

// TestCluster publishes, rolls back and removes on two nodes without faults.
func TestCluster(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		a, b := c.Node(t, nil).Start(t), c.Node(t, nil).Start(t)
		first := versionstest.PublishAs(t, a.Node, ref, 1)
		versionstest.Pass(3 * time.Second)
		versionstest.WantListed(t, a.Node, ref, 1)
		versionstest.WantListed(t, b.Node, ref, 1)
		wantHealth(t, b.Node, library.Health{Open: 1})
		wantCached(t, a, first)

		versionstest.PublishAs(t, a.Node, ref, 2)
		versionstest.Pass(3 * time.Second)
		versionstest.WantListed(t, a.Node, ref, 2)
		versionstest.WantListed(t, b.Node, ref, 2)
		if n := c.Bucket.Count("get"); n != 2 {
			t.Errorf("%d downloads of two versions to one node; the other had built them", n)
		}

		if back, err := b.Rollback(t.Context(), ref, ""); err != nil || back != first.Version {
			t.Errorf("rolled back to %s, %v", back, err)
		}
		versionstest.Pass(3 * time.Second)
		versionstest.WantListed(t, a.Node, ref, 1)
		versionstest.WantListed(t, b.Node, ref, 1)
		if n := c.Bucket.Count("get"); n != 2 {
			t.Errorf("%d downloads; both nodes had the version before", n)
		}

		if err := a.Remove(t.Context(), ref, ""); err != nil {
			t.Error(err)
		}
		versionstest.Pass(3 * time.Second)
		for _, n := range []*versionstest.ClusterNode{a, b} {
			if _, err := n.Acquire(t.Context(), ref); herb.CodeOf(err) != herb.CodeNotFound {
				t.Errorf("a removed dataset: %v", err)
			}
		}
		if n := a.Log.Count("level=ERROR") + b.Log.Count("level=ERROR") + a.Log.Count("level=WARN") +
			b.Log.Count("level=WARN"); n > 0 {
			t.Errorf("logged:\n%s%s", a.Log, b.Log)
		}
	})
}

// TestCluster_twoSeconds: a version that was published on one node is listed by all nodes within
// two seconds, whenever they polled the catalogue last. The time is that of the test.
func TestCluster_twoSeconds(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		publisher := c.Node(t, nil).Start(t)
		versionstest.PublishAs(t, publisher.Node, ref, 1)
		var nodes []*versionstest.ClusterNode
		for range 3 {
			versionstest.Pass(330 * time.Millisecond) // so that they do not poll at the same time
			nodes = append(nodes, c.Node(t, nil).Start(t))
		}
		versionstest.Pass(3 * time.Second)
		for i, later := range []time.Duration{0, 250 * time.Millisecond, 500 * time.Millisecond,
			999 * time.Millisecond} {
			versionstest.Pass(later)
			if _, err := publisher.Publish(t.Context(), versionstest.WithSource(i+2)); err != nil {
				t.Fatal(err)
			}
			versionstest.Pass(2 * time.Second)
			for _, n := range append(nodes, publisher) {
				versionstest.WantListed(t, n.Node, ref, i+2)
			}
		}
	})
}

// TestCluster_withoutRun: a command fetches only the dataset it needs.
func TestCluster_withoutRun(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		publisher := c.Node(t, nil)
		for i := range 3 {
			versionstest.PublishAs(t, publisher.Node, versionstest.Named(i), i+1)
		}
		command := c.Node(t, nil)
		versionstest.WantListed(t, command.Node, versionstest.Named(1), 2)
		if files := command.Files(t); len(files) != 1 {
			t.Errorf("%v were fetched for one dataset", files)
		}
		versionstest.PublishAs(t, publisher.Node, versionstest.Named(1), 5)
		if err := command.Refresh(t.Context()); err != nil {
			t.Error(err)
		}
		versionstest.Pass(0)
		versionstest.WantListed(t, command.Node, versionstest.Named(1), 5)
	})
}

// TestRestart: a restarted node downloads no file that it has.
func TestRestart(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		publisher := c.Node(t, nil)
		d := versionstest.PublishAs(t, publisher.Node, ref, 7)
		b := c.Node(t, nil)
		versionstest.WantListed(t, b.Node, ref, 7)
		b.Restart(t)
		versionstest.WantListed(t, b.Node, ref, 7)
		if n := c.Bucket.Count("get"); n != 1 {
			t.Errorf("%d downloads of one version", n)
		}
		b.Stop()
		if err := os.WriteFile(filepath.Join(b.Opts.Dir, d.Version+".segment"), make([]byte, d.File.Size),
			0o600); err != nil {
			t.Fatal(err)
		}
		b.Open(t)
		versionstest.WantListed(t, b.Node, ref, 7)
		if n := c.Bucket.Count("get"); n != 2 {
			t.Errorf("%d downloads; want another one of a file that was damaged", n)
		}
		if b.Log.Count(d.Version+".segment") == 0 {
			t.Errorf("the log does not name the damaged file:\n%s", b.Log)
		}
	})
}

// TestRestart_withoutCatalogue: a node that starts while the database is down lists the versions of
// its catalogue copy until the catalogue is readable.
func TestRestart_withoutCatalogue(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(u *versionstest.UnsteadyCatalogue, is bool){
		"refused": func(u *versionstest.UnsteadyCatalogue, is bool) { u.Away.Store(is) },
		"silent":  func(u *versionstest.UnsteadyCatalogue, is bool) { u.Silent.Store(is) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
				publisher := c.Node(t, nil)
				versionstest.PublishAs(t, publisher.Node, versionstest.Named(1), 1)
				versionstest.PublishAs(t, publisher.Node, versionstest.Named(2), 2)
				b := c.Node(t, func(o *versionstest.Options) { o.CacheSize = 1 }).Start(t)
				versionstest.WantListed(t, b.Node, versionstest.Named(1), 1)
				versionstest.Pass(3 * time.Second)
				if files := b.Files(t); len(files) != 1 {
					t.Fatalf("the files %v are here; want one, so that the other dataset is fetched without the "+
						"catalogue", files)
				}
				fail(b.Catalogue, true)
				b.Restart(t)
				began := time.Now()
				for range 100 {
					versionstest.WantListed(t, b.Node, versionstest.Named(1), 1)
				}
				versionstest.WantListed(t, b.Node, versionstest.Named(2), 2)
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("requests waited %s for a database that is down", took)
				}
				if h := b.Health(); !h.Restored || h.Err == nil || !h.Read.IsZero() || !h.CanList() {
					t.Errorf("health: %+v", h)
				}
				versionstest.PublishAs(t, publisher.Node, versionstest.Named(1), 3)
				b.Start(t)
				versionstest.Pass(10 * time.Second)
				versionstest.WantListed(t, b.Node, versionstest.Named(1), 1)
				if n := b.Log.Count("cannot read catalogue"); n != 1 {
					t.Errorf("logged %d times that the catalogue cannot be read; want once", n)
				}
				fail(b.Catalogue, false)
				versionstest.Pass(30 * time.Second)
				versionstest.WantListed(t, b.Node, versionstest.Named(1), 3)
				wantHealth(t, b.Node, library.Health{Open: 1, Cold: 1})
				if n := b.Log.Count("catalogue is readable again"); n != 1 {
					t.Errorf("logged %d times that the catalogue is readable again; want once", n)
				}
			})
		})
	}
}

// TestStart_withNothing: a node without a catalogue copy reports that it cannot list, and recovers.
func TestStart_withNothing(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		versionstest.PublishAs(t, c.Node(t, nil).Node, ref, 4)
		b := c.Node(t, nil)
		b.Catalogue.Away.Store(true)
		for range 3 {
			if _, err := b.Acquire(t.Context(), ref); !errors.Is(err, versionstest.ErrCatalogue) {
				t.Errorf("got %v", err)
			}
		}
		if b.Health().CanList() {
			t.Error("a node without a catalogue reports that it can list")
		}
		b.Catalogue.Away.Store(false)
		versionstest.Pass(10 * time.Second)
		versionstest.WantListed(t, b.Node, ref, 4)
		if !b.Health().CanList() {
			t.Errorf("health: %+v", b.Health())
		}
	})
}

// TestCatalogueCopy_anotherCatalogue: the copy of one catalogue is replaced when another catalogue
// is read, regardless of its generation.
func TestCatalogueCopy_anotherCatalogue(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		b := c.Node(t, nil)
		versionstest.PublishAs(t, b.Node, versionstest.Named(1), 1)
		versionstest.WantListed(t, b.Node, versionstest.Named(1), 1)
		b.Stop()
		other := versionstest.NewCluster(t)
		versionstest.PublishAs(t, other.Node(t, nil).Node, versionstest.Named(2), 2)
		b.Catalogue.Catalogue, b.Opts.Blobs = other.DB, other.Bucket
		b.Open(t)
		versionstest.WantListed(t, b.Node, versionstest.Named(2), 2)
		if _, err := b.Acquire(t.Context(), versionstest.Named(1)); herb.CodeOf(err) != herb.CodeNotFound {
			t.Errorf("a dataset of the other catalogue: %v", err)
		}
	})
}

// TestCatalogueCopy_damaged: an invalid copy does not prevent the start.
func TestCatalogueCopy_damaged(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		b := c.Node(t, nil)
		versionstest.PublishAs(t, b.Node, ref, 4)
		versionstest.WantListed(t, b.Node, ref, 4)
		b.Stop()
		if err := os.WriteFile(filepath.Join(b.Opts.Dir, "catalogue.json"), []byte(`{"generation":`),
			0o600); err != nil {
			t.Fatal(err)
		}
		b.Open(t)
		versionstest.WantListed(t, b.Node, ref, 4)
	})
}
