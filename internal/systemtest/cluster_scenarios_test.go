//go:build linux

package systemtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"herbarium/internal/programtest"
)

// stopNode stops a node and expects that it ends in order.
func stopNode(t *testing.T, n *node) {
	t.Helper()
	if err := n.Stop(); err != nil {
		t.Error(err)
	}
}

// TestCluster runs all scenarios one after the other in one cluster, because starting a cluster
// takes a while.
func TestCluster(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for _, scenario := range []struct {
		name string
		play func(*testing.T, *cluster)
	}{
		{"a plant created on one node is in the next listing of any node", createAndList},
		{"a key works, and a revoked one is rejected, at once on all nodes", keys},
		{"publishing during load fails no request", publishDuringLoad},
		{"a rollback and a removal reach all nodes", rollback},
		{"two publishers at once", twoPublishers},
		{"a file that is sent to one node is live on all nodes", publishOverHTTP},
		{"files that are sent to all nodes at once", concurrentPuts},
		{"a new node lists at once what it has to fetch", newNode},
		{"a node is killed", killNode},
		{"a node hangs", hangNode},
		{"nodes are restarted one after the other", rollingRestart},
		{"the object store is cut", cutObjectStore},
		{"the database is frozen", freezeDatabase},
		{"a node starts while the database is frozen", startFrozen},
		{"the primary is killed and the standby promoted", failover},
	} {
		if !t.Run(scenario.name, func(t *testing.T) { scenario.play(t, c) }) {
			return // later scenarios would fail for the same reason
		}
	}
}

func createAndList(t *testing.T, c *cluster) {
	for i := range 30 {
		id := ids.Add(1)
		creator := c.nodes[i%len(c.nodes)]
		body := fmt.Sprintf(`{"id":%d,"name":"plant %d"}`, id, id)
		a, err := post(t.Context(), creator.URL, c.token, body)
		if err != nil || a.Status != http.StatusOK {
			t.Fatalf("creating: %v %d %s", err, a.Status, a.Body)
		}
		for _, n := range c.nodes {
			p, err := list(t.Context(), n.URL, "store/plants", fmt.Sprintf("id=%d", id))
			if err != nil || p.Meta.Total != 1 {
				t.Fatalf("plant %d of %s on %s: %v, total %d", id, creator.Addr(), n.Addr(), err, p.Meta.Total)
			}
			p, err = list(t.Context(), n.URL, "store/plants", "")
			if err != nil || p.Meta.Total != i+1 {
				t.Fatalf("%s: %v, %d plants, want %d", n.Addr(), err, p.Meta.Total, i+1)
			}
		}
	}
}

func keys(t *testing.T, c *cluster) {
	secret := strings.TrimSpace(c.run(t, "keys", "create", "--name", "short-lived", "--scope", "plants:write"))
	status := func(n *node) int {
		a, err := post(t.Context(), n.URL, secret, "no plant")
		if err != nil {
			t.Fatal(err)
		}
		return a.Status
	}
	for _, n := range c.nodes {
		if got := status(n); got != http.StatusBadRequest { // the key was accepted, the body was not
			t.Errorf("%s answers %d to a new key", n.Addr(), got)
		}
	}
	c.run(t, "keys", "revoke", "short-lived")
	for _, n := range c.nodes {
		if got := status(n); got != http.StatusUnauthorized {
			t.Errorf("%s answers %d to a revoked key", n.Addr(), got)
		}
	}
}

// at returns the number of records that tests publish with a price.
func at(price string) int {
	var p int
	_, _ = fmt.Sscan(price, &p) // zero if it is not a number
	return 100 * p
}

func publishDuringLoad(t *testing.T, c *cluster) {
	c.publish(t, at("1"), 1)
	for _, n := range c.nodes {
		eventually(t, "the first version is listed", func(ctx context.Context) error {
			return listsPrices(ctx, n.URL, at("1"), 1)
		})
	}
	r := c.read(t, at)
	for price := 2; price <= 5; price++ {
		c.publish(t, 100*price, price)
		published := time.Now()
		for _, n := range c.nodes {
			eventually(t, "the new version is listed", func(ctx context.Context) error {
				return listsPrices(ctx, n.URL, 100*price, price)
			})
		}
		t.Logf("all nodes list version %d %s after the publish", price, time.Since(published).Round(time.Millisecond))
	}
	r.end(t)
}

