//go:build linux

package systemtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"herbarium/bench/gen"
	"herbarium/internal/must"
	"herbarium/internal/testseed"
)

// TestRollingUpgrade replaces the program of three nodes one by one under load, forward and back.
// No listing and no creation fails, and what any program publishes is listed by all.
func TestRollingUpgrade(t *testing.T) {
	if !testseed.Soak() {
		t.Skip("builds several programs; soak runs only (" + testseed.SoakVariable + "=1)")
	}
	for _, upgrade := range []struct {
		name     string
		build    func(*testing.T) (from, to string)
		scopes   []string
		largest  int // records of the largest dataset
		rebuilds bool
	}{
		{"from 0.9.0", func(t *testing.T) (string, string) { return buildEarlier(t, release090), program }, []string{"plants:write", "data:read"}, 50_000, false},
		{"from " + beforeCore, func(t *testing.T) (string, string) { return buildEarlier(t, beforeCore), program }, []string{"plants:write", "data:read", "publish"}, 50_000, false},
		{"to other indexes", func(t *testing.T) (string, string) { return program, buildLater(t) }, []string{"plants:write", "data:read", "publish"}, 50_000, true},
	} {
		t.Run(upgrade.name, func(t *testing.T) {
			from, to := upgrade.build(t)
			c := newClusterOf(t, from, upgrade.scopes...)
			large, err := gen.File(t.Context(), t.TempDir(), testseed.Seed(t), upgrade.largest)
			must.NoError(t, err)
			c.run(t, "publish", large, "--as", "bench/large")
			sources := writeSources(t)
			must.NoError(t, os.Remove(filepath.Join(sources, "garden", "broken.parquet")))
			c.run(t, "publish", sources)
			price := 1
			c.publish(t, at(fmt.Sprint(price)), price)
			for _, n := range c.nodes {
				eventually(t, "the first version is listed", func(ctx context.Context) error { return listsPrices(ctx, n.URL, 100*price, price) })
			}
			r, w, all := c.read(t, at), c.create(t), c.readAll(t)
			for _, program := range []string{to, from} {
				c.program = program
				for i := range c.nodes {
					w.waitFor(t, 20)
					stopNode(t, c.nodes[i])
					c.restart(i)
					eventually(t, "the node is ready", func(ctx context.Context) error {
						_, err := get(ctx, c.nodes[i].URL+"/readyz")
						return err
					})
					price++
					c.publish(t, 100*price, price) // by the program of the node
					for _, n := range c.nodes {
						eventually(t, "the new version is listed", func(ctx context.Context) error { return listsPrices(ctx, n.URL, 100*price, price) })
					}
				}
				t.Logf("all nodes run %s; %d listings so far", program, r.count.Load()+all.count.Load())
			}
			all.end()
			r.end(t)
			w.end(t, c)
			t.Logf("%d listings of all datasets, slowest %s", all.count.Load(), time.Duration(all.slowest.Load()).Round(time.Millisecond))
			if n := w.rejected.Load(); n > 0 {
				t.Errorf("%d creations failed although every node was drained before it stopped", n)
			}
			if upgrade.rebuilds && rebuildsStarted(c.nodes[0]) == 0 {
				t.Error("no index was rebuilt")
			}
		})
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
	paths := []string{"bench/large", "garden/array", "garden/base", "garden/book", "garden/columnar", "garden/lines", "garden/packed", "keyed/catalog", "vault/people"}
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
