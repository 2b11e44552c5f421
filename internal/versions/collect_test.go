package versions_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/testseed"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

func collect(t *testing.T, nodes ...*versionstest.ClusterNode) {
	t.Helper()
	for _, n := range nodes {
		if err := n.Collect(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// wantObjects checks which versions have an object.
func wantObjects(t *testing.T, c *versionstest.Cluster, want ...string) {
	t.Helper()
	want = slices.Sorted(slices.Values(want))
	if got := c.Bucket.Versions(t); !slices.Equal(want, got) {
		t.Errorf("there are objects of %v; want %v", got, want)
	}
}

// TestCollect_retention: objects of versions that left the catalogue are deleted after the
// retention, not earlier and not much later.
func TestCollect_retention(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		n := c.Node(t, func(o *versionstest.Options) { o.Keep, o.Retention = 2, 3*time.Hour })
		var versions []string
		for i := range 3 {
			versions = append(versions, versionstest.PublishAs(t, n.Node, ref, i+1).Version)
		}
		other := versionstest.PublishAs(t, n.Node, versionstest.Named(1), 1).Version
		versionstest.Pass(3*time.Hour - time.Second)
		collect(t, n)
		wantObjects(t, c, append(versions, other)...)
		if c.Bucket.Count("abort 24h0m0s") != 1 {
			t.Error("unfinished uploads were not aborted")
		}
		versionstest.Pass(time.Second)
		collect(t, n)
		wantObjects(t, c, versions[1], versions[2], other)

		if _, err := n.Rollback(t.Context(), ref, ""); err != nil { // versions that were rolled back are kept
			t.Error(err)
		}
		versionstest.Pass(100 * time.Hour)
		collect(t, n)
		wantObjects(t, c, versions[1], versions[2], other)

		if err := n.Remove(t.Context(), ref, ""); err != nil {
			t.Error(err)
		}
		versionstest.Pass(3*time.Hour - time.Second)
		collect(t, n)
		wantObjects(t, c, versions[1], versions[2], other)
		versionstest.Pass(time.Second)
		collect(t, n, n)
		wantObjects(t, c, other)

		retired, err := c.DB.Retired(t.Context())
		if err != nil || len(retired) != 3 {
			t.Errorf("%v are retired, %v; want them not forgotten at once", retired, err)
		}
		versionstest.Pass(31 * 24 * time.Hour)
		collect(t, n)
		retired, err = c.DB.Retired(t.Context())
		if err != nil || len(retired) != 0 {
			t.Errorf("%v are retired, %v; want them forgotten", retired, err)
		}
		c.WantWhole(t)
	})
}

// TestCollect_unknownObjects: an object that is not in the catalogue may belong to a running
// publish for a day. Objects that are not files of versions are not touched.
func TestCollect_unknownObjects(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		n := c.Node(t, func(o *versionstest.Options) { o.Retention = time.Hour })
		live := versionstest.PublishAs(t, n.Node, ref, 1).Version
		const lost = "19990101T000000Z-abcdefghij"
		others := []string{"notes.txt", "notes.segment", "19990101T000000Z-ABCDEFGHIJ.segment", "x-abcdefghij.segment"}
		for _, name := range append(others, lost+".segment") {
			if err := os.WriteFile(filepath.Join(c.Bucket.Dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			c.Bucket.Modified[name] = time.Now()
		}
		there := func() bool { return slices.Contains(c.Bucket.Versions(t), lost) }
		versionstest.Pass(24*time.Hour - time.Second)
		collect(t, n)
		versionstest.Pass(59 * time.Minute) // it was not retired then
		collect(t, n)                       // but now
		versionstest.Pass(59 * time.Minute)
		collect(t, n)
		if !there() {
			t.Error("it was removed before it was retired for an hour")
		}
		versionstest.Pass(time.Minute)
		collect(t, n)
		if there() {
			t.Error("it is still there")
		}
		for _, name := range others {
			if _, err := os.Stat(filepath.Join(c.Bucket.Dir, name)); err != nil {
				t.Errorf("an object of another program was deleted: %v", err)
			}
		}
		if !slices.Contains(c.Bucket.Versions(t), live) {
			t.Error("the live version is gone")
		}
	})
}

// TestCollect_publishUnderWay: a publish that takes too long between upload and commit fails,
// regardless of when others collect; it does not make a version live whose file is gone.
func TestCollect_publishUnderWay(t *testing.T) {
	t.Parallel()
	for _, sleeps := range []time.Duration{time.Hour, 23 * time.Hour, 25 * time.Hour, 49 * time.Hour,
		20 * 24 * time.Hour} {
		t.Run(sleeps.String(), func(t *testing.T) {
			t.Parallel()
			versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
				a, b := c.Node(t, nil), c.Node(t, nil)
				versionstest.PublishAs(t, a.Node, ref, 1)
				faulty := &faultyCatalogue{Catalogue: c.DB, add: func(do func() error) error {
					for slept := time.Duration(0); slept < sleeps; slept += time.Hour {
						time.Sleep(time.Hour)
						collect(t, a, b)
					}
					return do()
				}}
				slow, err := versionstest.Open(faulty, versionstest.Options{Dir: t.TempDir(), Blobs: c.Bucket})
				if err != nil {
					t.Fatal(err)
				}
				defer slow.Close()
				_, err = slow.Publish(t.Context(), versionstest.Publication(2))
				if late := sleeps > 24*time.Hour; (herb.CodeOf(err) == herb.CodeUnavailable) != late ||
					err != nil != late {
					t.Errorf("after %s: %v", sleeps, err)
				}
				c.WantWhole(t)
				want := 2
				if err != nil {
					want = 1
				}
				versionstest.WantListed(t, a.Node, ref, want)
				versionstest.WantListed(t, b.Node, ref, want)
				wantCollected(t, c, a)
			})
		})
	}
}

