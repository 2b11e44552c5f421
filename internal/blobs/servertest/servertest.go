//go:build unix

// Package servertest runs servers of object stores for tests, each as a process of its own. It is imported by tests alone,
// through the packages of the servers.
package servertest

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

// Program is what is run.
type Program struct {
	// Name is what people call it: "S3 server".
	Name string
	// Part is what HERBARIUM_TEST_REQUIRE calls it, and the target of make that brings it.
	Part string
	// File is what make brings, from the root of the module.
	File string
	// Command returns what starts it: the file that is there, a folder for what it keeps, the host and the port at which it
	// listens.
	Command func(file, folder, address string) *exec.Cmd
	// End is the signal that ends it without losing what it has acknowledged. Zero means one that it cannot see.
	End syscall.Signal
}

// Server is a server that no other machine can reach. It ends with the test, or with the process.
type Server struct {
	program Program
	file    string
	folder  string
	address string // host and port; the same after each start

	mu     sync.Mutex
	server *exec.Cmd
	ended  chan struct{}
}

// New starts a server. Where it has not been brought the test is skipped, or fails if HERBARIUM_TEST_REQUIRE asks for it.
func New(t testing.TB, program Program) *Server {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{program: program, file: filepath.Join(root, filepath.FromSlash(program.File)), folder: t.TempDir()}
	if _, err := os.Stat(s.file); err != nil {
		required := os.Getenv("HERBARIUM_TEST_REQUIRE")
		if required == "all" || strings.Contains(required, program.Part) {
			t.Fatalf("the %s is missing; `make %s` brings it", program.Name, program.Part)
		}
		t.Skipf("the %s is missing; `make %s` brings it", program.Name, program.Part)
	}
	t.Cleanup(s.end)
	// Somebody may take the port between its choice and its use.
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

// moduleRoot returns the folder of the module that is tested.
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
			return "", errors.New("this is not run within the module")
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

// Endpoint returns where the server is.
func (s *Server) Endpoint() string { return "http://" + s.address }

// Address returns the host and the port of the server.
func (s *Server) Address() string { return s.address }

// Stop ends the server at once. What it has stored stays.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.end()
}

// Start starts the server again after Stop, at the same address and with what it has stored.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
}

// Freeze stops the server from doing anything: connections are accepted, and nothing is said.
func (s *Server) Freeze(t testing.TB) {
	t.Helper()
	pid := s.signal(t, syscall.SIGSTOP)
	// It may go on for a while after it was told.
	var status syscall.WaitStatus
	_, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil)
	for errors.Is(err, syscall.EINTR) {
		_, err = syscall.Wait4(pid, &status, syscall.WUNTRACED, nil)
	}
	if err != nil || !status.Stopped() {
		t.Fatalf("the %s is not frozen (error %v, status %#x)", s.program.Name, err, status)
	}
}

// Thaw lets it go on after Freeze.
func (s *Server) Thaw(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGCONT)
}

func (s *Server) signal(t testing.TB, signal syscall.Signal) (pid int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil {
		t.Fatalf("the %s is not running", s.program.Name)
	}
	if err := s.server.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	return s.server.Process.Pid
}

// end ends the server. One that does not end when it is asked to is killed.
func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil {
		return
	}
	if s.program.End != 0 {
		_ = s.server.Process.Signal(s.program.End) // it may have ended
		select {
		case <-s.ended:
		case <-time.After(10 * time.Second):
		}
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
		return fmt.Errorf("the %s is running already", s.program.Name)
	}
	server := s.program.Command(s.file, s.folder, s.address)
	server.SysProcAttr, server.Dir = attributes(), s.folder
	log, err := os.Create(filepath.Join(s.folder, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the server has its own
	server.Stdout, server.Stderr = log, log
	ended := make(chan struct{})
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the server would end with the thread that has started it
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
		text, _ := os.ReadFile(log.Name()) // the more is told the better
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
			return fmt.Errorf("the %s has ended", s.program.Name)
		case <-ctx.Done():
			return fmt.Errorf("the %s does not answer: %w", s.program.Name, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// ask sends a request; any answer will do.
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

// Setenv gives this process an environment. It is called by TestMain, before any test runs.
func Setenv(environ []string) error {
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}
