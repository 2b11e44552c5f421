package library

import (
	"os"
	"path/filepath"
	"testing"

	"herbarium/internal/segment"
)

func openBells(t *testing.T) (path string, here, there *bell) {
	t.Helper()
	path = filepath.Join(t.TempDir(), bellFile)
	for _, b := range []**bell{&here, &there} {
		var err error
		if *b, err = openBell(segment.OS{}, path); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { (*b).Close() })
	}
	return path, here, there
}

func TestBell(t *testing.T) {
	t.Parallel()
	_, here, there := openBells(t)
	if here.rung() || there.rung() {
		t.Error("a new bell has rung")
	}
	for range 3 {
		there.ring()
		if !here.rung() {
			t.Fatal("a ring that has returned is not heard")
		}
		here.heard(here.listen())
		if here.rung() {
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
	if here.rung() {
		t.Error("an empty bell has rung")
	}
	there.ring()
	if !here.rung() {
		t.Error("a ring after that is not heard")
	}
}
