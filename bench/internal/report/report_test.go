//go:build linux

package report_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/bench/internal/report"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	r := report.Report{Title: "Results", Text: "Made up."}
	r.Add("Serve/shape=two words/conns=16", 1234, report.Load(50*time.Microsecond, time.Millisecond, 20_000.5,
		30*time.Microsecond)...)
	r.Add("Publish/n=10", 1, report.Bytes(1<<20, "segment-B"))
	path := filepath.Join(t.TempDir(), "RESULTS.md")
	if err := r.Write(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(content), fmt.Sprintf(", %d cores, ", runtime.NumCPU())) ||
		!strings.Contains(string(content), "\ncpu: ") {
		t.Errorf("the page does not describe the machine:\n%s", content)
	}
	var lines [][]string
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "Benchmark") {
			lines = append(lines, strings.Fields(line))
		}
	}
	want := [][]string{
		strings.Fields("BenchmarkServe/shape=two-words/conns=16 1234 50000 p50-ns 1e+06 p99-ns 20000.5 req/s 30000 " +
			"cpu-ns/op"),
		strings.Fields("BenchmarkPublish/n=10 1 1.04858e+06 segment-B"),
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
