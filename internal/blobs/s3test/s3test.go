//go:build unix

// Package s3test runs an S3 server for tests. It is imported by tests alone.
package s3test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// The credentials of every server, and its region. They are the same for all, so that tests that run at the same time can
// take them from one environment.
const (
	AccessKey = "herbarium-test-access"
	SecretKey = "herbarium-test-secret-fuchsia"
	Region    = "us-east-1"
)

// Environ returns the environment that a process needs to use a server.
func Environ() []string {
	return []string{
		"AWS_ACCESS_KEY_ID=" + AccessKey,
		"AWS_SECRET_ACCESS_KEY=" + SecretKey,
		"AWS_REGION=" + Region,
		"AWS_CONFIG_FILE=" + os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
		"AWS_EC2_METADATA_DISABLED=true",
	}
}

// Setenv gives this process that environment. It is called by TestMain, before any test runs.
func Setenv() error {
	for _, e := range Environ() {
		name, value, _ := strings.Cut(e, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// Server is an S3 server that no other machine can reach. It ends with the test, or with the process.
type Server struct {
	program string
	folder  string
	address string // host and port; the same after each start

	mu     sync.Mutex
	server *exec.Cmd
	ended  chan struct{}
}

// errMissing says that there is no server to run.
var errMissing = errors.New("the S3 server is not built; `make s3` builds it")

// New starts a server. Where it has not been built the test is skipped, or fails if HERBARIUM_TEST_REQUIRE asks for it.
func New(t testing.TB) *Server {
	t.Helper()
	program, err := find()
	if errors.Is(err, errMissing) {
		if required := os.Getenv("HERBARIUM_TEST_REQUIRE"); required != "all" && !strings.Contains(required, "s3") {
			t.Skip(err)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{program: program, folder: t.TempDir()}
	for _, name := range []string{"objects", "metadata"} {
		if err := os.Mkdir(filepath.Join(s.folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(s.kill)
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

// find returns the server, which make has built at the root of the module.
func find() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("this is not run within the module")
		}
		folder = parent
	}
	program := filepath.Join(folder, "tools", "s3", "versitygw")
	if _, err := os.Stat(program); err != nil {
		return "", errMissing
	}
	return program, nil
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

// URL creates a bucket, unless it exists, and returns the address of the object store in it.
func (s *Server) URL(t testing.TB, bucket string) string {
	t.Helper()
	_, err := s.Client().CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket})
	if _, owned := errors.AsType[*types.BucketAlreadyOwnedByYou](err); err != nil && !owned {
		t.Fatal(err)
	}
	return Through(bucket, s.Endpoint())
}

// Through returns the address of the object store in a bucket, behind an endpoint such as that of a proxy.
func Through(bucket, endpoint string) string {
	return "s3://" + bucket + "?" + url.Values{"endpoint": {endpoint}, "region": {Region}}.Encode()
}

// Client returns a client of the server.
func (s *Server) Client() *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(s.Endpoint()),
		Region:       Region,
		Credentials:  credentials.NewStaticCredentialsProvider(AccessKey, SecretKey, ""),
		UsePathStyle: true,
	})
}

// Stop ends the server at once. What it has stored stays.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.kill()
}

// Start starts the server again after Stop, at the same address and with what it has stored.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
}

// Freeze stops the server from doing anything: connections are accepted, and nothing is said.
func (s *Server) Freeze(t testing.TB) { s.signal(t, syscall.SIGSTOP) }

// Thaw lets it go on after Freeze.
func (s *Server) Thaw(t testing.TB) { s.signal(t, syscall.SIGCONT) }

func (s *Server) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil {
		t.Fatal("the S3 server is not running")
	}
	if err := s.server.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != nil {
		_ = s.server.Process.Kill() // it may have ended
		<-s.ended
		s.server = nil
	}
}

// run starts the server and waits until it answers.
func (s *Server) run() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != nil {
		return errors.New("the S3 server is running already")
	}
	server := exec.Command(s.program, "--port", s.address, "--quiet", "--keep-alive",
		"--region", Region, "posix", "--sidecar", filepath.Join(s.folder, "metadata"), filepath.Join(s.folder, "objects"))
	server.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+AccessKey, "ROOT_SECRET_KEY="+SecretKey)
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
			return errors.New("the S3 server has ended")
		case <-ctx.Done():
			return fmt.Errorf("the S3 server does not answer: %w", err)
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
