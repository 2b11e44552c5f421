package library_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/segment"
	"herbarium/internal/versions/versionstest"
)

// TestFetch_once: concurrent requests for a version share one fetch, and requests that leave do not
// cancel it.
func TestFetch_once(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		versionstest.PublishAs(t, c.Node(t, nil).Node, ref, 9)
		b := c.Node(t, nil)
		shut, open := versionstest.Gate()
		c.Bucket.Set(shut, nil)
		leaving, leave := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		for i := range 60 {
			asking.Go(func() {
				if i%3 > 0 {
					versionstest.WantListed(t, b.Node, ref, 9)
					return
				}
				if _, err := b.Acquire(leaving, ref); !errors.Is(err, context.Canceled) {
					t.Errorf("a request that left got %v", err)
				}
			})
		}
		synctest.Wait()
		wantHealth(t, b.Node, library.Health{Fetching: 1})
		leave()
		synctest.Wait()
		open()
		asking.Wait()
		if n := c.Bucket.Count("get"); n != 1 {
			t.Errorf("%d downloads for 60 requests", n)
		}
		wantHealth(t, b.Node, library.Health{Open: 1})
	})
}

// TestFetch_allLeave: a fetch continues when all requests have left, and no reference remains.
func TestFetch_allLeave(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		versionstest.PublishAs(t, c.Node(t, nil).Node, ref, 9)
		b := c.Node(t, func(o *versionstest.Options) { o.Wait = time.Second })
		shut, open := versionstest.Gate()
		c.Bucket.Set(shut, nil)
		wantUnavailable(t, b.Node, ref, "still downloading dataset shop/prices (0 % done); try again")
		open()
		versionstest.Pass(0)
		versionstest.WantListed(t, b.Node, ref, 9)
		if n := c.Bucket.Count("get"); n != 1 {
			t.Errorf("%d downloads", n)
		}
	})
}

// TestFetch_delaysNothing: while a version cannot be fetched, the previous one is listed and other
// datasets are fetched.
func TestFetch_delaysNothing(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		publisher := c.Node(t, nil)
		const stuck = 12 // more than the limit of concurrent fetches
		for i := range stuck {
			versionstest.PublishAs(t, publisher.Node, versionstest.Named(i), 1)
		}
		b := c.Node(t, nil).Start(t)
		versionstest.Pass(3 * time.Second)
		wantHealth(t, b.Node, library.Health{Open: stuck})

		shut, open := versionstest.Gate()
		var wanted atomic.Pointer[string]
		c.Bucket.Set(versionstest.Only("get", func(x versionstest.Call) error {
			if w := wanted.Load(); w != nil && x.Name == *w {
				return x.Do()
			}
			return shut(x)
		}), nil)
		for i := range stuck {
			versionstest.PublishAs(t, publisher.Node, versionstest.Named(i), 2)
		}
		versionstest.Pass(3 * time.Second)
		wantHealth(t, b.Node, library.Health{Fetching: stuck, Behind: stuck})
		for i := range stuck {
			versionstest.WantListed(t, b.Node, versionstest.Named(i), 1)
		}
		d := versionstest.PublishAs(t, publisher.Node, ref, 5)
		wanted.Store(new(d.Version + ".segment"))
		versionstest.Pass(2 * time.Second)
		versionstest.WantListed(t, b.Node, ref, 5) // a requested fetch does not queue behind prefetches
		wantHealth(t, b.Node, library.Health{Open: 1, Fetching: stuck, Behind: stuck})
		open()
		versionstest.Pass(3 * time.Second)
		wantHealth(t, b.Node, library.Health{Open: stuck + 1})
		for i := range stuck {
			versionstest.WantListed(t, b.Node, versionstest.Named(i), 2)
		}
	})
}

// TestFetch_fewAtOnce counts the concurrent downloads of an empty node.
func TestFetch_fewAtOnce(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		publisher := c.Node(t, nil)
		for i := range 20 {
			versionstest.PublishAs(t, publisher.Node, versionstest.Named(i), 1)
		}
		var mu sync.Mutex
		now, most := 0, 0
		add := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			now += n
			most = max(most, now)
		}
		c.Bucket.Set(versionstest.Only("get", func(x versionstest.Call) error {
			add(1)
			defer add(-1)
			time.Sleep(time.Second)
			return x.Do()
		}), nil)
		b := c.Node(t, nil).Start(t)
		versionstest.Pass(5 * time.Second)
		if most != 2 {
			t.Errorf("%d concurrent prefetches", most)
		}
		var asking sync.WaitGroup
		for i := range 20 {
			asking.Go(func() { versionstest.WantListed(t, b.Node, versionstest.Named(i), 1) })
		}
		asking.Wait()
		if most > 6 {
			t.Errorf("%d concurrent downloads", most)
		}
	})
}

