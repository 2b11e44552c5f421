package library_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/versions/versionstest"
)

// sizeOf returns the file size of a version.
func sizeOf(t *testing.T, d herb.Dataset) int64 {
	t.Helper()
	if d.File == nil || d.File.Size == 0 || len(d.File.SHA256) != 64 {
		t.Fatalf("version %s has the file %+v", d.Version, d.File)
	}
	return d.File.Size
}

// wantCached checks which versions have a file on a node, and the size of the cache that it evicts
// by.
func wantCached(t *testing.T, n *versionstest.ClusterNode, want ...herb.Dataset) {
	t.Helper()
	versionstest.WantFiles(t, n, want...)
	sum := int64(0)
	for _, size := range n.Files(t) {
		sum += size
	}
	comparisons, err := filepath.Glob(filepath.Join(n.Opts.Dir, "*.comparison"))
	must.NoError(t, err)
	for _, path := range comparisons {
		info, err := os.Stat(path)
		must.NoError(t, err)
		sum += info.Size()
	}
	if n := n.CachedBytes(); n != sum {
		t.Errorf("%d bytes are considered cached; want %d", n, sum)
	}
}

// fill publishes datasets of about the same size, and returns them and the cache size that holds a
// number of them.
func fill(t *testing.T, c *versionstest.Cluster, datasets, room int) (ds []herb.Dataset, size int64) {
	t.Helper()
	publisher := c.Node(t, nil)
	most := int64(0)
	for i := range datasets {
		d := versionstest.PublishAs(t, publisher.Node, versionstest.Named(i), 100+i)
		ds, most = append(ds, d), max(most, sizeOf(t, d))
	}
	return ds, most*int64(room) + most/2
}

// openCached returns a node with a cache of a size, after it has prefetched what fits.
func openCached(t *testing.T, c *versionstest.Cluster, size int64) *versionstest.ClusterNode {
	t.Helper()
	b := c.Node(t, func(o *versionstest.Options) { o.CacheSize = size }).Start(t)
	versionstest.Pass(5 * time.Second)
	return b
}

// TestCache: datasets are prefetched while they fit, the others are fetched on demand and replace
// the least recently used.
func TestCache(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		ds, size := fill(t, c, 5, 3)
		b := openCached(t, c, size)
		wantCached(t, b, ds[0], ds[1], ds[2])
		wantHealth(t, b.Node, library.Health{Open: 3, Cold: 2})
		for _, i := range []int{0, 2} {
			versionstest.WantListed(t, b.Node, versionstest.Named(i), 100+i)
			versionstest.Pass(2 * time.Second)
		}
		versionstest.WantListed(t, b.Node, versionstest.Named(3), 103)
		versionstest.Pass(2 * time.Second)
		wantCached(t, b, ds[0], ds[2], ds[3])
		versionstest.WantListed(t, b.Node, versionstest.Named(1), 101)
		versionstest.Pass(2 * time.Second)
		wantCached(t, b, ds[1], ds[2], ds[3])
		wantHealth(t, b.Node, library.Health{Open: 3, Cold: 2})
		versionstest.WantListed(t, b.Node, versionstest.Named(0), 100)
		fetched := sizeOf(t, ds[0]) + sizeOf(t, ds[1]) + sizeOf(t, ds[2]) + sizeOf(t, ds[3]) + sizeOf(t, ds[1]) +
			sizeOf(t, ds[0])
		if s := b.Statistics(); s.Fetched != 6 || s.FetchedBytes != fetched || s.Evicted != 2 ||
			s.EvictedBytes != sizeOf(t, ds[1])+sizeOf(t, ds[0]) {
			t.Errorf("%+v; want 6 fetches of %d bytes and 2 evictions", s, fetched)
		}
		if b.Log.Count("level=WARN") != 0 {
			t.Errorf("the log has warnings:\n%s", b.Log)
		}
	})
}

