//go:build linux

package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"herbarium/bench/internal/load"
	"herbarium/internal/must"
	"herbarium/internal/store/pgtest"
)

// plant is a plant to be created.
type plant struct {
	id        int64
	name, tag string
}

// garden generates plants with consecutive IDs.
type garden struct{ last atomic.Int64 }

func (g *garden) next() plant {
	id := g.last.Add(1)
	return plant{id, fmt.Sprintf("Genus%d species%d", id%50, id), fmt.Sprintf("tag%d", id%10)}
}

func (p plant) json() []byte {
	return fmt.Appendf(nil, `{"id":%d,"name":%q,"tag":%q}`, p.id, p.name, p.tag)
}

// measureCreations creates plants through each number of nodes and by plain INSERT statements, in
// turns.
func (c *cluster) measureCreations(t testing.TB, into *figures, nodes []int, standby *pgtest.Standby) {
	floors := c.floors(t, nodes)
	for _, callers := range c.callers {
		t.Logf("creating: %d callers", callers)
		created, inserted := make([]sample, len(nodes)), make([]sample, len(nodes))
		clients := make([]*load.Client, len(nodes))
		for i, n := range nodes {
			clients[i] = open(t, load.Options{
				Addrs: c.addrs(n), Target: "/plants", Key: c.key, Conns: callers,
				Body: func() []byte { return c.garden.next().json() },
			})
		}
		for range turns {
			for i := range nodes {
				c.create(t, &created[i], standby, func() (*load.Result, error) {
					return clients[i].Run(t.Context(), c.slice())
				})
				c.create(t, &inserted[i], standby, func() (*load.Result, error) {
					return insert(t.Context(), floors[i], &c.garden, callers, c.slice())
				})
			}
		}
		for i, n := range nodes {
			clients[i].Close()
			into.Creations = append(into.Creations, nodesCreation{
				Callers: callers, Nodes: n, Conns: int(floors[i].Config().MaxConns), Standby: standby != nil,
				Plants: created[i].measure(), Database: created[i].perRequest(),
				Floor: inserted[i].measure(), FloorDatabase: inserted[i].perRequest(),
			})
		}
	}
}

// create runs one measurement and adds its latencies and processor times to a sample.
func (c *cluster) create(t testing.TB, s *sample, standby *pgtest.Standby, run func() (*load.Result, error)) {
	t.Helper()
	s.database -= c.serverCPU(t, standby)
	s.cpu -= c.nodeCPU(t)
	r, err := run()
	must.NoError(t, err)
	s.cpu += c.nodeCPU(t)
	s.database += c.serverCPU(t, standby)
	s.Merge(r)
}

// serverCPU returns the processor time of all processes of the database and of its standby.
func (c *cluster) serverCPU(t testing.TB, standby *pgtest.Standby) time.Duration {
	t.Helper()
	d, err := c.db.CPU()
	must.NoError(t, err)
	if standby != nil {
		more, err := standby.CPU()
		must.NoError(t, err)
		d += more
	}
	return d
}

// floors returns, for each number of nodes, a pool with as many connections as the nodes have
// together, and creates a table that contains nothing but plants. Inserting into it is the floor
// that creations through nodes are compared with.
func (c *cluster) floors(t testing.TB, nodes []int) (pools []*pgxpool.Pool) {
	t.Helper()
	for _, n := range nodes {
		one, err := pgxpool.ParseConfig(c.address)
		must.NoError(t, err)
		u, err := url.Parse(c.address)
		must.NoError(t, err)
		q := u.Query()
		q.Set("pool_max_conns", strconv.Itoa(n*int(one.MaxConns))) // nodes use the default of pgx
		u.RawQuery = q.Encode()
		pool, err := pgxpool.New(t.Context(), u.String())
		must.NoError(t, err)
		t.Cleanup(pool.Close)
		pools = append(pools, pool)
	}
	_, err := pools[0].Exec(t.Context(),
		"CREATE TABLE IF NOT EXISTS floor (id bigint PRIMARY KEY, name text NOT NULL, tag text)")
	must.NoError(t, err)
	return pools
}

// insert inserts plants with one statement each from concurrent callers.
func insert(ctx context.Context, pool *pgxpool.Pool, g *garden, callers int, d time.Duration) (*load.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([]load.Result, callers)
	started := time.Now()
	var inserting sync.WaitGroup
	for i := range results {
		inserting.Go(func() {
			for ctx.Err() == nil {
				p := g.next()
				start := time.Now()
				if _, err := pool.Exec(ctx, "INSERT INTO floor VALUES ($1, $2, $3)", p.id, p.name, p.tag); err != nil {
					cancel(err)
					return
				}
				end := time.Now()
				results[i].Latency = append(results[i].Latency, end.Sub(start))
				if end.Sub(started) >= d {
					return
				}
			}
		})
	}
	inserting.Wait()
	total := new(load.Result)
	for i := range results {
		total.Merge(&results[i])
	}
	total.Elapsed = time.Since(started)
	return total, context.Cause(ctx)
}
