//go:build unix

// Package s3test runs an S3 server for tests. It is imported by tests alone.
package s3test

import (
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"herbarium/internal/blobs/servertest"
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

// Server is an S3 server.
type Server struct{ *servertest.Server }

// New starts a server. Where it has not been built the test is skipped, or fails if HERBARIUM_TEST_REQUIRE asks for it.
func New(t testing.TB) *Server {
	t.Helper()
	return &Server{servertest.New(t, servertest.Program{
		Name:    "S3 server",
		Part:    "s3",
		File:    "tools/s3/versitygw",
		Command: command,
	})}
}

func command(file, folder, address string) *exec.Cmd {
	objects, metadata := filepath.Join(folder, "objects"), filepath.Join(folder, "metadata")
	for _, folder := range []string{objects, metadata} {
		_ = os.Mkdir(folder, 0o700) // it is there from the start before, or the server says what is wrong
	}
	server := exec.Command(file, "--port", address, "--quiet", "--keep-alive", "--region", Region, "posix", "--sidecar", metadata,
		objects)
	server.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+AccessKey, "ROOT_SECRET_KEY="+SecretKey)
	return server
}

// URL creates a bucket, unless it exists, and returns the address of the object store in it.
func (s *Server) URL(t testing.TB, bucket string) string {
	t.Helper()
	_, err := s.Client().CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &bucket})
	if _, owned := errors.AsType[*types.BucketAlreadyOwnedByYou](err); err != nil && !owned {
		t.Fatal(err)
	}
	return s.Through(bucket, s.Endpoint())
}

// Through returns the address of the object store in a bucket, behind an endpoint such as that of a proxy.
func (s *Server) Through(bucket, endpoint string) string {
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
