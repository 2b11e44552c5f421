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

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
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

// command returns the command that starts a server with its data in a folder.
func command(file, folder, address string) *exec.Cmd {
	objects, metadata := filepath.Join(folder, "objects"), filepath.Join(folder, "metadata")
	for _, folder := range []string{objects, metadata} {
		_ = os.Mkdir(folder, 0o700) // it exists after a restart; otherwise the server reports the error
	}
	server := exec.Command(file, "--port", address, "--quiet", "--keep-alive", "--region", Region, "posix", "--sidecar", metadata,
		objects)
	server.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+AccessKey, "ROOT_SECRET_KEY="+SecretKey)
	return server
}

// URL creates a bucket, unless it exists, and returns the address of the object store in it.
func (s *Server) URL(t testing.TB, bucket string) string {
	t.Helper()
	err := s.Client(t).MakeBucket(t.Context(), bucket, minio.MakeBucketOptions{Region: Region})
	if e, ok := errors.AsType[minio.ErrorResponse](err); err != nil && (!ok || e.Code != minio.BucketAlreadyOwnedByYou) {
		t.Fatal(err)
	}
	return s.Through(bucket, s.Endpoint())
}

// Through returns the address of the object store in a bucket, behind an endpoint such as that of a proxy.
func (s *Server) Through(bucket, endpoint string) string {
	return "s3://" + bucket + "?" + url.Values{"endpoint": {endpoint}, "region": {Region}}.Encode()
}

// Client returns a client of the server.
func (s *Server) Client(t testing.TB) *minio.Core {
	t.Helper()
	c, err := minio.NewCore(s.Address(), &minio.Options{Creds: credentials.NewStaticV4(AccessKey, SecretKey, ""), Region: Region})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
