package cli_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herbarium/internal/app"
)

// managerSocket listens as a service manager does, at a path that is short enough for a socket.
func managerSocket(t *testing.T) (path string, next func() string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "notify")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path = filepath.Join(dir, "s")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return path, func() string {
		t.Helper()
		buf := make([]byte, 256)
		if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		n, err := conn.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
}

func TestServe_notifiesServiceManager(t *testing.T) {
	t.Parallel()
	socket, next := managerSocket(t)
	e := newEnvironment(t)
	e[app.NotifyEnv] = socket
	s := e.serve(t)
	if got := next(); got != "READY=1" {
		t.Fatalf("the manager was sent %q; want READY=1", got)
	}
	if status, body := s.get(t, "/readyz"); status != http.StatusOK {
		t.Errorf("READY=1 was sent, but: %d %s", status, body)
	}
	s.stop()
	if got := next(); got != "STOPPING=1" {
		t.Errorf("the manager was sent %q; want STOPPING=1", got)
	}
}

func TestServe_serviceManagerUnreachable(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e[app.NotifyEnv] = filepath.Join(t.TempDir(), "nobody")
	s := e.serve(t)
	if status, body := s.get(t, "/readyz"); status != http.StatusOK {
		t.Errorf("not served: %d %s", status, body)
	}
	s.stop()
	if log := s.log.String(); !strings.Contains(log, "cannot notify service manager") {
		t.Errorf("the log does not report the failed notification:\n%s", log)
	}
}
