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
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"herbarium/internal/programtest"
)

// Cluster is a PostgreSQL server with its own databases, which no other machine can reach. The zero value is ready to use:
// the server is started with the first database. It ends with Stop or with the process, as do its standbys. A cluster must
// not be copied.
type Cluster struct {
	// Durable enables fsync and autovacuum, as in production, for benchmarks.
	Durable bool
	// TCP makes the server listen on a free port of the loopback address, which Database then returns.
	TCP bool
	// HBA is the content of pg_hba.conf. The user postgres must be trusted on the socket. Empty trusts everyone.
	HBA string
	// Certificate and Key, in PEM, enable TLS.
	Certificate, Key []byte

	*server   // nil unless it was started
	once      sync.Once
	err       error
	standbys  []*server
	databases atomic.Int64
}

var errMissing = errors.New("PostgreSQL is not installed; `make parts` or `apt-get install postgresql` installs it")

// launch starts the server once. If PostgreSQL is missing, the test is skipped, or fails if HERBARIUM_TEST_REQUIRE names it.
func (c *Cluster) launch(t testing.TB) {
	t.Helper()
	c.once.Do(func() { c.err = c.run() })
	if errors.Is(c.err, errMissing) {
		programtest.SkipWithout(t, "postgres", c.err.Error())
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
		if !c.Running() {
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

// Stop ends the server and its standbys and removes their files. Call it after the tests.
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

// run initializes the cluster and starts its server.
func (c *Cluster) run() (err error) {
	if c.server, err = newServer(c.TCP); err != nil {
		return err
	}
	// A locale collation makes tests fail if a statement relies on bytewise comparison without COLLATE "C".
	if err := c.server.run("initdb", "--pgdata="+c.data(), "--username=postgres", "--auth=trust", "--no-sync",
		"--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en"); err != nil {
		return err
	}
	// The files are in the data folder, so that a standby copies them.
	for name, content := range map[string][]byte{"pg_hba.conf": []byte(c.HBA), "server.crt": c.Certificate, "server.key": c.Key} {
		if len(content) == 0 {
			continue
		}
		if err := c.write("data/"+name, content); err != nil {
			return err
		}
	}
	return c.start(c.settings()...)
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

// binaries returns the folder of the newest PostgreSQL installed by Debian, or else of the one in PATH.
func binaries() (string, error) {
	installed, err := filepath.Glob("/usr/lib/postgresql/[1-9][0-9]/bin/postgres") // sorted
	if err != nil {
		return "", err
	}
	if len(installed) > 0 {
		return filepath.Dir(installed[len(installed)-1]), nil
	}
	path, err := exec.LookPath("postgres")
	if err != nil {
		return "", errMissing
	}
	return filepath.Dir(path), nil
}

// owner returns the user that runs the servers instead of root, which PostgreSQL rejects; nil means the current user.
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
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
}

// own makes the user of the servers the owner of a file.
func own(path string) error {
	owner, err := owner()
	if err != nil || owner == nil {
		return err
	}
	return os.Chown(path, int(owner.Uid), int(owner.Gid))
}
