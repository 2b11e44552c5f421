//go:build linux

package systemtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"herbarium/bench/gen"
	"herbarium/internal/must"
	"herbarium/internal/testseed"
)

// TestRollingUpgrade replaces the program of three nodes one by one under load, as the steps in
// docs/operations.md say: the next node once GET /readyz of the last one returns 200. No listing
// and no creation fails, and one node rebuilds an index for all. Soak runs have large datasets, and
// earlier releases.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	records := 20_000
	if testseed.Soak() {
		records = 1_000_000
	}
	toLater := func(t *testing.T) (string, string) { return program, buildLater(t) }
	earlier := func(commit string) func(*testing.T) (string, string) {
		return func(t *testing.T) (string, string) { return buildEarlier(t, commit), program }
	}
	scopes := []string{"plants:write", "data:read", "publish"}
	for _, u := range []rollingUpgrade{
		{name: "to other indexes, without the step upgrade", programs: toLater, scopes: scopes, always: true},
		{name: "to other indexes", programs: toLater, scopes: scopes, prepares: true, mixes: true},
		{name: "from " + beforeCore, programs: earlier(beforeCore), scopes: scopes, prepares: true, mixes: true},
		{name: "from 0.9.0", programs: earlier(release090), scopes: scopes[:2], prepares: true},
	} {
		if !u.always && !testseed.Soak() {
			continue
		}
		u.records = records
		t.Run(u.name, u.test) // one after the other: the nodes of one need all processors
	}
}

// rollingUpgrade is an upgrade of a cluster.
type rollingUpgrade struct {
	name     string
	programs func(*testing.T) (from, to string)
	scopes   []string // of the key of the clients
	records  int      // of the largest dataset
	always   bool     // not in soak runs only
	prepares bool     // herbarium upgrade is run before
	// both releases list what the other one publishes: they publish meanwhile, and the upgrade is
	// undone
	mixes bool
}

func (u *rollingUpgrade) test(t *testing.T) {
	from, to := u.programs(t)
	c := newClusterOf(t, from, u.scopes...)
	large, err := gen.File(t.Context(), t.TempDir(), testseed.Seed(t), u.records)
	must.NoError(t, err)
	c.run(t, "publish", large, "--as", "bench/large")
	sources := writeSources(t)
	must.NoError(t, os.Remove(filepath.Join(sources, "garden", "broken.parquet")))
	c.run(t, "publish", sources)
	price := 1
	publish := func() {
		t.Helper()
		c.publish(t, at(fmt.Sprint(price)), price)
		for _, n := range c.nodes {
			eventually(t, "the new version is listed", func(ctx context.Context) error {
				return listsPrices(ctx, n.URL, 100*price, price)
			})
		}
	}
	publish()
	r, w, all := c.read(t, at), c.create(t), c.readAll(t)
	replaceAll := func(program string) {
		t.Helper()
		c.program = program
		rebuilt := 0
		for i := range c.nodes {
			w.waitFor(t, 20)
			stopNode(t, c.nodes[i])
			c.restart(i)
			eventually(t, "the node is ready", func(ctx context.Context) error {
				_, err := get(ctx, c.nodes[i].URL+"/readyz")
				return err
			})
			if u.mixes {
				price++
				publish() // by the program of the node
			}
		}
		for _, n := range c.nodes {
			for line := range strings.Lines(n.Output()) {
				if strings.Contains(line, "rebuilding index of another release") &&
					strings.Contains(line, "bench/large") {
					rebuilt++
				}
			}
		}
		want := 0
		if program == to && !u.prepares {
			want = 1
		}
		if rebuilt != want {
			t.Errorf("the nodes have rebuilt the largest dataset %d times, want %d", rebuilt, want)
		}
		t.Logf("all nodes run %s; %d listings so far", program, r.count.Load()+all.count.Load())
	}
	if u.prepares {
		c.program = to
		c.run(t, "upgrade")
	}
	replaceAll(to)
	if u.mixes {
		replaceAll(from)
	} else {
		price++
		publish()
	}
	all.end()
	r.end(t)
	w.end(t, c)
	t.Logf("%d listings of all datasets, slowest %s", all.count.Load(),
		time.Duration(all.slowest.Load()).Round(time.Millisecond))
	if n := w.rejected.Load(); n > 0 {
		t.Errorf("%d creations failed although every node was drained before it stopped", n)
	}
}

// allReaders list all datasets through the proxy until they are stopped.
type allReaders struct {
	clients
	slowest atomic.Int64 // in nanoseconds
}

func (c *cluster) readAll(t *testing.T) *allReaders {
	t.Helper()
	r := &allReaders{}
	paths := []string{"bench/large", "garden/array", "garden/base", "garden/book", "garden/columnar", "garden/lines",
		"garden/packed", "keyed/catalog", "vault/people"}
	var next atomic.Int64
	r.run(t, func(ctx context.Context) bool {
		path := c.proxy + "/api/v1/" + paths[int(next.Add(1))%len(paths)] + "/data?search=r*&per_page=5"
		began := time.Now()
		if _, err := get(context.WithoutCancel(ctx), path, "X-API-Key", c.token); err != nil {
			t.Errorf("a listing failed: %v", err)
			return false
		}
		if took := int64(time.Since(began)); took > r.slowest.Load() {
			r.slowest.Store(took)
		}
		return true
	})
	return r
}
