//go:build unix

package s3test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"herbarium/internal/programtest"
)

// program is the path of the server below the root of the module.
const program = "tools/s3/versitygw"

// Server is an S3 server that only this machine can reach. It ends with the test, or with the process.
type Server struct {
	file    string
	folder  string
	address string // host and port; the same after each start

	mu      sync.Mutex
	process *programtest.Process // nil if it is stopped
}

// New starts a server. If it has not been built, the test is skipped, or fails if HERBARIUM_TEST_REQUIRE names it.
func New(t testing.TB) *Server {
	t.Helper()
	root, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{file: filepath.Join(filepath.Dir(strings.TrimSpace(string(root))), filepath.FromSlash(program)), folder: t.TempDir()}
	if _, err := os.Stat(s.file); err != nil {
		programtest.SkipWithout(t, "s3", "the S3 server is missing; run `make s3`")
	}
	t.Cleanup(func() { s.Stop(t) })
	for range 5 { // another process may use the port between its choice and its use
		if s.address, err = programtest.FreeAddr(); err == nil {
			if err = s.run(); err == nil {
				return s
			}
		}
	}
	t.Fatal(err)
	return nil
}

// Endpoint returns the URL of the server.
func (s *Server) Endpoint() string { return "http://" + s.address }

// Address returns the host and the port of the server.
func (s *Server) Address() string { return s.address }

// Stop kills the server. Stored objects remain.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		s.process.Kill()
		s.process = nil
	}
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
	if s.process == nil {
		t.Fatal("the S3 server is not running")
	}
	if err := s.process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	return s.process.PID()
}

// run starts the server and waits until it answers.
func (s *Server) run() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		return errors.New("the S3 server is already running")
	}
	cmd := command(s.file, s.folder, s.address)
	cmd.Dir = s.folder
	process, err := programtest.StartProcess(cmd)
	if err != nil {
		return err
	}
	if err := process.Wait(context.Background(), func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Endpoint(), nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(r) // any response will do
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}); err != nil {
		process.Kill()
		return err
	}
	s.process = process
	return nil
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