// TestCache_inUse: a version in use is not evicted, even beyond the limit, until it is released.
func TestCache_inUse(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		ds, size := fill(t, c, 3, 1)
		b := c.Node(t, func(o *versionstest.Options) { o.CacheSize = size })
		var held []library.View
		for i := range 2 {
			s, err := b.Acquire(t.Context(), versionstest.Named(i))
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, s)
		}
		b.Start(t)
		versionstest.Pass(5 * time.Second)
		wantCached(t, b, ds[0], ds[1])
		if n := b.Log.Count("cache exceeds its limit"); n != 1 {
			t.Errorf("logged %d times that the cache exceeds its limit; want once", n)
		}
		for i, s := range held {
			if n := versionstest.Total(t, s); n != 100+i {
				t.Errorf("%d records in %s", n, s.Ref)
			}
			s.Release()
		}
		versionstest.WantListed(t, b.Node, versionstest.Named(1), 101)
		versionstest.Pass(2 * time.Second)
		wantCached(t, b, ds[1])
	})
}

// TestCache_oldVersionsFirst: versions that are not live are evicted first.
func TestCache_oldVersionsFirst(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		ds, size := fill(t, c, 2, 3)
		b := openCached(t, c, size)
		publisher := c.Node(t, nil)
		second := versionstest.PublishAs(t, publisher.Node, versionstest.Named(0), 99)
		versionstest.Pass(3 * time.Second)
		wantCached(t, b, ds[0], ds[1], second)
		third := versionstest.PublishAs(t, publisher.Node, versionstest.Named(0), 98)
		versionstest.Pass(3 * time.Second)
		wantHealth(t, b.Node, library.Health{Open: 2})
		files := b.Files(t)
		if files[ds[1].Version] == 0 || files[third.Version] == 0 || files[ds[0].Version] != 0 {
			t.Errorf("the files %v are here; want those of both live versions", files)
		}
	})
}

// TestCache_largerThanAll: a dataset that is larger than the cache is served.
func TestCache_largerThanAll(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		ds, _ := fill(t, c, 2, 1)
		b := openCached(t, c, 1)
		wantCached(t, b)
		for range 3 {
			versionstest.WantListed(t, b.Node, versionstest.Named(0), 100)
			versionstest.Pass(3 * time.Second)
			wantCached(t, b, ds[0])
		}
		versionstest.WantListed(t, b.Node, versionstest.Named(1), 101)
		versionstest.Pass(3 * time.Second)
		wantCached(t, b, ds[1])
		if n := b.Log.Count("cache exceeds its limit"); n != 1 {
			t.Errorf("logged %d times that the cache exceeds its limit; want once", n)
		}
		if n := c.Bucket.Count("get"); n != 2 {
			t.Errorf("%d downloads", n)
		}
	})
}

// TestCache_keepsWhatIsNowhereElse: a file that was never uploaded is not evicted, and neither is
// an open version whose successor cannot be fetched.
func TestCache_keepsWhatIsNowhereElse(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		b := c.Node(t, func(o *versionstest.Options) { o.Blobs = nil })
		own := versionstest.PublishAs(t, b.Node, versionstest.Named(8), 100) // before it became a node of a cluster
		own2 := versionstest.PublishAs(t, b.Node, versionstest.Named(8), 100)
		b.Stop()
		ds, size := fill(t, c, 3, 3)
		b.Opts.Blobs, b.Opts.CacheSize = c.Bucket, size
		b.Open(t)
		b.Start(t)
		versionstest.Pass(3 * time.Second)
		versionstest.WantListed(t, b.Node, versionstest.Named(8), 100)
		versionstest.WantListed(t, b.Node, versionstest.Named(0), 100)
		versionstest.Pass(3 * time.Second)
		wantCached(t, b, own, own2, ds[0])

		publisher := c.Node(t, nil)
		d := versionstest.PublishAs(t, publisher.Node, versionstest.Named(0), 300)
		c.Bucket.Set(versionstest.Only("get", func(x versionstest.Call) error {
			if x.Name == d.Version+".segment" {
				return versionstest.ErrStore
			}
			return x.Do()
		}), nil)
		versionstest.Pass(3 * time.Second)
		for range 3 {
			versionstest.WantListed(t, b.Node, versionstest.Named(1), 101)
			versionstest.WantListed(t, b.Node, versionstest.Named(2), 102)
			versionstest.Pass(3 * time.Second)
		}
		versionstest.WantListed(t, b.Node, versionstest.Named(0), 100)
		for _, d := range []herb.Dataset{own, own2, ds[0]} {
			if files := b.Files(t); files[d.Version] == 0 {
				t.Errorf("the file of %s is gone; there are %v", d.Version, files)
			}
		}
	})
}