// TestFetch_overtaken: if versions are published faster than they can be fetched, the node lags
// behind but makes progress.
func TestFetch_overtaken(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		publisher, b := c.Serving(t)
		c.Bucket.Set(versionstest.Only("get", func(x versionstest.Call) error {
			time.Sleep(8 * time.Second)
			return x.Do()
		}), nil)
		last := 1
		for n := 2; n <= 20; n++ {
			versionstest.PublishAs(t, publisher.Node, ref, n)
			versionstest.Pass(5 * time.Second)
			s, err := b.Acquire(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			if s.Records < last || s.Records < n-4 {
				t.Errorf("%d records are listed when %d are live and %d were listed before", s.Records, n, last)
			}
			last = s.Records
			s.Release()
		}
		versionstest.Pass(30 * time.Second)
		versionstest.WantListed(t, b.Node, ref, 20)
	})
}

// TestFetch_rolledBack: a fetched version that is no longer live does not replace the live one.
func TestFetch_rolledBack(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		publisher, b := c.Serving(t)
		shut, open := versionstest.Gate()
		c.Bucket.Set(versionstest.Only("get", shut), nil)
		d := versionstest.PublishAs(t, publisher.Node, ref, 2)
		versionstest.Pass(3 * time.Second)
		if _, err := publisher.Rollback(t.Context(), ref, ""); err != nil {
			t.Fatal(err)
		}
		versionstest.Pass(3 * time.Second)
		open()
		versionstest.Pass(3 * time.Second)
		versionstest.WantListed(t, b.Node, ref, 1)
		wantHealth(t, b.Node, library.Health{Open: 1})
		if b.Log.Count(d.Version) != 0 {
			t.Errorf("it was listed for a moment:\n%s", b.Log)
		}
	})
}

// TestFetch_fails has downloads fail in every way. Open versions stay listed, others are
// unavailable, the failure is logged once, no file is left, and everything recovers when the fault
// ends.
func TestFetch_fails(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fault  func(versionstest.Call) error
		spoil  func([]byte) []byte
		logged string
		reason library.Reason
	}{
		"away": {fault: versionstest.Only("get", versionstest.Away), logged: "the object store is down",
			reason: library.ReasonUnavailable},
		"gone": {fault: versionstest.Only("get",
			func(versionstest.Call) error { return herb.Errorf(herb.CodeNotFound, "no such object") }),
			logged: "no such object", reason: library.ReasonMissing},
		"fault": {fault: versionstest.Only("get", func(versionstest.Call) error { return errors.New("some fault") }),
			logged: "some fault", reason: library.ReasonSystem},
		"at end": {fault: versionstest.Only("get", func(x versionstest.Call) error {
			return errors.Join(x.Do(), versionstest.ErrStore)
		}), logged: "the object store is down", reason: library.ReasonUnavailable},
		"short": {spoil: func(b []byte) []byte { return b[:len(b)-1] }, logged: "; want ",
			reason: library.ReasonDamaged},
		"empty": {spoil: func(b []byte) []byte { return nil }, logged: "it has 0 bytes",
			reason: library.ReasonDamaged},
		"long": {spoil: func(b []byte) []byte { return append(b, 0) }, logged: "more than ",
			reason: library.ReasonDamaged},
		"one bit": {spoil: func(b []byte) []byte { b[len(b)/2] ^= 1; return b }, logged: "with SHA-256",
			reason: library.ReasonDamaged},
		"another": {spoil: func(b []byte) []byte { clear(b); return b }, logged: "with SHA-256",
			reason: library.ReasonDamaged},
		"closed": {fault: versionstest.Only("get", func(x versionstest.Call) error {
			time.Sleep(time.Second)
			return context.Canceled
		}), logged: "context canceled", reason: library.ReasonSystem},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
				publisher := c.Node(t, nil)
				versionstest.PublishAs(t, publisher.Node, versionstest.Named(1), 1)
				b := c.Node(t, func(o *versionstest.Options) { o.Wait = -1 }).Start(t)
				versionstest.Pass(3 * time.Second)
				c.Bucket.Set(tt.fault, tt.spoil)
				d := versionstest.PublishAs(t, publisher.Node, versionstest.Named(1), 2)
				cold := versionstest.PublishAs(t, publisher.Node, versionstest.Named(2), 3)
				versionstest.Pass(10 * time.Minute)
				versionstest.WantListed(t, b.Node, versionstest.Named(1), 1)
				wantUnavailable(t, b.Node, versionstest.Named(2), "cannot open dataset")
				versionstest.Pass(0)
				if n := b.Log.Count(tt.logged); n != 2 {
					t.Errorf("%d log lines contain %q for two datasets:\n%s", n, tt.logged, b.Log)
				}
				for _, v := range []string{d.Version, cold.Version} {
					if b.Log.Count(v) != 1 {
						t.Errorf("the log does not name %s once:\n%s", v, b.Log)
					}
				}
				tries := c.Bucket.Count("get")
				if tries > 45 {
					t.Errorf("%d downloads were tried in ten minutes", tries)
				}
				h := b.Health()
				if h.Failed+h.Fetching != 2 || h.Behind != 1 || !h.CanList() || h.Reasons[tt.reason] != h.Failed ||
					b.Statistics().Failed[tt.reason] == 0 {
					t.Errorf("health: %+v", h)
				}
				c.Bucket.Set(nil, nil)
				versionstest.Pass(2 * time.Minute)
				versionstest.WantListed(t, b.Node, versionstest.Named(1), 2)
				versionstest.WantListed(t, b.Node, versionstest.Named(2), 3)
				wantHealth(t, b.Node, library.Health{Open: 2})
				if files := b.Files(t); len(files) != 3 {
					t.Errorf("the files %v are there; want those of three versions", files)
				}
			})
		})
	}
}

