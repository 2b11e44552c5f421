//go:build linux

package segment_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// limitVariable names the environment variable with the resource that a child process of
// TestOpen_limits exhausts.
const limitVariable = "HERBARIUM_TEST_SEGMENT_LIMIT"

// TestOpen_limits opens a file in a child process that is out of file descriptors or of address
// space.
func TestOpen_limits(t *testing.T) {
	t.Parallel()
	if path := os.Getenv("HERBARIUM_TEST_SEGMENT_PATH"); path != "" {
		openWithLimit(path, os.Getenv(limitVariable))
		return
	}
	path := filepath.Join(t.TempDir(), "sparse.seg")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(1 << 30); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ limit, want string }{
		{"descriptors", "unavailable"},
		{"address space", "unavailable"},
		{"none", "internal"}, // not a segment
	} {
		t.Run(tt.limit, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOpen_limits$")
			cmd.Env = append(os.Environ(), "HERBARIUM_TEST_SEGMENT_PATH="+path, limitVariable+"="+tt.limit)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(string(out), "code="+tt.want+"\n") {
				t.Errorf("%s\nwant code=%s", out, tt.want)
			}
		})
	}
}

// openWithLimit lowers a limit of the process, opens a segment and prints the code of the error.
func openWithLimit(path, limit string) {
	resource, value := -1, uint64(0)
	switch limit {
	case "descriptors":
		resource = syscall.RLIMIT_NOFILE
	case "address space":
		resource, value = syscall.RLIMIT_AS, addressSpace()+128<<20
	}
	if resource >= 0 {
		var before syscall.Rlimit
		if err := syscall.Getrlimit(resource, &before); err != nil {
			panic(err)
		}
		setLimit(resource, syscall.Rlimit{Cur: value, Max: before.Max})
		defer setLimit(resource, before) // a child that measures coverage writes files at its end
	}
	_, err := segment.Open(path)
	fmt.Printf("error: %v\ncode=%s\n", err, herb.CodeOf(err))
}

func setLimit(resource int, limit syscall.Rlimit) {
	if err := syscall.Setrlimit(resource, &limit); err != nil {
		panic(err)
	}
}

// addressSpace returns the size of the address space used by the process.
func addressSpace() uint64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		panic(err)
	}
	var pages uint64
	if _, err := fmt.Sscan(string(b), &pages); err != nil {
		panic(err)
	}
	return pages * uint64(os.Getpagesize())
}
