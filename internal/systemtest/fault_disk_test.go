//go:build linux

package systemtest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"herbarium/internal/must"
)

// smallDisk mounts a file system of a few megabytes, which needs root, and returns its folder.
func smallDisk(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=8m"); err != nil {
		t.Fatalf("cannot mount a small file system; run the tests as root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// fill writes a file until the disk is full, and returns its path.
func fill(t *testing.T, folder string) string {
	t.Helper()
	path := filepath.Join(folder, "filler")
	f, err := os.Create(path)
	must.NoError(t, err)
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return path
}

// unavailable waits until creations are rejected with 503, which may take some that still fit, and
// checks what is reported.
func (n *node) unavailable(t *testing.T, id *int) {
	t.Helper()
	eventually(t, "creations are rejected", func(context.Context) error {
		*id++
		r, err := n.plant(*id)
		switch {
		case err != nil:
			return err
		case r.Status == http.StatusOK:
			return fmt.Errorf("plant %d was created", *id)
		case r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") == "":
			t.Fatalf("status %d, Retry-After %q; want 503 and a time: %s", r.Status,
				r.Header.Get("Retry-After"), r.Body)
		}
		return nil
	})
	eventually(t, "/readyz reports it", func(context.Context) error {
		r, err := n.request(http.MethodGet, "/readyz", "")
		if err == nil && !strings.Contains(r.Body, "degraded") {
			err = fmt.Errorf("status %d: %s", r.Status, r.Body)
		}
		return err
	})
	n.listRepeatedly("/api/v1/garden/open/data")
}

// recovered waits until creations succeed and nothing is reported any more.
func (n *node) recovered(t *testing.T, id *int) {
	t.Helper()
	eventually(t, "creations succeed again", func(context.Context) error {
		*id++
		r, err := n.plant(*id)
		if err == nil && r.Status != http.StatusOK {
			err = fmt.Errorf("status %d: %s", r.Status, r.Body)
		}
		return err
	})
	eventually(t, "/readyz reports that all is well", func(context.Context) error {
		r, err := n.request(http.MethodGet, "/readyz", "")
		if err == nil && strings.Contains(r.Body, "degraded") {
			err = fmt.Errorf("status %d: %s", r.Status, r.Body)
		}
		return err
	})
}

// TestFullDisk fills the disk under a running server and frees it again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t)
	file := write(t, "a\n1\n", t.TempDir(), "garden", "open.csv")
	n := start(t, config{data: filepath.Join(disk, "data"), args: []string{"--watch", file}})
	id := 0
	n.recovered(t, &id)
	filler := fill(t, disk)
	n.unavailable(t, &id)
	if out, code := command(t, n.data, "publish", write(t, "a\n2\n", t.TempDir(), "garden", "open.csv")); code == 0 {
		t.Errorf("publish on a full disk: exit code 0\n%s", out)
	}
	must.NoError(t, os.WriteFile(file, []byte("a\n3\n"), 0o600))
	n.answers(t, "/readyz", "1 source could not be published")
	must.NoError(t, os.Remove(filler))
	n.answers(t, "/api/v1/garden/open/data", `[{"a":"3"}]`)
	n.recovered(t, &id)
}

// answers waits until a response contains a text.
func (n *node) answers(t *testing.T, path, want string) {
	t.Helper()
	eventually(t, path+" contains "+want, func(context.Context) error {
		r, err := n.request(http.MethodGet, path, "")
		if err == nil && !strings.Contains(r.Body, want) {
			err = fmt.Errorf("status %d: %s", r.Status, r.Body)
		}
		return err
	})
}

// TestReadOnlyDisk starts a server on a read-only disk, which cannot work, and again when the disk
// can be written.
func TestReadOnlyDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t)
	data := filepath.Join(disk, "data")
	file := write(t, "a\n1\n", t.TempDir(), "garden", "open.csv")
	run(t, data, "publish", file)
	must.NoError(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	for _, args := range [][]string{{"publish", file}, {"keys", "create", "--name", "x", "--scope", "data:read"}} {
		if out, code := command(t, data, args...); code != 1 || !strings.Contains(out, data) {
			t.Errorf("%s: exit code %d; want 1 and the path\n%s", args[0], code, out)
		}
	}
	if n, err := tryStart(t, config{data: data}); err == nil {
		n.expect(http.StatusOK, "/api/v1/garden/open/data")
		id := 0
		n.unavailable(t, &id)
		n.Kill()
	} else if !strings.Contains(err.Error(), data) {
		t.Errorf("serve: %v; want the path", err)
	}
	must.NoError(t, syscall.Mount("", disk, "", syscall.MS_REMOUNT, "size=8m"))
	n := start(t, config{data: data})
	n.expect(http.StatusOK, "/api/v1/garden/open/data")
	id := 0
	n.recovered(t, &id)
}
