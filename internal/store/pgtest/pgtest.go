//go:build unix

// Package pgtest runs PostgreSQL servers for tests. Only tests import it.
package pgtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"herbarium/internal/must"
)

// Cluster is a PostgreSQL server with its own databases, which no other machine can reach. The zero
// value is ready to use: the server is started with the first database. It ends with Stop or with
// the process, as do its standbys. A cluster must not be copied.
type Cluster struct {
	// Durable enables fsync and autovacuum, as in production, for benchmarks.
	Durable bool
	// TCP makes the server listen on a free port of the loopback address, which Database then
	// returns.
	TCP bool
	// HBA is the content of pg_hba.conf. The user postgres must be trusted on the socket. Empty
	// trusts everyone.
	HBA string
	// Certificate and Key, in PEM, enable TLS.
	Certificate, Key []byte

	server    // without a process unless it was started
	once      sync.Once
	standbys  []*server
	databases atomic.Int64
}

// launch starts the server once. If PostgreSQL is missing, the test is skipped, or fails if
// HERBARIUM_TEST_REQUIRE names it.
func (c *Cluster) launch(t testing.TB) {
	t.Helper()
	bin := binaries(t)
	c.once.Do(func() {
		c.init(t, bin, c.TCP)
		// A locale collation makes tests fail if a statement relies on bytewise comparison without
		// COLLATE "C".
		c.run(t, "initdb", "--pgdata="+c.data(), "--username=postgres", "--auth=trust", "--no-sync",
			"--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en")
		// The files are in the data folder, so that a standby copies them.
		for name, content := range map[string][]byte{"pg_hba.conf": []byte(c.HBA), "server.crt": c.Certificate,
			"server.key": c.Key} {
			if path := filepath.Join(c.data(), name); len(content) > 0 {
				must.NoError(t, os.WriteFile(path, content, 0o600))
				c.own(t, path)
			}
		}
		c.start(t, c.settings()...)
	})
	if c.Process == nil {
		t.Fatal("PostgreSQL could not be started; see the first test that failed")
	}
}

// Database creates an empty database and returns its address, a URL. It is dropped when the test
// ends.
func (c *Cluster) Database(t testing.TB) string {
	t.Helper()
	c.launch(t)
	name := fmt.Sprintf("test%d", c.databases.Add(1))
	c.exec(t, "CREATE DATABASE "+name)
	t.Cleanup(func() {
		if c.Running() {
			c.exec(t, "DROP DATABASE "+name+" WITH (FORCE)")
		}
	})
	return addressOf(name, c.TCP, &c.server)
}

// Exec runs statements as the user postgres, in the database of that name.
func (c *Cluster) Exec(t testing.TB, statements ...string) {
	t.Helper()
	c.launch(t)
	c.exec(t, statements...)
}

// Main runs the tests of a package, stops the cluster and ends the process. Call it in TestMain.
func (c *Cluster) Main(m *testing.M) {
	code := m.Run()
	if err := c.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// Stop ends the server and its standbys and removes their files. Call it after the tests.
func (c *Cluster) Stop() error {
	err := c.stop()
	for _, s := range c.standbys {
		err = errors.Join(err, s.stop())
	}
	return err
}

// settings returns the settings of the cluster's servers.
func (c *Cluster) settings() []string {
	settings := []string{"max_connections=300"}
	if !c.Durable {
		settings = append(settings, "fsync=off", "full_page_writes=off", "autovacuum=off")
	}
	if c.Certificate != nil {
		settings = append(settings, "ssl=on")
	}
	return settings
}

// Standby is a server that replicates a cluster and can be promoted. It ends with the cluster.
type Standby struct {
	*server
	primary *server
}

// Standby starts a synchronous standby of the cluster: from then on, a commit succeeds once both
// servers have it on disk.
func (c *Cluster) Standby(t testing.TB) *Standby {
	t.Helper()
	c.launch(t)
	s := &server{}
	c.standbys = append(c.standbys, s)
	s.init(t, c.bin, c.TCP)
	s.run(t, "pg_basebackup", "--pgdata="+s.data(), "--dbname=host="+c.folder+" port="+c.port+" user=postgres",
		"--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--wal-method=stream")
	s.start(t, c.settings()...)
	c.exec(t, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
	c.wait(t, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")
	return &Standby{s, &c.server}
}

// Promote makes the standby the primary.
func (s *Standby) Promote(t testing.TB) {
	t.Helper()
	s.exec(t, "SELECT pg_promote(true, 60)")
}

// Alone returns the address of a database of the cluster on the standby.
func (s *Standby) Alone(address string) string {
	return addressOf(databaseOf(address), s.tcp, s.server)
}

// Both returns the address of a database of the cluster that names both servers and requests the
// primary.
func (s *Standby) Both(address string) string {
	return addressOf(databaseOf(address), s.tcp, s.primary, s.server) + "&target_session_attrs=read-write"
}

// databaseOf returns the name of the database at an address that Cluster.Database has returned.
func databaseOf(address string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(address, addressPrefix), "?")
	return name
}