func rollback(t *testing.T, c *cluster) {
	c.run(t, "datasets", "rollback", dataset)
	for _, n := range c.nodes {
		eventually(t, "the version before is listed", func(ctx context.Context) error {
			return listsPrices(ctx, n.URL, at("4"), 4)
		})
	}
	c.run(t, "publish", prices(t, 3, 9), "--as", "garden/gone")
	for _, n := range c.nodes {
		eventually(t, "another dataset is listed", func(ctx context.Context) error {
			_, err := list(ctx, n.URL, "garden/gone", "")
			return err
		})
	}
	findings := c.run(t, "doctor", "--addr", "127.0.0.1:0")
	for _, want := range []string{"ok   database         PostgreSQL ", "ok   catalogue        2 ",
		"ok   object store     wrote, read, listed and deleted"} {
		if !strings.Contains(findings, want) {
			t.Errorf("doctor does not report %q:\n%s", want, findings)
		}
	}
	c.run(t, "datasets", "remove", "garden/gone", "--yes")
	for _, n := range c.nodes {
		eventually(t, "it is not listed any more", func(ctx context.Context) error {
			a, err := programtest.Send(ctx, client, http.MethodGet, n.URL+"/api/v1/garden/gone/data", "")
			if err == nil && a.Status != http.StatusNotFound {
				err = fmt.Errorf("%d", a.Status)
			}
			return err
		})
	}
}

func twoPublishers(t *testing.T, c *cluster) {
	r := c.read(t, at)
	var publishing sync.WaitGroup
	for price := 6; price <= 7; price++ {
		file := prices(t, 100*price, price)
		publishing.Go(func() {
			if _, errs, err := c.try(t, "publish", file, "--as", dataset, "--allow-breaking"); err != nil {
				t.Errorf("publishing %d: %v\n%s", price, err, errs)
			}
		})
	}
	publishing.Wait()
	live, err := list(t.Context(), c.nodes[0].URL, dataset, "")
	eventually(t, "all nodes list the same, one of the two", func(ctx context.Context) error {
		live, err = list(ctx, c.nodes[0].URL, dataset, "")
		if err != nil {
			return err
		}
		price := 6
		if live.Meta.Total == at("7") {
			price = 7
		}
		for _, n := range c.nodes {
			if err := listsPrices(ctx, n.URL, 100*price, price); err != nil {
				return err
			}
		}
		return nil
	})
	r.end(t)
	history := c.run(t, "datasets", "history", dataset)
	for _, records := range []string{"600", "700"} {
		if !strings.Contains(history, records) {
			t.Errorf("the history lacks a version of %s records:\n%s", records, history)
		}
	}
	c.publish(t, at("8"), 8) // so that the following scenarios know the live version
	for _, n := range c.nodes {
		eventually(t, "the next version is listed", func(ctx context.Context) error {
			return listsPrices(ctx, n.URL, at("8"), 8)
		})
	}
}

