//go:build linux

package systemtest

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/blobs/s3test"
	"herbarium/internal/programtest"
	"herbarium/internal/store/pgtest"
)

// cluster is three nodes behind a proxy, with their database and object store.
type cluster struct {
	t       *testing.T // ends the cluster
	program string     // of nodes that are started, and of commands;
	db      *pgtest.Cluster
	standby *pgtest.Standby
	s3      *s3test.Server
	nodes   []*node
	haproxy *programtest.Process
	proxy   string // its URL
	env     []string
	token   string // a key in the database with the scopes that the scenarios need
}

// newCluster starts everything, with nodes of today's program.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	return newClusterOf(t, program, "plants:write", "data:read", "publish")
}

// newClusterOf is newCluster for nodes of a program and a key with scopes.
func newClusterOf(t *testing.T, program string, scopes ...string) *cluster {
	t.Helper()
	c := &cluster{t: t, program: program, db: &pgtest.Cluster{TCP: true}}
	t.Cleanup(func() {
		if err := c.db.Stop(); err != nil {
			t.Error(err)
		}
	})
	address := c.db.Database(t)
	c.standby = c.db.Standby(t)
	c.s3 = s3test.New(t)
	c.env = append(s3test.Environ(),
		"HERBARIUM_DATABASE="+c.standby.Both(address),
		"HERBARIUM_BLOBS="+c.s3.URL(t, "herbarium"),
		"HERBARIUM_LOG_FORMAT=human",
		"HERBARIUM_REQUEST_TIMEOUT=1m", // a loaded machine must not fail a test
		"HERBARIUM_DRAIN=3s",           // longer than the proxy needs to notice
	)
	for range 3 { // the first one creates the tables
		c.nodes = append(c.nodes, c.startNode(t, "", t.TempDir()))
	}
	c.token = strings.TrimSpace(c.run(t, "keys", "create", "--name", "test", "--scope", strings.Join(scopes, ",")))
	c.startProxy(t)
	return c
}

// startNode starts a node with a folder for its cache. An empty address means a free port.
func (c *cluster) startNode(t *testing.T, addr, folder string) *node {
	t.Helper()
	return start(t, config{program: c.program, addr: addr, data: folder, settings: c.env})
}

// restart starts a node again that has ended, with the same address and folder. It outlives the
// scenario.
func (c *cluster) restart(i int) {
	c.nodes[i] = c.startNode(c.t, c.nodes[i].Addr(), c.nodes[i].data)
}

// startProxy starts HAProxy with the configuration in deploy.
func (c *cluster) startProxy(t *testing.T) {
	t.Helper()
	var nodes []string
	for _, n := range c.nodes {
		nodes = append(nodes, n.Addr())
	}
	c.haproxy, c.proxy = programtest.StartHAProxy(t, "../../deploy/haproxy/haproxy.cfg", nodes...)
	eventually(t, "the proxy answers", func(ctx context.Context) error {
		_, err := get(ctx, c.proxy+"/readyz")
		return err
	})
}

// run runs a command with its own data folder and returns its output.
func (c *cluster) run(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, err := c.try(t, args...)
	if err != nil {
		t.Fatalf("herbarium %s: %v\n%s", strings.Join(args, " "), err, errs)
	}
	return out
}

// try is run for a command that may fail.
func (c *cluster) try(t *testing.T, args ...string) (out, errs string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.program, args...)
	cmd.Env = append(programtest.Environ(c.env...), "HERBARIUM_DATA="+filepath.Join(t.TempDir(), "data"))
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

// prices writes a file of records with the same price, so that a listing that mixes two versions is
// detected.
func prices(t *testing.T, records, price int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,name,price\n")
	for i := range records {
		fmt.Fprintf(&b, "%d,plant %d,%d\n", i+1, i+1, price)
	}
	return write(t, b.String(), t.TempDir(), "prices.csv")
}

const dataset = "garden/prices"

// publish publishes prices.
func (c *cluster) publish(t *testing.T, records, price int) {
	t.Helper()
	c.run(t, "publish", prices(t, records, price), "--as", dataset, "--allow-breaking")
}
