//go:build unix

package s3test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program is the path of the server below the root of the module.
const program = "tools/s3/versitygw"

// Server is an S3 server that only this machine can reach. It ends with the test, or with the process.
type Server struct {
	file    string
	folder  string
	address string // host and port; the same after each start

	mu     sync.Mutex
	server *exec.Cmd
	ended  chan struct{}
}

// New starts a server. If it has not been built the test is skipped, or fails if HERBARIUM_TEST_REQUIRE names it.
func New(t testing.TB) *Server {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{file: filepath.Join(root, filepath.FromSlash(program)), folder: t.TempDir()}
	if _, err := os.Stat(s.file); err != nil {
		required := os.Getenv("HERBARIUM_TEST_REQUIRE")
		if required == "all" || strings.Contains(required, "s3") {
			t.Fatal("the S3 server is missing; run `make s3`")
		}
		t.Skip("the S3 server is missing; run `make s3`")
	}
	t.Cleanup(s.end)
	// Another process may use the port between its choice and its use.
	for range 5 {
		if s.address, err = freeAddress(); err == nil {
			if err = s.run(); err == nil {
				return s
			}
		}
	}
	t.Fatal(err)
	return nil
}

// moduleRoot returns the root folder of the tested module.
func moduleRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("not in a Go module")
		}
		folder = parent
	}
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Endpoint returns the URL of the server.
func (s *Server) Endpoint() string { return "http://" + s.address }

// Address returns the host and the port of the server.
func (s *Server) Address() string { return s.address }

// Stop kills the server. Stored objects remain.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.end()
}

// Start starts the server again after Stop, at the same address and with the same objects.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
}

// Freeze suspends the server: the kernel accepts connections, and nothing answers.
func (s *Server) Freeze(t testing.TB) {
	t.Helper()
	pid := s.signal(t, syscall.SIGSTOP)
	// The signal is asynchronous.
	var status syscall.WaitStatus
	_, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil)
	for errors.Is(err, syscall.EINTR) {
		_, err = syscall.Wait4(pid, &status, syscall.WUNTRACED, nil)
	}
	if err != nil || !status.Stopped() {
		t.Fatalf("the S3 server is not frozen (error %v, status %#x)", err, status)
	}
}

// Thaw resumes the server after Freeze.
func (s *Server) Thaw(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGCONT)
}

func (s *Server) signal(t testing.TB, signal syscall.Signal) (pid int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil {
		t.Fatal("the S3 server is not running")
	}
	if err := s.server.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	return s.server.Process.Pid
}

// end kills the server.
func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil {
		return
	}
	_ = s.server.Process.Kill() // it may have ended
	<-s.ended
	s.server = nil
}

// run starts the server and waits until it answers.
func (s *Server) run() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != nil {
		return errors.New("the S3 server is already running")
	}
	server := command(s.file, s.folder, s.address)
	server.SysProcAttr, server.Dir = attributes(), s.folder
	log, err := os.Create(filepath.Join(s.folder, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the server has its own descriptor
	server.Stdout, server.Stderr = log, log
	ended := make(chan struct{})
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // Pdeathsig refers to the thread that started the server
		err := server.Start()
		started <- err
		if err == nil {
			_ = server.Wait() // it is killed
			close(ended)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	if err := s.wait(ended); err != nil {
		_ = server.Process.Kill() // it may have ended
		<-ended
		text, _ := os.ReadFile(log.Name()) // best effort
		return fmt.Errorf("%w\n%s", err, text)
	}
	s.server, s.ended = server, ended
	return nil
}

// wait waits until the server answers.
func (s *Server) wait(ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		err := s.ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return errors.New("the S3 server has ended")
		case <-ctx.Done():
			return fmt.Errorf("the S3 server does not answer: %w", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// ask sends a request; any response will do.
func (s *Server) ask(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Endpoint(), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Setenv sets Environ for this process. Call it in TestMain, before any test runs.
func Setenv() error {
	for _, e := range Environ() {
		name, value, _ := strings.Cut(e, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}