func newNode(t *testing.T, c *cluster) {
	n := c.startNode(t, "127.0.0.1:0", t.TempDir())
	var asking sync.WaitGroup
	for range 50 {
		asking.Go(func() {
			if err := listsPrices(t.Context(), n.URL, at("8"), 8); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	stopNode(t, n)
}

func killNode(t *testing.T, c *cluster) {
	r, w := c.read(t, at), c.create(t)
	w.waitFor(t, 20)
	c.startLongPublish(t)
	c.nodes[0].Kill()
	w.waitFor(t, 50)
	c.expectOtherNodes(t)
	c.restart(0)
	w.waitFor(t, 50)
	r.end(t)
	w.end(t, c)
}

// hangNode suspends a node, which then neither answers nor closes connections. Listings and
// creations continue through the proxy, and all end while the node hangs.
func hangNode(t *testing.T, c *cluster) {
	r, w := c.read(t, at), c.create(t)
	w.waitFor(t, 20)
	last := c.nodes[2] // no other scenario before stops it
	if err := last.Freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.haproxy.WaitForOutput(t.Context(), "(node3 is DOWN)"); err != nil {
		t.Fatal(err)
	}
	w.waitFor(t, 50)
	r.end(t)
	w.clients.end()
	if err := last.SignalTree(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	w.end(t, c)
}

func rollingRestart(t *testing.T, c *cluster) {
	r, w := c.read(t, at), c.create(t)
	for i := range c.nodes {
		w.waitFor(t, 20)
		stopNode(t, c.nodes[i])
		c.restart(i)
		eventually(t, "the node lists again", func(ctx context.Context) error { // before the next node is stopped
			return listsPrices(ctx, c.nodes[i].URL, at("8"), 8)
		})
	}
	r.end(t)
	w.end(t, c)
	if n := w.rejected.Load(); n > 0 {
		t.Errorf("%d creations failed although every node was drained before it stopped", n)
	}
}

// parts returns the status of a node and its unavailable dependencies.
func parts(ctx context.Context, n *node) (status string, faults map[string]string, err error) {
	a, err := get(ctx, n.URL+"/readyz")
	if err != nil {
		return "", nil, err
	}
	var state struct {
		Status string
		Parts  map[string]string
	}
	if err := json.Unmarshal([]byte(a.Body), &state); err != nil {
		return "", nil, err
	}
	for name, is := range state.Parts {
		if is == "ok" {
			delete(state.Parts, name)
		}
	}
	return state.Status, state.Parts, nil
}

// waitLost waits until all nodes report that a dependency is unavailable, and are still ready.
func (c *cluster) waitLost(t *testing.T, part string) {
	t.Helper()
	for _, n := range c.nodes {
		eventually(t, "the node says that it misses the "+part, func(ctx context.Context) error {
			status, faults, err := parts(ctx, n)
			if err == nil && (status != "degraded" || faults[part] == "") {
				err = fmt.Errorf("it is %s: %v", status, faults)
			}
			return err
		})
	}
}

// waitWell waits until all nodes report that all dependencies are available.
func (c *cluster) waitWell(t *testing.T) {
	t.Helper()
	for _, n := range c.nodes {
		eventually(t, "the node is well again", func(ctx context.Context) error {
			status, faults, err := parts(ctx, n)
			if err == nil && status != "ready" {
				err = fmt.Errorf("it is %s: %v", status, faults)
			}
			return err
		})
	}
}

func cutObjectStore(t *testing.T, c *cluster) {
	r, w := c.read(t, at), c.create(t)
	c.s3.Stop(t)
	c.waitLost(t, "object store")
	w.waitFor(t, 20)
	if _, errs, err := c.try(t, "publish", prices(t, at("9"), 9), "--as", dataset, "--allow-breaking"); err == nil ||
		!strings.Contains(errs, "object store") {
		t.Errorf("publishing without the object store: %v\n%s", err, errs)
	}
	c.s3.Start(t)
	c.waitWell(t)
	c.publish(t, at("9"), 9)
	for _, n := range c.nodes {
		eventually(t, "the new version is listed", func(ctx context.Context) error {
			return listsPrices(ctx, n.URL, at("9"), 9)
		})
	}
	r.end(t)
	w.end(t, c)
}

func freezeDatabase(t *testing.T, c *cluster) {
	r, w := c.read(t, at), c.create(t)
	w.waitFor(t, 20)
	c.db.Freeze(t)
	c.waitLost(t, "database")
	body := fmt.Sprintf(`{"id":%d,"name":"too early"}`, ids.Add(1))
	began := time.Now()
	a, err := post(t.Context(), c.nodes[0].URL, c.token, body)
	if err != nil || a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
		t.Errorf("creating without the database: %v %d %v %s", err, a.Status, a.Header, a.Body)
	}
	t.Logf("a creation is rejected after %s", time.Since(began).Round(time.Millisecond))
	for _, path := range []string{"/api/v1", "/", "/openapi.json", "/api/v1/" + dataset, "/healthz"} {
		if _, err := get(t.Context(), c.proxy+path); err != nil {
			t.Errorf("without the database: %v", err)
		}
	}
	a, err = programtest.Send(t.Context(), client, http.MethodGet, c.nodes[0].URL+"/api/v1/store/plants/data", "")
	if err != nil || a.Status != http.StatusServiceUnavailable {
		t.Errorf("plants without the database: %v %d %s", err, a.Status, a.Body)
	}
	c.db.Thaw(t)
	c.waitWell(t)
	w.waitFor(t, 20)
	r.end(t)
	w.end(t, c)
}

func startFrozen(t *testing.T, c *cluster) {
	stopNode(t, c.nodes[1])
	c.db.Freeze(t)
	c.restart(1)
	eventually(t, "it lists what it has", func(ctx context.Context) error {
		return listsPrices(ctx, c.nodes[1].URL, at("9"), 9)
	})
	c.db.Thaw(t)
	c.waitWell(t)
	if _, err := list(t.Context(), c.nodes[1].URL, "store/plants", ""); err != nil {
		t.Error(err)
	}
}

func failover(t *testing.T, c *cluster) {
	r, w := c.read(t, at), c.create(t)
	w.waitFor(t, 50)
	c.db.Kill(t)
	c.waitLost(t, "database")
	c.standby.Promote(t)
	promoted := time.Now()
	w.waitFor(t, 1)
	t.Logf("the first plant is created %s after the promotion", time.Since(promoted).Round(time.Millisecond))
	w.waitFor(t, 50)
	c.waitWell(t)
	r.end(t)
	w.end(t, c)
	c.publish(t, at("10"), 10)
	for _, n := range c.nodes {
		eventually(t, "what is published afterwards is listed", func(ctx context.Context) error {
			return listsPrices(ctx, n.URL, at("10"), 10)
		})
	}
}
