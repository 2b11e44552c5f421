package library_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// wantVersion checks the number of records that a version of a dataset lists.
func wantVersion(t *testing.T, l *versionstest.Node, d herb.Dataset, want int) {
	t.Helper()
	v, err := l.AcquireVersion(t.Context(), d.Ref, d.Version)
	if err != nil {
		t.Errorf("version %s: %v; want %d records", d.Version, err, want)
		return
	}
	defer v.Release()
	if got := versionstest.Total(t, v); got != want || v.Version != d.Version || v.Records != want || v.File != nil {
		t.Errorf("version %s lists %d records; want %d of %s", v.Version, got, want, d.Version)
	}
}

// wantNoVersion checks the code and the message of the error for a version.
func wantNoVersion(t *testing.T, l *versionstest.Node, ref herb.Ref, version string, code herb.Code, message string) {
	t.Helper()
	v, err := l.AcquireVersion(t.Context(), ref, version)
	if err == nil {
		v.Release()
	}
	if herb.CodeOf(err) != code || !strings.Contains(herb.MessageOf(err), message) {
		t.Errorf("version %s of %s: %v; want %s: %s", version, ref, err, code, message)
	}
}

func TestAcquireVersion(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	publisher, l := s.Open(t), s.Open(t)
	var ds []herb.Dataset
	for n := range versions.DefaultKeep {
		ds = append(ds, versionstest.Publish(t, publisher, n+1))
	}
	other := versionstest.PublishAs(t, publisher, versionstest.Named(1), 1)
	for n, d := range ds {
		wantVersion(t, l, d, n+1)
	}
	wantVersion(t, l, ds[0], 1)
	wantNoVersion(t, l, ref, other.Version, herb.CodeGone, ds[0].Version)
	wantNoVersion(t, l, ref, "v1", herb.CodeGone, `no version or label "v1"`)
	wantNoVersion(t, l, ref, "20240229T133000Z", herb.CodeInvalid, `malformed version "20240229T133000Z"`)
	wantNoVersion(t, l, ref, "", herb.CodeInvalid, "malformed version")
	wantNoVersion(t, l, ref, "../../etc/passwd", herb.CodeInvalid, "malformed version")
	wantNoVersion(t, l, herb.PlantsRef, "1", herb.CodeInvalid, "has no versions")
	wantNoVersion(t, l, herb.Ref{Namespace: "shop", Name: "price"}, ds[0].Version, herb.CodeNotFound,
		`did you mean "shop/prices"?`)

	if _, err := publisher.Rollback(t.Context(), ref, ds[1].Version, herb.ConsentExposure); err != nil {
		t.Fatal(err)
	}
	versionstest.WantListed(t, l, ref, 2)
	wantVersion(t, l, ds[4], 5)

	// The oldest version is open and in use when it is pruned.
	held, err := l.AcquireVersion(t.Context(), ref, ds[0].Version)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	newest := versionstest.Publish(t, publisher, 9)
	for range 2 {
		wantNoVersion(t, l, ref, ds[0].Version, herb.CodeGone, newest.Version+", "+ds[4].Version)
	}
	wantVersion(t, l, ds[4], 5)
	wantVersion(t, l, newest, 9)
	if n := versionstest.Total(t, held); n != 1 {
		t.Errorf("a view of 1 record lists %d after its version was pruned", n)
	}
	if err := publisher.Remove(t.Context(), ref, ""); err != nil {
		t.Fatal(err)
	}
	wantNoVersion(t, l, ref, ds[4].Version, herb.CodeNotFound, "no such dataset")
}

// TestAcquireVersion_cluster: a node fetches a version once, keeps it while the catalogue is down,
// and notices that it was pruned.
func TestAcquireVersion_cluster(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		publisher := c.Node(t, nil)
		old := versionstest.PublishAs(t, publisher.Node, ref, 1)
		live := versionstest.PublishAs(t, publisher.Node, ref, 2)
		b := c.Node(t, nil).Start(t)
		versionstest.Pass(3 * time.Second)
		wantCached(t, b, live)
		var requests sync.WaitGroup
		for range 10 {
			requests.Go(func() { wantVersion(t, b.Node, old, 1) })
		}
		requests.Wait()
		versionstest.WantListed(t, b.Node, ref, 2)
		wantCached(t, b, old, live)
		if n := c.Bucket.Count("get"); n != 2 {
			t.Errorf("%d downloads of two versions", n)
		}
		wantHealth(t, b.Node, library.Health{Open: 1})

		for _, fault := range []interface{ Store(bool) }{&b.Catalogue.Away, &b.Catalogue.Silent} {
			fault.Store(true)
			versionstest.Pass(20 * time.Second)
			wantVersion(t, b.Node, old, 1)
			fault.Store(false)
		}
		c.Bucket.Set(versionstest.Away, nil)
		if _, err := c.DB.AddVersion(t.Context(), live, live.Version, herb.Keep{Versions: 1}, time.Now()); err != nil {
			t.Fatal(err)
		}
		versionstest.Pass(20 * time.Second)
		wantNoVersion(t, b.Node, ref, old.Version, herb.CodeGone, live.Version)
		wantVersion(t, b.Node, live, 2)
		c.Bucket.Set(nil, nil)
	})
}

// TestAcquireVersion_cache: versions that requests name are closed when they are idle, and evicted
// like others, but not while they are in use.
func TestAcquireVersion_cache(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		publisher := c.Node(t, nil)
		old := versionstest.PublishAs(t, publisher.Node, ref, 100)
		live := versionstest.PublishAs(t, publisher.Node, ref, 101)
		other := versionstest.PublishAs(t, publisher.Node, versionstest.Named(1), 102)
		b := c.Node(t, func(o *versionstest.Options) { o.CacheSize = sizeOf(t, live)*2 + sizeOf(t, live)/2 }).Start(t)
		versionstest.Pass(3 * time.Second)
		wantCached(t, b, live, other)

		v, err := b.AcquireVersion(t.Context(), ref, old.Version)
		if err != nil {
			t.Fatal(err)
		}
		versionstest.Pass(2 * time.Second)
		if _, ok := b.Files(t)[old.Version]; !ok {
			t.Error("a version in use is evicted")
		}
		versionstest.Pass(10 * time.Minute)
		if n := versionstest.Total(t, v); n != 100 || b.NamedVersions() != 1 {
			t.Errorf("a version in use lists %d records; %d versions are open", n, b.NamedVersions())
		}
		v.Release()
		versionstest.WantListed(t, b.Node, ref, 101)
		versionstest.WantListed(t, b.Node, versionstest.Named(1), 102)
		versionstest.Pass(2 * time.Minute)
		if b.NamedVersions() != 0 {
			t.Error("an idle version is open")
		}
		versionstest.WantListed(t, b.Node, ref, 101)
		versionstest.WantListed(t, b.Node, versionstest.Named(1), 102)
		versionstest.Pass(2 * time.Second)
		wantCached(t, b, live, other)

		c.Bucket.Set(versionstest.Away, nil)
		wantNoVersion(t, b.Node, ref, old.Version, herb.CodeUnavailable, "cannot open dataset")
		c.Bucket.Set(nil, nil)
		versionstest.Pass(time.Minute)
		wantVersion(t, b.Node, old, 100)
		if b.NamedVersions() != 1 {
			t.Errorf("%d versions are open; want 1", b.NamedVersions())
		}
	})
}
