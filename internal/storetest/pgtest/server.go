//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// server is a PostgreSQL server that has been started, with all it has written in one folder.
type server struct {
	folder string
	bin    string
	port   int // also where it listens on nothing but a socket
	tcp    bool

	process *exec.Cmd
	ended   chan struct{}
	end     error // set before ended is closed
	frozen  io.Closer
}

const usualPort = 5432

// newServer makes the folder of a server that is not started yet.
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
		s.port, err = freePort()
	}
	return s, err
}

// freePort returns an unused port of this machine.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

func (s *server) data() string { return filepath.Join(s.folder, "data") }
func (s *server) log() string  { return filepath.Join(s.folder, "log") }

// write writes a file that the server can read and others cannot.
func (s *server) write(name string, content []byte) error {
	path := filepath.Join(s.folder, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return err
	}
	return own(path)
}

// command returns one of PostgreSQL's programs, to be run.
func (s *server) command(name string, args ...string) (*exec.Cmd, error) {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.SysProcAttr, cmd.Dir = attributes(), s.folder
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "HOME="+s.folder)
	var err error
	cmd.SysProcAttr.Credential, err = owner()
	return cmd, err
}

// run runs one of PostgreSQL's programs to its end.
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
		listen = "127.0.0.1"
	}
	args := []string{"-D", s.data(), "-k", s.folder, "-p", strconv.Itoa(s.port), "-c", "listen_addresses=" + listen}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	if s.process, err = s.command("postgres", args...); err != nil {
		return err
	}
	log, err := os.Create(s.log())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	s.process.Stdout, s.process.Stderr = log, log
	s.ended = make(chan struct{})
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the server would end with the thread that has started it
		err := s.process.Start()
		started <- err
		if err == nil {
			s.end = s.process.Wait()
			close(s.ended)
		}
	}()
	if err := <-started; err != nil {
		s.process = nil
		return err
	}
	return s.wait("SELECT 1")
}

// wait runs a statement until the server answers it with a row.
func (s *server) wait(statement string) error {
	for deadline := time.Now().Add(time.Minute); ; {
		err := s.query(statement)
		if err == nil {
			return nil
		}
		select {
		case <-s.ended:
			text, _ := os.ReadFile(s.log()) // helps to diagnose
			return fmt.Errorf("PostgreSQL has ended: %w\n%s", s.end, text)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("PostgreSQL does not answer %q: %w", statement, err)
		}
	}
}

// address returns the address of a database: over the socket, or over TCP.
func (s *server) address(database string, tcp bool) string {
	query := url.Values{"host": {s.folder}, "port": {strconv.Itoa(s.port)}, "user": {"postgres"}, "sslmode": {"disable"}}
	if tcp {
		query.Set("host", "127.0.0.1")
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

// processes returns all processes of the server.
func (s *server) processes() ([]int, error) {
	pids, err := children(s.process.Process.Pid)
	return append(pids, s.process.Process.Pid), err
}

// alive reports whether the server was started and has not ended.
func (s *server) alive() bool {
	if s.process == nil {
		return false
	}
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// Kill kills all processes of the server, as in a machine failure. Data that they have written stays.
func (s *server) Kill(t testing.TB) {
	t.Helper()
	// The first process is stopped, so that it starts no more while the others are looked for.
	if err := s.process.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	pids, err := s.processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
	<-s.ended
}

// Freeze stops all processes of the server: it accepts connections, because the kernel does that, and says nothing. They go
// on with Thaw, or when this process ends, so that the server can end as well.
func (s *server) Freeze(t testing.TB) {
	t.Helper()
	if err := s.process.Process.Signal(syscall.SIGSTOP); err != nil { // first, so that it starts no more
		t.Fatal(err)
	}
	pids, err := s.processes()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-c", `read _; kill -CONT "$@"`, "thaw"}
	for _, pid := range pids {
		args = append(args, strconv.Itoa(pid))
	}
	thaw := exec.Command("sh", args...)
	stdin, err := thaw.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := thaw.Start(); err != nil {
		t.Fatal(err)
	}
	s.frozen = closerFunc(func() error {
		err := stdin.Close()
		_ = thaw.Wait() // says that a process has ended, which is none of our business
		return err
	})
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
}

type closerFunc func() error

func (f closerFunc) Close() error { return f() }

// Thaw has the processes of a frozen server go on.
func (s *server) Thaw(t testing.TB) {
	t.Helper()
	if err := s.thaw(); err != nil {
		t.Fatal(err)
	}
}

func (s *server) thaw() error {
	if s.frozen == nil {
		return nil
	}
	err := s.frozen.Close()
	s.frozen = nil
	return err
}

// CPU returns the processor time that all processes of the server have used. It is known on Linux alone.
func (s *server) CPU() (time.Duration, error) {
	pids, err := s.processes()
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, pid := range pids {
		d, err := cpu(pid)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, err
		}
		sum += d
	}
	return sum, nil
}

// stop ends the server and removes all it has written.
func (s *server) stop() error {
	err := s.thaw()
	if s.alive() {
		if err := s.process.Process.Signal(syscall.SIGQUIT); err == nil { // immediate shutdown
			<-s.ended
		}
	}
	return errors.Join(err, os.RemoveAll(s.folder))
}
