package library

import (
	"os"
	"path/filepath"
	"testing"

	"herbarium/internal/filesystem"
)

func openNotifiers(t *testing.T) (path string, here, there *notifier) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "changed")
	for _, n := range []**notifier{&here, &there} {
		var err error
		*n, err = openNotifier(filesystem.OS{}, path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { (*n).file.Close() })
	}
	return path, here, there
}

func TestNotifier(t *testing.T) {
	t.Parallel()
	_, here, there := openNotifiers(t)
	if here.changed() || there.changed() {
		t.Error("a new file counts as a notification")
	}
	for range 3 {
		there.notify()
		if !here.changed() {
			t.Fatal("a sent notification is not seen")
		}
		here.seen.Store(here.stamp())
		if here.changed() {
			t.Fatal("a notification is seen twice")
		}
	}
}

// TestNotifier_truncated truncates the file: it counts as one without notifications.
func TestNotifier_truncated(t *testing.T) {
	t.Parallel()
	path, here, there := openNotifiers(t)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if here.changed() {
		t.Error("a truncated file counts as a notification")
	}
	there.notify()
	if !here.changed() {
		t.Error("a later notification is not seen")
	}
}
