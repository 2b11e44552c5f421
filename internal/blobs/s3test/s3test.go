//go:build unix

// Package s3test runs an S3 server for tests. Only tests import it.
package s3test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// The credentials of every server, and its region. They are the same for all, so that tests that
// run at the same time can take them from one environment.
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

// URL creates a bucket, unless it exists, and returns the address of the object store in it.
func (s *Server) URL(t testing.TB, bucket string) string {
	t.Helper()
	err := s.Client(t).MakeBucket(t.Context(), bucket, minio.MakeBucketOptions{Region: Region})
	if e, ok := errors.AsType[minio.ErrorResponse](err); err != nil &&
		(!ok || e.Code != minio.BucketAlreadyOwnedByYou) {
		t.Fatal(err)
	}
	return s.Through(bucket, s.Endpoint())
}

// Through returns the address of the object store in a bucket, behind an endpoint such as that of a
// proxy.
func (s *Server) Through(bucket, endpoint string) string {
	return "s3://" + bucket + "?" + url.Values{"endpoint": {endpoint}, "region": {Region}}.Encode()
}

// Client returns a client of the server.
func (s *Server) Client(t testing.TB) *minio.Core {
	t.Helper()
	c, err := minio.NewCore(s.Address(), &minio.Options{Creds: credentials.NewStaticV4(AccessKey, SecretKey, ""),
		Region: Region})
	must.NoError(t, err)
	return c
}

// program is the path of the server below the root of the module.
const program = "tools/s3/versitygw"

// Server is an S3 server that only this machine can reach. It ends with the test, or with the
// process.
type Server struct {
	file    string
	folder  string
	address string               // host and port; the same after each start
	process *programtest.Process // nil if it is stopped
}

// New starts a server. If it has not been built, the test is skipped, or fails if
// HERBARIUM_TEST_REQUIRE names it.
func New(t testing.TB) *Server {
	t.Helper()
	root, err := exec.Command("go", "env", "GOMOD").Output()
	must.NoError(t, err)
	s := &Server{file: filepath.Join(filepath.Dir(strings.TrimSpace(string(root))), filepath.FromSlash(program)),
		folder: t.TempDir()}
	if _, err := os.Stat(s.file); err != nil {
		programtest.SkipWithout(t, "s3", "the S3 server is missing; run `make s3`")
	}
	t.Cleanup(func() { s.Stop(t) })
	for range 5 { // another process may use the port between its choice and its use
		s.address, err = programtest.FreeAddr()
		if err == nil {
			err = s.run()
			if err == nil {
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
	if s.process != nil {
		s.process.Kill()
		s.process = nil
	}
}

// Start starts the server again after Stop, at the same address and with the same objects.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	must.NoError(t, s.run())
}

// Freeze suspends the server: the kernel accepts connections, and nothing answers.
func (s *Server) Freeze(t testing.TB) {
	t.Helper()
	must.NoError(t, s.process.Freeze(t.Context()))
}

// Thaw resumes the server after Freeze.
func (s *Server) Thaw(t testing.TB) {
	t.Helper()
	must.NoError(t, s.process.Signal(syscall.SIGCONT))
}

// run starts the server and waits until it answers.
func (s *Server) run() error {
	objects, metadata := filepath.Join(s.folder, "objects"), filepath.Join(s.folder, "metadata")
	for _, folder := range []string{objects, metadata} {
		_ = os.Mkdir(folder, 0o700) // it exists after a restart; otherwise the server reports the error
	}
	cmd := exec.Command(s.file, s.address, Region, objects, metadata)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+AccessKey, "ROOT_SECRET_KEY="+SecretKey)
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
