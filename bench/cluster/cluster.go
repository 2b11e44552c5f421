//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"herbarium/internal/blobs/s3test"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
	"herbarium/internal/store/pgtest"
)

// maxNodes is the number of nodes. Nodes without requests only poll the catalogue.
const maxNodes = 3

// turns is the number of times that each variant is measured for one figure, in turns, so that a
// disturbance affects all variants.
const turns = 3

// settings determine how much is measured.
type settings struct {
	records   int
	small     int // records of the dataset whose publishing takes little time
	seconds   float64
	idle      time.Duration
	publishes int
	fetches   int
	callers   []int
}

// cluster is the cluster that is measured.
type cluster struct {
	settings
	program string
	scratch string
	env     []string
	key     string
	db      *pgtest.Cluster
	address string    // of the database
	watcher *pgx.Conn // reads statistics of the server, connected to another database
	s3      *s3test.Server
	nodes   []*node
	garden  garden
}

// measure starts a cluster and measures everything.
func measure(t testing.TB, s settings) *figures {
	c := start(t, s)
	m := &figures{Records: s.records}
	m.Memory = make([]nodeMemory, maxNodes)
	for i, n := range c.nodes {
		m.Memory[i].Start = memory(t, n).Anon
	}
	c.measureSwitches(t, m)
	c.measureListings(t, m)
	c.measureIdle(t, m)
	c.measureFetches(t, m)
	c.measureCreations(t, m, []int{1, 2, maxNodes}, nil)
	t.Log("starting a standby")
	c.measureCreations(t, m, []int{maxNodes}, c.db.Standby(t))
	for i, n := range c.nodes {
		now := memory(t, n)
		m.Memory[i].Own, m.Memory[i].File = now.Anon, now.File
	}
	return m
}

// start starts the cluster. Its data is in the temporary folder.
func start(t testing.TB, s settings) *cluster {
	t.Log("starting")
	c := &cluster{settings: s, scratch: t.TempDir(), db: &pgtest.Cluster{Durable: true, TCP: true}}
	t.Cleanup(func() { must.NoError(t, c.db.Stop()) })
	c.address = c.db.Database(t)
	c.s3 = s3test.New(t)
	var err error
	c.program, err = programtest.Install(context.Background(), c.scratch)
	must.NoError(t, err)
	c.env = append(append(os.Environ(), s3test.Environ()...),
		"HERBARIUM_DATABASE="+c.address, "HERBARIUM_BLOBS="+c.s3.URL(t, bucket))
	for range maxNodes { // the first one creates the tables
		c.nodes = append(c.nodes, c.startNode(t))
	}
	c.key = strings.TrimSpace(c.run(t, "keys", "create", "--name", "bench", "--scope", "plants:write"))
	u, err := url.Parse(c.address)
	must.NoError(t, err)
	u.Path = "/postgres"
	c.watcher, err = pgx.Connect(t.Context(), u.String())
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, c.watcher.Close(context.Background())) })
	return c
}

// bucket is the bucket of the object store.
const bucket = "herbarium"

// addrs returns the addresses of the first nodes.
func (c *cluster) addrs(nodes int) (addrs []string) {
	for _, n := range c.nodes[:nodes] {
		addrs = append(addrs, n.addr)
	}
	return addrs
}

// nodeCPU returns the processor time that all nodes have used.
func (c *cluster) nodeCPU(t testing.TB) (sum time.Duration) {
	t.Helper()
	for _, n := range c.nodes {
		d, err := programtest.CPU(n.PID())
		must.NoError(t, err)
		sum += d
	}
	return sum
}

// backendCPU returns the processor time that the connections of the nodes have used in the
// database, to the nanosecond.
func (c *cluster) backendCPU(t testing.TB) (sum time.Duration) {
	t.Helper()
	rows, err := c.watcher.Query(t.Context(),
		"SELECT pid FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'", c.database(t))
	must.NoError(t, err)
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	must.NoError(t, err)
	for _, pid := range pids {
		d, err := fineCPU(pid)
		if errors.Is(err, os.ErrNotExist) {
			continue // it has just ended
		}
		must.NoError(t, err)
		sum += d
	}
	return sum
}

// fineCPU returns the processor time that a process with one thread has used, to the nanosecond.
func fineCPU(pid int) (time.Duration, error) {
	schedstat, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	if err != nil {
		return 0, err
	}
	running, _, _ := strings.Cut(string(schedstat), " ")
	n, err := strconv.ParseInt(running, 10, 64)
	return time.Duration(n), err
}

// transactions returns the number of transactions that the database has completed.
func (c *cluster) transactions(t testing.TB) (n int) {
	t.Helper()
	must.NoError(t, c.watcher.QueryRow(t.Context(),
		"SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = $1", c.database(t)).Scan(&n))
	return n
}

// database returns the name of the database.
func (c *cluster) database(t testing.TB) string {
	t.Helper()
	u, err := url.Parse(c.address)
	must.NoError(t, err)
	return strings.TrimPrefix(u.Path, "/")
}

func memory(t testing.TB, n *node) programtest.Memory {
	t.Helper()
	m, err := programtest.MemoryOf(n.PID())
	must.NoError(t, err)
	return m
}
