//go:build unix

// Package pgtest runs PostgreSQL servers for tests. It is imported by tests alone.
package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// Cluster is a PostgreSQL server with databases of its own, which no other machine can reach. The zero value is ready: the
// server is started when the first database is asked for. It ends with Stop, or with the process, and so do its standbys.
// A cluster must not be copied.
type Cluster struct {
	// Durable has the server sync what it writes and clean up behind itself, as it does outside of tests. It is then
	// worth measuring.
	Durable bool
	// TCP has the server listen on the loopback address too, on a port that is free. Addresses then lead there.
	TCP bool
	// HBA is who may connect and how, as pg_hba.conf tells it. The user postgres must get in by the socket with nothing
	// else. Empty means that everybody may do everything.
	HBA string
	// Certificate and Key, in PEM, let the server speak TLS. None means that it does not.
	Certificate, Key []byte

	*server   // nil unless it was started
	once      sync.Once
	err       error
	standbys  []*server
	databases atomic.Int64
}

// errMissing says that there is no PostgreSQL to run.
var errMissing = errors.New("PostgreSQL is not installed; `make parts` or `apt-get install postgresql` installs it")

// launch starts the server unless that was done. Where PostgreSQL is missing the test is skipped, or fails if
// HERBARIUM_TEST_REQUIRE asks for it.
func (c *Cluster) launch(t testing.TB) {
	t.Helper()
	c.once.Do(func() { c.err = c.run() })
	if errors.Is(c.err, errMissing) {
		if required := os.Getenv("HERBARIUM_TEST_REQUIRE"); required != "all" && !strings.Contains(required, "postgres") {
			t.Skip(c.err)
		}
	}
	if c.err != nil {
		t.Fatal(c.err)
	}
}

// Database creates an empty database and returns its address, a URL. It is dropped when the test ends.
func (c *Cluster) Database(t testing.TB) string {
	t.Helper()
	c.launch(t)
	name := fmt.Sprintf("test%d", c.databases.Add(1))
	if err := c.exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !c.alive() {
			return
		}
		if err := c.exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return c.address(name, c.TCP)
}

// Exec runs statements as the user postgres, in the database of that name.
func (c *Cluster) Exec(t testing.TB, statements ...string) {
	t.Helper()
	c.launch(t)
	if err := c.exec(statements...); err != nil {
		t.Fatal(err)
	}
}

// Stop ends the server and its standbys and removes all they have written. It is called once the tests are done.
func (c *Cluster) Stop() error {
	var err error
	if c.server != nil {
		err = c.stop()
	}
	for _, s := range c.standbys {
		err = errors.Join(err, s.stop())
	}
	return err
}

// run makes the cluster and starts its server.
func (c *Cluster) run() (err error) {
	if c.server, err = newServer(c.TCP); err != nil {
		return err
	}
	// The databases sort as people do, so that a test fails where a statement should compare bytes and does not say so.
	if err := c.server.run("initdb", "--pgdata="+c.data(), "--username=postgres", "--auth=trust", "--no-sync",
		"--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en"); err != nil {
		return err
	}
	if c.HBA != "" {
		if err := c.write("data/pg_hba.conf", []byte(c.HBA)); err != nil {
			return err
		}
	}
	if c.Certificate != nil {
		// They lie where a standby gets them as well.
		if err := errors.Join(c.write("data/server.crt", c.Certificate), c.write("data/server.key", c.Key)); err != nil {
			return err
		}
	}
	return c.start(c.settings()...)
}

// settings are those of the cluster's servers.
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

// binaries returns the folder of the newest PostgreSQL that Debian has installed, or of the one that is in the path.
func binaries() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		path, err := exec.LookPath("postgres")
		if err != nil {
			return "", errMissing
		}
		return filepath.Dir(path), nil
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // 0 is older than all
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
}

// owner returns who runs the servers in place of root, which PostgreSQL refuses; nil means that we do ourselves.
func owner() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// own gives a file to who runs the servers.
func own(path string) error {
	owner, err := owner()
	if err != nil || owner == nil {
		return err
	}
	return os.Chown(path, int(owner.Uid), int(owner.Gid))
}
