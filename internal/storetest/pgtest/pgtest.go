//go:build unix

// Package pgtest runs a PostgreSQL server for tests. It is imported by tests alone.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Cluster is a PostgreSQL server with databases of its own, which no other machine can reach. The zero value is ready: the
// server is started when the first database is asked for. It ends with Stop, or with the process. A cluster must not be
// copied.
type Cluster struct {
	// Durable has the server sync what it writes and clean up behind itself, as it does outside of tests. It is then
	// worth measuring.
	Durable bool

	start     sync.Once
	folder    string
	server    *exec.Cmd
	ended     chan error
	err       error
	databases atomic.Int64
}

// errMissing says that there is no PostgreSQL to run.
var errMissing = errors.New("PostgreSQL is not installed; `make parts` or `apt-get install postgresql` installs it")

// Database creates an empty database and returns its address. It is dropped when the test ends. Where PostgreSQL is
// missing the test is skipped, or fails if HERBARIUM_TEST_REQUIRE asks for it.
func (c *Cluster) Database(t testing.TB) string {
	t.Helper()
	c.start.Do(func() { c.err = c.run() })
	if errors.Is(c.err, errMissing) {
		if required := os.Getenv("HERBARIUM_TEST_REQUIRE"); required != "all" && !strings.Contains(required, "postgres") {
			t.Skip(c.err)
		}
	}
	if c.err != nil {
		t.Fatal(c.err)
	}
	name := fmt.Sprintf("test%d", c.databases.Add(1))
	if err := c.exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return c.address(name)
}

func (c *Cluster) address(database string) string {
	query := url.Values{"host": {c.folder}, "user": {"postgres"}, "sslmode": {"disable"}}
	return "postgres:///" + database + "?" + query.Encode()
}

// exec runs a statement on a connection of its own.
func (c *Cluster) exec(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.address("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}

// Stop ends the server and removes all it has written. It is called once the tests are done.
func (c *Cluster) Stop() error {
	if c.server != nil {
		if err := c.server.Process.Signal(syscall.SIGQUIT); err == nil { // at once; nothing is kept
			<-c.ended
		}
	}
	if c.folder == "" {
		return nil
	}
	return os.RemoveAll(c.folder)
}

// run makes the cluster and starts its server.
func (c *Cluster) run() (err error) {
	bin, err := binaries()
	if err != nil {
		return err
	}
	if c.folder, err = os.MkdirTemp("", "pgtest"); err != nil {
		return err
	}
	attr := attributes()
	if os.Getuid() == 0 {
		if attr.Credential, err = someone(); err != nil {
			return err
		}
		if err := os.Chown(c.folder, int(attr.Credential.Uid), int(attr.Credential.Gid)); err != nil {
			return err
		}
	}
	data := filepath.Join(c.folder, "data")
	// The databases sort as people do, so that a test fails where a statement should compare bytes and does not say so.
	initdb := c.command(attr, bin, "initdb", "--pgdata="+data, "--username=postgres", "--auth=trust", "--no-sync",
		"--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	settings := []string{"-D", data, "-k", c.folder, "-c", "listen_addresses=", "-c", "max_connections=300"}
	if !c.Durable {
		settings = append(settings, "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "autovacuum=off")
	}
	c.server = c.command(attr, bin, "postgres", settings...)
	log, err := os.Create(filepath.Join(c.folder, "log"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	c.server.Stdout, c.server.Stderr = log, log
	c.ended = make(chan error, 1)
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the server would end with the thread that has started it
		err := c.server.Start()
		started <- err
		if err == nil {
			c.ended <- c.server.Wait()
			close(c.ended)
		}
	}()
	if err := <-started; err != nil {
		c.server = nil
		return err
	}
	return c.wait(log.Name())
}

// wait waits until the server answers.
func (c *Cluster) wait(log string) error {
	for deadline := time.Now().Add(time.Minute); ; {
		err := c.exec("SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case end := <-c.ended:
			text, _ := os.ReadFile(log) // the more is told the better
			return fmt.Errorf("PostgreSQL has ended: %w\n%s", end, text)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("PostgreSQL does not answer: %w", err)
		}
	}
}

func (c *Cluster) command(attr *syscall.SysProcAttr, bin, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin, name), args...)
	cmd.SysProcAttr, cmd.Dir = attr, c.folder
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "HOME="+c.folder)
	return cmd
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

// someone returns who runs the server in place of root, which PostgreSQL refuses.
func someone() (*syscall.Credential, error) {
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