// TestFetch_notByEachRequest: requests do not retry a fetch that has just failed.
func TestFetch_notByEachRequest(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		versionstest.PublishAs(t, c.Node(t, nil).Node, ref, 9)
		b := c.Node(t, nil)
		c.Bucket.Set(versionstest.Away, nil)
		for range 1000 {
			wantUnavailable(t, b.Node, ref, "cannot open dataset")
		}
		if n := c.Bucket.Count("get"); n != 1 {
			t.Errorf("%d downloads for 1000 concurrent requests", n)
		}
		ds, err := describeAll(t.Context(), b.Node)
		if err != nil || len(ds) != 1 || !ds[0].Unavailable {
			t.Errorf("described as %+v, %v", ds, err)
		}
		if _, err := b.Acquire(t.Context(), ref); !errors.Is(err, versionstest.ErrStore) {
			t.Errorf("the error is %v", err)
		}
		if h := b.Health(); h.CanList() || h.Failed != 1 {
			t.Errorf("health: %+v", h)
		}
		c.Bucket.Set(nil, nil)
		versionstest.Pass(2 * time.Second)
		versionstest.WantListed(t, b.Node, ref, 9)
	})
}

// makeNewer changes the object of a version to one that only a newer program can read, and returns
// its description.
func makeNewer(t *testing.T, c *versionstest.Cluster, d herb.Dataset) *herb.File {
	t.Helper()
	path := filepath.Join(c.Bucket.Dir, d.Version+".segment")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[12]++ // flags, after the magic and the format version
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := herb.NewFileHash()
	_, _ = sum.Write(content)
	file := sum.File()
	file.Index = d.File.Index
	return &file
}

// TestFetch_newerFormat: a file that only a newer program can read is fetched once and kept.
func TestFetch_newerFormat(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		d := versionstest.PublishAs(t, c.Node(t, nil).Node, ref, 9)
		b := c.Node(t, nil)
		newer := makeNewer(t, c, d)
		b.Catalogue.Edit = func(d *herb.Dataset) { d.File = newer }
		b.Start(t)
		versionstest.Pass(10 * time.Minute)
		wantUnavailable(t, b.Node, ref, "cannot open dataset")
		if _, err := b.Acquire(t.Context(), ref); !errors.Is(err, segment.ErrCorrupt) {
			t.Errorf("the error is %v", err)
		}
		if h := b.Health(); h.Failed != 1 {
			t.Errorf("health: %+v", h)
		}
		if n := c.Bucket.Count("get"); n != 1 || len(b.Files(t)) != 1 {
			t.Errorf("%d downloads; the files %v are here", n, b.Files(t))
		}
		if n := b.Log.Count("level=ERROR"); n != 1 {
			t.Errorf("%d errors in the log:\n%s", n, b.Log)
		}
	})
}

