//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/procfs"

	"herbarium/internal/programtest"
)

// server is a PostgreSQL server with its files in one folder.
type server struct {
	*programtest.Process // nil unless it was started
	folder               string
	bin                  string
	port                 int // also names the socket
	tcp                  bool
	frozen               []int // processes that Freeze has suspended
}

const (
	usualPort = 5432
	loopback  = "127.0.0.1"
)

// newServer creates the folder of a server without starting it.
func newServer(tcp bool) (_ *server, err error) {
	s := &server{port: usualPort, tcp: tcp}
	if s.bin, err = binaries(); err != nil {
		return nil, err
	}
	if s.folder, err = os.MkdirTemp("", "pgtest"); err != nil {
		return nil, err
	}
	if err := own(s.folder); err != nil {
		return s, err
	}
	if tcp {
		addr, err := programtest.FreeAddr()
		if err != nil {
			return s, err
		}
		_, port, _ := strings.Cut(addr, ":")
		s.port, err = strconv.Atoi(port)
		return s, err
	}
	return s, nil
}

func (s *server) data() string { return filepath.Join(s.folder, "data") }

// write writes a file that the server can read and others cannot.
func (s *server) write(name string, content []byte) error {
	path := filepath.Join(s.folder, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return err
	}
	return own(path)
}

// command returns the command of a PostgreSQL program.
func (s *server) command(name string, args ...string) (*exec.Cmd, error) {
	credential, err := owner()
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Credential: credential}, s.folder
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "HOME="+s.folder)
	return cmd, err
}

// run runs a PostgreSQL program to its end.
func (s *server) run(name string, args ...string) error {
	cmd, err := s.command(name, args...)
	if err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// start starts the server and waits until it answers.
func (s *server) start(settings ...string) (err error) {
	listen := ""
	if s.tcp {
		listen = loopback
	}
	args := []string{"-D", s.data(), "-k", s.folder, "-p", strconv.Itoa(s.port), "-c", "listen_addresses=" + listen}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	cmd, err := s.command("postgres", args...)
	if err != nil {
		return err
	}
	if s.Process, err = programtest.StartProcess(cmd); err != nil {
		s.Process = nil
		return err
	}
	return s.wait("SELECT 1")
}

// wait runs a statement until it returns a row.
func (s *server) wait(statement string) error {
	return s.Wait(context.Background(), func(context.Context) error { return s.query(statement) })
}

// address returns the address of a database: over the socket, or over TCP.
func (s *server) address(database string, tcp bool) string {
	query := url.Values{"host": {s.folder}, "port": {strconv.Itoa(s.port)}, "user": {"postgres"}, "sslmode": {"disable"}}
	if tcp {
		query.Set("host", loopback)
	}
	return "postgres:///" + database + "?" + query.Encode()
}

// connect runs do with a connection of its own.
func (s *server) connect(do func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.address("postgres", false))
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, conn), conn.Close(ctx))
}

// exec runs statements, one after the other.
func (s *server) exec(statements ...string) error {
	return s.connect(func(ctx context.Context, conn *pgx.Conn) error {
		for _, statement := range statements {
			if _, err := conn.Exec(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	})
}

// query runs a statement that must find a row.
func (s *server) query(statement string) error {
	return s.connect(func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, statement).Scan(nil)
	})
}

// suspend stops the server from starting processes, and returns all of its processes.
func (s *server) suspend(t testing.TB) []int {
	t.Helper()
	if err := s.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	pids, err := children(s.PID())
	if err != nil {
		t.Fatal(err)
	}
	return append(pids, s.PID())
}

// children returns the running processes that a process has started. It needs Linux.
func children(parent int) (pids []int, err error) {
	all, err := procfs.AllProcs()
	for _, p := range all {
		if s, err := p.Stat(); err == nil && s.PPID == parent { // or it has ended
			pids = append(pids, p.PID)
		}
	}
	return pids, err
}

// signal sends a signal to processes that may have ended.
func signal(t testing.TB, pids []int, sig syscall.Signal) {
	t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
}

// Running reports whether the server was started and has not ended.
func (s *server) Running() bool { return s.Process != nil && s.Process.Running() }

// Kill kills all processes of the server, as in a machine failure. Data that they have written stays.
func (s *server) Kill(t testing.TB) {
	t.Helper()
	signal(t, s.suspend(t), syscall.SIGKILL)
	<-s.Ended()
}

// Freeze suspends all processes of the server: the kernel accepts connections, and nothing answers. They resume with Thaw.
func (s *server) Freeze(t testing.TB) {
	t.Helper()
	s.frozen = s.suspend(t)
	signal(t, s.frozen, syscall.SIGSTOP)
}

// Thaw resumes a frozen server.
func (s *server) Thaw(t testing.TB) {
	t.Helper()
	signal(t, s.frozen, syscall.SIGCONT)
	s.frozen = nil
}

// CPU returns the processor time that all processes of the server have used. It needs Linux.
func (s *server) CPU() (sum time.Duration, err error) {
	pids, err := children(s.PID())
	if err != nil {
		return 0, err
	}
	for _, pid := range append(pids, s.PID()) {
		d, err := programtest.CPU(pid)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, err
		}
		sum += d
	}
	return sum, nil
}

// stop ends the server and removes its files.
func (s *server) stop() error {
	if s.Running() {
		for _, pid := range s.frozen {
			_ = syscall.Kill(pid, syscall.SIGCONT) // it may have ended
		}
		if s.Signal(syscall.SIGQUIT) == nil { // immediate shutdown
			<-s.Ended()
		}
	}
	return os.RemoveAll(s.folder)
}
