//go:build unix

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
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// server is a PostgreSQL server with its files in one folder.
type server struct {
	*programtest.Process // nil unless it was started
	folder               string
	bin                  string
	owner                *syscall.Credential // runs the server; nil means the current user
	port                 string              // also names the socket
	tcp                  bool
}

const loopback = "127.0.0.1"

// binaries returns the folder of the newest PostgreSQL installed by Debian, or else of the one in
// PATH. It skips the test if there is none.
func binaries(t testing.TB) string {
	t.Helper()
	installed, err := filepath.Glob("/usr/lib/postgresql/[1-9][0-9]/bin/postgres") // sorted
	must.NoError(t, err)
	if len(installed) > 0 {
		return filepath.Dir(installed[len(installed)-1])
	}
	path, err := exec.LookPath("postgres")
	if err != nil {
		programtest.SkipWithout(t, "postgres",
			"PostgreSQL is not installed; `make parts` or `apt-get install postgresql` installs it")
	}
	return filepath.Dir(path)
}

// init creates the folder of a server without starting it.
func (s *server) init(t testing.TB, bin string, tcp bool) {
	t.Helper()
	s.bin, s.port, s.tcp = bin, "5432", tcp
	if os.Getuid() == 0 { // PostgreSQL does not run as root
		u, err := user.Lookup("postgres")
		if err != nil {
			u, err = user.Lookup("nobody")
		}
		must.NoError(t, err)
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		must.NoError(t, err)
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		must.NoError(t, err)
		s.owner = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	var err error
	s.folder, err = os.MkdirTemp("", "pgtest")
	must.NoError(t, err)
	s.own(t, s.folder)
}

// own makes the user of the server the owner of a file.
func (s *server) own(t testing.TB, path string) {
	t.Helper()
	if s.owner != nil {
		must.NoError(t, os.Chown(path, int(s.owner.Uid), int(s.owner.Gid)))
	}
}

func (s *server) data() string { return filepath.Join(s.folder, "data") }

// command returns the command of a PostgreSQL program.
func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Credential: s.owner}, s.folder
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "HOME="+s.folder)
	return cmd
}

// run runs a PostgreSQL program to its end.
func (s *server) run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := s.command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// start starts the server and waits until it answers.
func (s *server) start(t testing.TB, settings ...string) {
	t.Helper()
	if s.tcp && s.Process == nil { // as late as possible, because another process may take the port
		addr, err := programtest.FreeAddr()
		must.NoError(t, err)
		_, s.port, _ = strings.Cut(addr, ":")
	}
	args := []string{"-D", s.data(), "-k", s.folder, "-p", s.port, "-c", "listen_addresses="}
	if s.tcp {
		args[len(args)-1] += loopback
	}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	process, err := programtest.StartProcess(s.command("postgres", args...))
	must.NoError(t, err)
	s.Process = process
	s.wait(t, "SELECT 1")
}

const addressPrefix = "postgres:///"

// addressOf returns the address of a database on one or several servers: over the sockets, or over
// TCP.
func addressOf(database string, tcp bool, servers ...*server) string {
	var hosts, ports []string
	for _, s := range servers {
		host := s.folder
		if tcp {
			host = loopback
		}
		hosts, ports = append(hosts, host), append(ports, s.port)
	}
	query := url.Values{"host": {strings.Join(hosts, ",")}, "port": {strings.Join(ports, ",")}, "user": {"postgres"},
		"sslmode": {"disable"}}
	return addressPrefix + database + "?" + query.Encode()
}

// connect calls do with a connection.
func (s *server) connect(do func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, addressOf("postgres", false, s))
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, conn), conn.Close(ctx))
}

// exec runs statements, one after the other.
func (s *server) exec(t testing.TB, statements ...string) {
	t.Helper()
	must.NoError(t, s.connect(func(ctx context.Context, conn *pgx.Conn) error {
		for _, statement := range statements {
			if _, err := conn.Exec(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	}))
}

// wait runs a statement until it returns a row.
func (s *server) wait(t testing.TB, statement string) {
	t.Helper()
	must.NoError(t, s.Wait(context.Background(), func(context.Context) error {
		return s.connect(func(ctx context.Context, conn *pgx.Conn) error {
			return conn.QueryRow(ctx, statement).Scan(nil)
		})
	}))
}

// Running reports whether the server was started and has not ended.
func (s *server) Running() bool { return s.Process != nil && s.Process.Running() }

// Kill kills all processes of the server, as in a machine failure. Data that they have written
// stays.
func (s *server) Kill(t testing.TB) {
	t.Helper()
	must.NoError(t, s.SignalTree(syscall.SIGKILL))
	<-s.Ended()
}

// Freeze suspends all processes of the server: the kernel accepts connections, and nothing answers.
// They resume with Thaw.
func (s *server) Freeze(t testing.TB) {
	t.Helper()
	must.NoError(t, s.Process.Freeze(context.Background()))
}

// Thaw resumes a frozen server.
func (s *server) Thaw(t testing.TB) {
	t.Helper()
	must.NoError(t, s.SignalTree(syscall.SIGCONT))
}

// CPU returns the processor time that all processes of the server have used. It needs Linux.
func (s *server) CPU() (sum time.Duration, err error) {
	tree, err := s.Tree()
	for _, process := range tree {
		sum += programtest.CPUOf(process)
	}
	return sum, err
}

// stop ends the server and removes its files.
func (s *server) stop() error {
	if s.Running() {
		_ = s.Signal(syscall.SIGCONT)         // it may be frozen
		if s.Signal(syscall.SIGQUIT) == nil { // immediate shutdown
			<-s.Ended()
		}
	}
	return os.RemoveAll(s.folder)
}