// TestFetch_newerFormatEvicted: if the cache is full, the file of a version that only a newer
// program can read is evicted, and the previous version is still listed.
func TestFetch_newerFormatEvicted(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		publisher := c.Node(t, nil)
		readable := versionstest.PublishAs(t, publisher.Node, ref, 9)
		b := c.Node(t, func(o *versionstest.Options) { o.CacheSize = 1 })
		var changed atomic.Pointer[herb.Dataset]
		b.Catalogue.Edit = func(d *herb.Dataset) {
			if n := changed.Load(); n != nil && d.Version == n.Version {
				d.File = n.File
			}
		}
		b.Start(t)
		versionstest.WantListed(t, b.Node, ref, 9)
		shut, open := versionstest.Gate()
		c.Bucket.Set(versionstest.Only("get", shut), nil)
		newer := versionstest.PublishAs(t, publisher.Node, ref, 10)
		newer.File = makeNewer(t, c, newer)
		changed.Store(&newer)
		open()
		versionstest.Pass(10 * time.Minute)
		versionstest.WantListed(t, b.Node, ref, 9)
		wantHealth(t, b.Node, library.Health{Failed: 1, Behind: 1})
		if files := b.Files(t); files[readable.Version] == 0 {
			t.Errorf("the files %v are here; want that of the readable version", files)
		}
	})
}

// TestFetch_prunedMeanwhile: a request that waits for a version gets a later one if the first was
// pruned.
func TestFetch_prunedMeanwhile(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		publisher := c.Node(t, nil)
		d := versionstest.PublishAs(t, publisher.Node, ref, 1)
		b := c.Node(t, func(o *versionstest.Options) { o.Wait = -1 }).Start(t)
		shut, open := versionstest.Gate()
		c.Bucket.Set(versionstest.Only("get", func(x versionstest.Call) error {
			if !strings.HasPrefix(x.Name, d.Version) {
				return x.Do()
			}
			_ = shut(x)
			return herb.Errorf(herb.CodeNotFound, "no object %q", x.Name)
		}), nil)
		var asking sync.WaitGroup
		asking.Go(func() { versionstest.WantListed(t, b.Node, ref, 2) })
		versionstest.Pass(3 * time.Second)
		versionstest.PublishAs(t, publisher.Node, ref, 2)
		versionstest.Pass(3 * time.Second)
		open()
		asking.Wait()
	})
}

// TestClose_whileFetching: Close does not wait for a stalled fetch.
func TestClose_whileFetching(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		versionstest.PublishAs(t, c.Node(t, nil).Node, ref, 9)
		b := c.Node(t, nil).Start(t)
		shut, _ := versionstest.Gate()
		c.Bucket.Set(versionstest.Only("get", shut), nil)
		var asking sync.WaitGroup
		asking.Go(func() { wantUnavailable(t, b.Node, ref, "cannot open dataset") })
		versionstest.Pass(2 * time.Second)
		b.Stop()
		asking.Wait()
		if files := b.Files(t); len(files) != 0 || b.Log.Count("level=ERROR") != 0 {
			t.Errorf("left %v and the log\n%s", files, b.Log)
		}
	})
}

func BenchmarkAcquire(b *testing.B) {
	c := versionstest.NewCluster(b)
	for i, l := range []*versionstest.Node{c.Node(b, func(o *versionstest.Options) { o.Blobs = nil }).Node,
		c.Node(b, nil).Node} {
		ref := versionstest.Named(i)
		versionstest.PublishAs(b, l, ref, 5)
		s, err := l.Acquire(b.Context(), ref)
		if err != nil {
			b.Fatal(err)
		}
		s.Release()
		b.Run(fmt.Sprintf("blobs=%t", i == 1), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, err := l.Acquire(b.Context(), ref)
				if err != nil {
					b.Fatal(err)
				}
				s.Release()
			}
		})
	}
}
