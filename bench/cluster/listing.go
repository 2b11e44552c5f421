//go:build linux

package main

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"herbarium/bench/internal/load"
	"herbarium/bench/shapes"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
	"herbarium/internal/query"
)

// listed are the shapes that are measured: no work, a filter with a sort, a search.
var listed = []string{"first", "category-sort", "two-words"}

// manyConns is the number of connections that keep the nodes busy.
const manyConns = 16

// sample collects the measurements of one variant.
type sample struct {
	load.Result
	cpu      time.Duration
	database time.Duration
}

func (s *sample) measure() measurement {
	n := max(1, s.Requests())
	return measurement{
		Requests: s.Requests(), P50: s.Latency.Quantile(0.50), P99: s.Latency.Quantile(0.99), Rate: s.Rate(),
		CPU: s.cpu / time.Duration(n),
	}
}

// perRequest returns the processor time of the database for one request.
func (s *sample) perRequest() time.Duration { return s.database / time.Duration(max(1, s.Requests())) }

// open opens connections and uses each of them.
func open(t testing.TB, o load.Options) *load.Client {
	t.Helper()
	client, err := load.Open(t.Context(), o)
	must.NoError(t, err)
	must.NoError(t, client.Warm(t.Context()))
	return client
}

// slice returns how long one variant is measured at a time.
func (s settings) slice() time.Duration {
	return time.Duration(s.seconds / turns * float64(time.Second))
}

// measureListings lists from one, two and three nodes in turns.
func (c *cluster) measureListings(t testing.TB, into *figures) {
	polls := c.watch(t)
	for _, shape := range shapes.All() {
		if !slices.Contains(listed, shape.Name) {
			continue
		}
		t.Logf("listing: %s", shape.Title)
		total := c.total(t, c.nodes[0], shape.Query)
		raw := shape.Raw(total)
		samples := make([]sample, maxNodes)
		clients := make([]*load.Client, maxNodes)
		for i := range clients {
			clients[i] = open(t, load.Options{Addrs: c.addrs(i + 1), Target: listPath + "?" + raw, Conns: manyConns})
		}
		for range turns {
			for i := range samples {
				samples[i].database -= c.backendCPU(t)
				samples[i].cpu -= c.nodeCPU(t)
				r, err := clients[i].Run(t.Context(), c.slice())
				must.NoError(t, err)
				samples[i].cpu += c.nodeCPU(t)
				samples[i].database += c.backendCPU(t)
				samples[i].Merge(r)
			}
		}
		for i := range samples {
			clients[i].Close()
			s := &samples[i]
			polls.requests += s.Requests()
			into.Listings = append(into.Listings, nodesListing{
				Name: shape.Name, Title: shape.Title, Query: raw, Total: total, Nodes: i + 1,
				Answers: s.measure(), Bytes: s.Bytes / int64(max(1, s.Requests())), Database: s.perRequest(),
			})
		}
	}
	into.Listing = polls.end(t)
}

// measureIdle measures nodes without requests.
func (c *cluster) measureIdle(t testing.TB, into *figures) {
	t.Log("idle")
	polls := c.watch(t)
	time.Sleep(c.idle)
	into.Idle = polls.end(t)
}

// watch starts measuring the load of the nodes on the database.
func (c *cluster) watch(t testing.TB) *watched {
	return &watched{c: c, began: time.Now(), transactions: c.transactions(t), database: c.backendCPU(t),
		nodes: c.nodeCPU(t)}
}

type watched struct {
	c               *cluster
	began           time.Time
	requests        int
	transactions    int
	database, nodes time.Duration
}

func (w *watched) end(t testing.TB) polls {
	return polls{
		Nodes: len(w.c.nodes), Took: time.Since(w.began), Requests: w.requests,
		Transactions: w.c.transactions(t) - w.transactions,
		Database:     w.c.backendCPU(t) - w.database, NodeCPU: w.c.nodeCPU(t) - w.nodes,
	}
}

// total returns the number of records of the dataset that a node finds.
func (c *cluster) total(t testing.TB, n *node, raw string) (total int) {
	t.Helper()
	must.NoError(t, n.await(t.Context(), listPath+"?"+raw, func(r programtest.Response) bool {
		var ok bool
		total, ok = totalOf(r)
		return ok
	}))
	return total
}

// totalOf returns the total of a listing; ok is false if the response is not a listing.
func totalOf(r programtest.Response) (int, bool) {
	var listing struct{ Meta query.Meta }
	err := json.Unmarshal([]byte(r.Body), &listing)
	return listing.Meta.Total, err == nil && r.Status == http.StatusOK
}