// TestCollect_nodeBehind: a node that still fetches a version after newer ones went live gets it.
func TestCollect_nodeBehind(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		publisher := c.Node(t, func(o *versionstest.Options) { o.Keep = 1 })
		versionstest.PublishAs(t, publisher.Node, ref, 1)
		b := c.Node(t, func(o *versionstest.Options) { o.Wait = -1 })
		c.Bucket.Set(versionstest.Only("get", func(x versionstest.Call) error {
			time.Sleep(20 * time.Second)
			return x.Do()
		}), nil)
		var asking sync.WaitGroup
		asking.Go(func() { versionstest.WantListed(t, b.Node, ref, 1) })
		versionstest.Pass(time.Second)
		for n := range 5 {
			versionstest.PublishAs(t, publisher.Node, ref, 2+n)
			collect(t, publisher)
			versionstest.Pass(time.Second)
		}
		asking.Wait()
		c.Bucket.Set(nil, nil)
		if err := b.Refresh(t.Context()); err != nil {
			t.Error(err)
		}
		versionstest.Pass(0)
		versionstest.WantListed(t, b.Node, ref, 6)
		wantCollected(t, c, publisher)
	})
}

// TestCollect_fails: a failed collection returns an error and can be repeated.
func TestCollect_fails(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"list", "delete"} {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
				n := c.Node(t, func(o *versionstest.Options) { o.Keep = 1 })
				versionstest.PublishAs(t, n.Node, ref, 1)
				versionstest.PublishAs(t, n.Node, ref, 2)
				versionstest.Pass(25 * time.Hour)
				c.Bucket.Set(versionstest.Only(op, versionstest.Away), nil)
				if err := n.Collect(t.Context()); !errors.Is(err, versionstest.ErrStore) {
					t.Errorf("got %v", err)
				}
				if len(c.Bucket.Versions(t)) != 2 {
					t.Errorf("objects %v are left", c.Bucket.Versions(t))
				}
				c.Bucket.Set(nil, nil)
				wantCollected(t, c, n)
			})
		})
	}
}

// TestCollect_anyOrder has nodes publish, roll back, remove and collect concurrently in random
// order, with failing operations, while time passes. No version in the catalogue ever lacks its
// object.
func TestCollect_anyOrder(t *testing.T) {
	t.Parallel()
	for i := range uint64(4) {
		seed := testseed.Seed(t) + i
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
				anyOrder(t, c, rand.New(rand.NewPCG(seed, 0)))
			})
		})
	}
}

func anyOrder(t *testing.T, c *versionstest.Cluster, r *rand.Rand) {
	retention := func(o *versionstest.Options) { o.Keep, o.Retention = 2, 2*time.Hour }
	nodes := []*versionstest.ClusterNode{c.Node(t, retention), c.Node(t, retention), c.Node(t, retention)}
	var mu sync.Mutex
	faults := rand.New(rand.NewPCG(r.Uint64(), 0)) // the store is used by several goroutines
	draw := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return faults.IntN(n)
	}
	c.Bucket.Set(func(x versionstest.Call) error {
		switch time.Sleep(time.Duration(draw(3)) * time.Second); draw(20) {
		case 0:
			return versionstest.ErrStore
		case 1:
			return errors.Join(x.Do(), versionstest.ErrStore)
		}
		return x.Do()
	}, nil)
	step := func(n *versionstest.ClusterNode, op, dataset, records int) {
		ctx := context.Background()
		switch ref := versionstest.Named(dataset); op {
		case 0:
			_, _ = n.Rollback(ctx, ref, "")
		case 1:
			_ = n.Remove(ctx, ref, "")
		case 2, 3:
			_ = n.Collect(ctx)
		default:
			_, _ = n.Publish(ctx, versions.Publication{
				Dataset: herb.Dataset{Ref: ref, Fields: fields}, Records: versionstest.Numbers(records, nil),
				PublishOptions: versions.PublishOptions{Consents: []herb.Consent{herb.ConsentBreaking}},
			})
		}
		c.WantWhole(t)
	}
	for range 25 {
		var working sync.WaitGroup
		for _, n := range nodes {
			op, dataset, records := r.IntN(9), r.IntN(2), 1+r.IntN(5)
			working.Go(func() { step(n, op, dataset, records) })
		}
		working.Wait()
		versionstest.Pass(time.Duration(r.IntN(60)) * time.Minute)
	}
	c.Bucket.Set(nil, nil)
	for _, n := range nodes {
		if part := n.Log.Count("level=ERROR"); part > 0 && !strings.Contains(n.Log.String(), "object store is down") {
			t.Errorf("logged:\n%s", n.Log)
		}
	}
	wantCollected(t, c, nodes[0])
}
