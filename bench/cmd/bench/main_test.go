package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/bench/internal/report"
	"herbarium/bench/shapes"
)

// TestRun does everything once with few records, and then adds a run of Herbarium alone.
func TestRun(t *testing.T) {
	t.Parallel()
	switch {
	case testing.Short():
		t.Skip("it builds and starts three servers")
	case runtime.GOOS != "linux":
		t.Skip("measuring needs /proc")
	}
	out, data := t.TempDir(), t.TempDir()
	common := []string{"-seconds", "0.003", "-out", out, "-data", data}
	for _, args := range [][]string{{"-n", "1000"}, {"-n", "2000", "-alone", "-inprocess=false"}} {
		var log bytes.Buffer
		if err := run(t.Context(), append(args, common...), &log); err != nil {
			t.Fatalf("%v\n%s", err, log.Bytes())
		}
	}
	r, err := report.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	if r.Main == nil || r.Large == nil || len(r.Main.Sizes) != 3 || len(r.Large.Sizes) != 1 {
		t.Fatalf("not all was measured: %+v", r)
	}
	for _, size := range append(r.Main.Sizes, r.Large.Sizes...) {
		alone := size.Records == 2000
		if size.CSVBytes == 0 || size.Publish.Bytes == 0 || size.Publish.PeakRSS == 0 || size.Start.Anon == 0 || size.PeerBytes == 0 != alone {
			t.Errorf("%d records: %+v", size.Records, size)
		}
		if len(size.Shapes) != len(shapes.All()) {
			t.Errorf("%d records: %d shapes", size.Records, len(size.Shapes))
		}
		for _, s := range size.Shapes {
			if s.One.Herbarium == nil || s.One.Herbarium.P50 <= 0 || s.One.Peer == nil != alone {
				t.Errorf("%d records, %s: %+v", size.Records, s.Name, s.One)
			}
		}
	}
	largest := r.Main.Largest()
	if largest.Shapes[0].Many.Floor == nil || len(largest.InProcess) != len(shapes.All()) ||
		len(r.Main.Depths) != 12 || r.Main.Ceiling == nil {
		t.Errorf("the largest size was not measured fully: %+v", largest)
	}
	page, err := os.ReadFile(filepath.Join(out, "RESULTS.md"))
	if err != nil || !strings.Contains(string(page), "1,000 records, one connection") || !strings.Contains(string(page), "## 2,000 records") {
		t.Errorf("RESULTS.md: %v\n%s", err, page)
	}
	if left, err := filepath.Glob(filepath.Join(data, "run-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestRun_refuses(t *testing.T) {
	t.Parallel()
	if err := run(t.Context(), []string{"-n", "5"}, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "-n must be") {
		t.Errorf("the error is %v", err)
	}
}

func TestParseBenchmarks(t *testing.T) {
	t.Parallel()
	got, err := parseBenchmarks("goos: linux\n" +
		"BenchmarkList/n=10000/shape=first-2   \t 1234\t 97933 ns/op\t 97470 p50-ns\t 98000 p99-ns\t 206440 B/op\t 8 allocs/op\n" +
		"BenchmarkList/n=10000/shape=two-words \t 1\t 1.5 ns/op\t 3 p99-ns\nPASS\n")
	want := []report.InProcess{
		{Name: "first", P50: 97_470 * time.Nanosecond, P99: 98 * time.Microsecond, Allocs: 8}, {Name: "two-words", P99: 3},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := parseBenchmarks("PASS\n"); err == nil {
		t.Error("no benchmarks are no error")
	}
}
