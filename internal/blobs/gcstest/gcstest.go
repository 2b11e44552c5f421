//go:build unix

// Package gcstest runs an emulator of Google Cloud Storage for tests. It is imported by tests alone.
package gcstest

import (
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/blobs/servertest"
)

// Server is an emulator of Google Cloud Storage. It asks for no credentials.
type Server struct{ *servertest.Server }

// New starts a server. Where it has not been built the test is skipped, or fails if HERBARIUM_TEST_REQUIRE asks for it.
func New(t testing.TB) *Server {
	t.Helper()
	return &Server{servertest.New(t, servertest.Program{
		Name:    "emulator of Google Cloud Storage",
		Part:    "gcs",
		File:    "tools/gcs/fake-gcs-server",
		Command: command,
	})}
}

func command(file, folder, address string) *exec.Cmd {
	host, port, _ := net.SplitHostPort(address)
	return exec.Command(file, "-scheme", "http", "-host", host, "-port", port, "-public-host", host,
		"-filesystem-root", filepath.Join(folder, "objects"), "-log-level", "error")
}

// URL creates a bucket, unless it exists, and returns the address of the object store in it.
func (s *Server) URL(t testing.TB, bucket string) string {
	t.Helper()
	body := strings.NewReader(`{"name": "` + bucket + `"}`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.Endpoint()+"/storage/v1/b?project=test", body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusConflict {
		t.Fatalf("a bucket cannot be created: %s", resp.Status)
	}
	return s.Through(bucket, s.Endpoint())
}

// Through returns the address of the object store in a bucket, behind an endpoint such as that of a proxy.
func (s *Server) Through(bucket, endpoint string) string {
	return "gs://" + bucket + "?" + url.Values{"anonymous": {"true"}, "endpoint": {endpoint}}.Encode()
}