// TestCache_holdsAreGivenBack: a request that leaves before its fetch ends holds no reference
// afterwards.
func TestCache_holdsAreGivenBack(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		const datasets = 12
		fill(t, c, datasets, 1)
		b := c.Node(t, func(o *versionstest.Options) { o.CacheSize, o.Wait = 1, 5*time.Second })
		c.Bucket.Set(versionstest.Only("get", func(x versionstest.Call) error {
			time.Sleep(5 * time.Second)
			return x.Do()
		}), nil)
		came := 0
		for i := range datasets {
			if s, err := b.Acquire(t.Context(), versionstest.Named(i)); err == nil {
				came++
				s.Release()
			}
		}
		t.Logf("%d of %d came in time", came, datasets)
		b.Start(t)
		versionstest.Pass(3 * time.Second)
		if files := b.Files(t); len(files) != 1 {
			t.Errorf("%d files cannot be removed; %v", len(files), files)
		}
	})
}

// TestCache_afterRestart: files of an earlier run count and are evicted.
func TestCache_afterRestart(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		ds, size := fill(t, c, 4, 1)
		b := c.Node(t, nil).Start(t)
		versionstest.Pass(3 * time.Second)
		second := versionstest.PublishAs(t, c.Node(t, nil).Node, versionstest.Named(0), 100)
		versionstest.Pass(3 * time.Second)
		wantCached(t, b, append(ds, second)...)
		b.Opts.CacheSize = size
		b.Restart(t)
		b.Start(t)
		versionstest.Pass(10 * time.Second)
		if files := b.Files(t); len(files) != 1 || files[ds[0].Version] != 0 {
			t.Errorf("the files %v are here; want that of one live version", files)
		}
		for i, n := range []int{100, 101, 102, 103} {
			versionstest.WantListed(t, b.Node, versionstest.Named(i), n)
		}
	})
}

// TestCache_race lists continuously on nodes with a small cache while versions are published,
// rolled back and collected.
func TestCache_race(t *testing.T) {
	t.Parallel()
	c := versionstest.NewCluster(t)
	const datasets = 4
	publisher := c.Node(t, func(o *versionstest.Options) { o.CacheSize, o.Keep = 1, 2 })
	for i := range datasets {
		versionstest.PublishAs(t, publisher.Node, versionstest.Named(i), 10)
	}
	var readers sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for range 2 {
		b := c.Node(t, func(o *versionstest.Options) { o.CacheSize, o.Wait = 5000, -1 }).Start(t)
		for range 3 {
			readers.Go(func() {
				for ctx.Err() == nil {
					if err := readOne(ctx, b.Node, versionstest.Named(rand.N(datasets))); err != nil &&
						ctx.Err() == nil {
						t.Error(err)
						return
					}
				}
			})
		}
		readers.Go(func() {
			for ctx.Err() == nil {
				if err := errors.Join(b.Refresh(ctx), b.Collect(ctx)); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
				b.Health()
			}
		})
	}
	for n := range 40 {
		versionstest.PublishAs(t, publisher.Node, versionstest.Named(n%datasets), 10+n)
		if n%10 == 9 {
			if _, err := publisher.Rollback(t.Context(), versionstest.Named(n%datasets), ""); err != nil {
				t.Error(err)
			}
		}
	}
	stop()
	readers.Wait()
	c.WantWhole(t)
}

// readOne lists a dataset and compares its total with its description.
func readOne(ctx context.Context, l *versionstest.Node, ref herb.Ref) error {
	s, err := l.Acquire(ctx, ref)
	if err != nil {
		return err
	}
	defer s.Release()
	r, err := query.Parse("per_page=1", s.Fields)
	if err != nil {
		return err
	}
	page, err := s.List(ctx, r)
	if err == nil && page.Total != s.Records {
		err = fmt.Errorf("version %s lists %d records; it has %d", s.Version, page.Total, s.Records)
	}
	return err
}
