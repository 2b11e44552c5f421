package filesystem

import (
	"errors"
	"io"
	"os"
	"runtime"
	"testing"
)

// TestTempFile checks that a temporary file can be read back, and leaves nothing behind.
func TestTempFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := TempFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := func() int {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	if n := names(); n > 0 && runtime.GOOS != "windows" {
		t.Errorf("the file has a name")
	}
	_, err = io.WriteString(f, "text")
	content, failed := io.ReadAll(io.NewSectionReader(f, 0, 10))
	err = errors.Join(err, failed, f.Close())
	if err != nil || string(content) != "text" {
		t.Errorf("read %q, %v", content, err)
	}
	if n := names(); n > 0 {
		t.Errorf("%d files are left", n)
	}
	if _, err := TempFile(dir + "/missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a folder that does not exist: %v", err)
	}
}
