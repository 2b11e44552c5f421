package report_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/bench/internal/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// results are made up, each figure another.
func results() report.Results {
	machine := report.Machine{
		CPU: "Abacus", Cores: 2, Memory: 8 << 30, System: "Linux 6", Go: "go1.26", Commit: "abc",
		Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	measure := func(n int) *report.Measure {
		d := time.Duration(n) * time.Microsecond
		return &report.Measure{Requests: 1000 * n, P50: d, P99: 3 * d, Rate: 1e6 / float64(n), CPU: d / 2}
	}
	shape := func(name, title string, n int) report.Shape {
		return report.Shape{
			Name: name, Title: title, Total: 12_345,
			One:  report.Systems{Herbarium: measure(n), Peer: measure(300_000 * n), Floor: measure(40)},
			Many: report.Systems{Herbarium: measure(2 * n), Floor: measure(80)},
		}
	}
	size := func(n int) report.Size {
		return report.Size{
			Records: n, CSVBytes: int64(n) * 400, PeerBytes: int64(n) * 1000,
			Publish:   report.Publish{Took: 2 * time.Second, CPU: 3 * time.Second, PeakRSS: 200 << 20, PeakAnon: 100 << 20, Bytes: int64(n) * 600},
			Start:     report.Start{FirstAnswer: 20 * time.Millisecond, RSS: 30 << 20, Anon: 10 << 20, File: 20 << 20},
			Shapes:    []report.Shape{shape("first", "first page", 50), shape("common-word", "word of 40 %, by relevance", 500)},
			InProcess: []report.InProcess{{Name: "first", P50: 400, P99: 900, Allocs: 3}},
		}
	}
	depths := []report.Depth{
		{Query: "", Percent: 0, Page: 1, Systems: report.Systems{Herbarium: measure(50), Peer: measure(400)}},
		{Query: "", Percent: 100, Page: 400, Systems: report.Systems{Herbarium: measure(51), Peer: measure(90_000)}},
		{Query: "sort=price", Percent: 0, Page: 1, Systems: report.Systems{Herbarium: measure(52), Peer: measure(410)}},
		{Query: "sort=price", Percent: 100, Page: 400, Systems: report.Systems{Herbarium: measure(53), Peer: measure(99_000)}},
	}
	large := size(10_000_000)
	large.PeerBytes = 0
	for i := range large.Shapes {
		large.Shapes[i].One.Peer, large.Shapes[i].One.Floor, large.Shapes[i].Many.Floor = nil, nil, nil
	}
	return report.Results{
		Main: &report.Run{
			Machine: machine, Seconds: 2, Seed: 1, Sizes: []report.Size{size(1000), size(1_000_000)}, Depths: depths,
			Ceiling: &report.Ceiling{Bytes: 12_886, Herbarium: *measure(46), Floor: *measure(40)},
		},
		Large: &report.Run{Machine: machine, Seconds: 2, Seed: 1, Sizes: []report.Size{large}, Depths: depths[:2]},
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := report.Write(dir, results()); err != nil {
		t.Fatal(err)
	}
	read, err := report.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(results(), read); diff != "" {
		t.Errorf("what is read again (-want +got):\n%s", diff)
	}
	golden(t, filepath.Join(dir, "RESULTS.md"), "testdata/RESULTS.md")
	for plot, words := range map[string][]string{
		"shapes": {"1,000,000 records", "first page", "word of 40 %, by relevance", "15.0 s", "40.0 µs"},
		"depth":  {"no sort", "sort=price", "90.0 ms"},
		"size":   {">1k<", ">1M<", ">10M<", "first page"},
	} {
		svg, err := os.ReadFile(filepath.Join(dir, "plots", plot+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			if !strings.Contains(string(svg), w) {
				t.Errorf("the plot %s does not have %q", plot, w)
			}
		}
	}
}

// TestWrite_parts sees that either run does without the other.
func TestWrite_parts(t *testing.T) {
	t.Parallel()
	for name, drop := range map[string]func(*report.Results){
		"large alone": func(r *report.Results) { r.Main = nil },
		"main alone":  func(r *report.Results) { r.Large = nil },
		"nothing":     func(r *report.Results) { r.Main, r.Large = nil, nil },
	} {
		r := results()
		drop(&r)
		if err := report.Write(t.TempDir(), r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRead_nothing(t *testing.T) {
	t.Parallel()
	r, err := report.Read(t.TempDir())
	if err != nil || r.Main != nil || r.Large != nil {
		t.Errorf("%+v, %v", r, err)
	}
}
