package library

import (
	"os"
	"path/filepath"
	"testing"

	"herbarium/internal/segment"
)

func openBells(t *testing.T) (path string, here, there *notifier) {
	t.Helper()
	path = filepath.Join(t.TempDir(), notificationFile)
	for _, b := range []**notifier{&here, &there} {
		var err error
		if *b, err = openNotifier(segment.OS{}, path); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { (*b).Close() })
	}
	return path, here, there
}

func TestBell(t *testing.T) {
	t.Parallel()
	_, here, there := openBells(t)
	if here.changed() || there.changed() {
		t.Error("a new bell has rung")
	}
	for range 3 {
		there.notify()
		if !here.changed() {
			t.Fatal("a ring that has returned is not heard")
		}
		here.acknowledge(here.stamp())
		if here.changed() {
			t.Fatal("a ring is heard twice")
		}
	}
}

// TestBell_cutShort takes the file away from under the map: no reason to end the process.
func TestBell_cutShort(t *testing.T) {
	t.Parallel()
	path, here, there := openBells(t)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if here.changed() {
		t.Error("an empty bell has rung")
	}
	there.notify()
	if !here.changed() {
		t.Error("a ring after that is not heard")
	}
}
