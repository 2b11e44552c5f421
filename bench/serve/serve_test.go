//go:build linux

// Package serve measures a server, the same records in SQLite, and a handler that writes a constant
// response. `make bench` runs it and writes bench/RESULTS.md; soak runs measure a few records.
package serve

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"herbarium/bench/internal/report"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
	"herbarium/internal/testseed"
)

var (
	out        = flag.String("out", "", "`file` to write results to; without it, nothing is measured")
	records    = flag.Int("records", 1_000_000, "`number` of records; a tenth and a hundredth of it are measured, too")
	seed       = flag.Uint64("seed", 1, "`seed` of the generator")
	seconds    = flag.Float64("seconds", 2, "`time` for each server in each shape")
	random     = flag.Int("random", 1000, "`number` of random requests")
	randomOnly = flag.Bool("random-only", false, "measure random requests only, with all records")
	alone      = flag.Bool("alone", false, "measure without SQLite, with all records only")
	data       = flag.String("data", "../data", "`folder` for files that later runs reuse")
)

// method is the text of the page.
const method = `Written by ` + "`make bench`" + `; [README.md](README.md) says how to repeat it. Compare two runs with
` + "`benchstat old.md new.md`" + `.

The servers run beside each other and beside the load generator, over loopback: all of them share the cores. They are
measured in turns. *herbarium* is ` + "`herbarium serve`" + ` with its default settings; *sqlite* is bench/peer, the same records in
SQLite with an index for every field that is filtered or sorted by; *constant* is a handler that writes a body
as large as the first page. cpu-ns/op is the processor time of the server for one request. *Cliff* lines are queries
that are expensive in most engines; only Herbarium and the constant handler are measured with them. *Random* lines are the
latencies of random requests, each the fastest of three attempts; the slowest are listed at the end.`

// TestMain serves records if this program has started itself as one of the servers.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == peerCommand {
		if err := servePeer(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestMeasure(t *testing.T) {
	if *out == "" {
		t.Skip("takes half an hour; run `make bench`")
	}
	s := settings{*records, *seed, *seconds, *random, *randomOnly, *alone || *randomOnly, *data}
	must.NoError(t, measure(t, s).Write(t.Context(), *out))
}

// TestMeasure_small measures with few records, once beside the other servers and once alone.
func TestMeasure_small(t *testing.T) {
	t.Parallel()
	if !testseed.Soak() {
		t.Skip("only soak runs build and start three servers; run `make soak`")
	}
	data := t.TempDir()
	for _, c := range []struct {
		name string
		settings
		want []string
		not  string
	}{
		{"all", settings{records: 1000}, []string{
			"BenchmarkPublish/n=1000 ", "BenchmarkStart/n=10 ",
			"BenchmarkServe/n=100/shape=first/conns=1/server=sqlite ",
			"BenchmarkServe/n=1000/shape=first/conns=16/server=constant ",
			"BenchmarkServe/n=1000/shape=last/conns=16/server=herbarium ",
			"BenchmarkCeiling/n=1000/conns=16/server=constant ",
			"BenchmarkCliff/n=1000/shape=first-gzip/conns=16/server=herbarium ",
			"BenchmarkRandom/n=1000/conns=1/server=herbarium ", "## Slowest random requests\n",
		}, "NaN"},
		{"random", settings{records: 1000, randomOnly: true, alone: true},
			[]string{"BenchmarkRandom/n=1000/conns=1/server=constant "}, "Serve"},
		{"alone", settings{records: 2000, alone: true},
			[]string{"BenchmarkServe/n=2000/shape=first/conns=16/server=herbarium "}, "sqlite "},
	} {
		c.seed, c.seconds, c.random, c.data = 1, 0.003, 20, data
		file := filepath.Join(t.TempDir(), "RESULTS.md")
		t.Run(c.name, func(t *testing.T) { must.NoError(t, measure(t, c.settings).Write(t.Context(), file)) })
		page, err := os.ReadFile(file)
		must.NoError(t, err)
		for _, want := range c.want {
			if !strings.Contains(string(page), want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, page)
			}
		}
		if _, lines, _ := strings.Cut(string(page), "```\n"); strings.Contains(lines, c.not) {
			t.Errorf("%s: %q in\n%s", c.name, c.not, lines)
		}
	}
	if left, err := filepath.Glob(filepath.Join(data, "run-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// settings are how much is measured. The flags describe them.
type settings struct {
	records    int
	seed       uint64
	seconds    float64
	random     int
	randomOnly bool
	alone      bool
	data       string
}

// bench is the state of a run.
type bench struct {
	settings
	scratch string // folder that is removed at the end
	server  string // the program that is measured
	report  report.Report
}

// measure measures and returns the results.
func measure(t *testing.T, s settings) *report.Report {
	if s.records < 100 {
		t.Fatal("-records must be at least 100")
	}
	b := &bench{settings: s, report: report.Report{Title: "Results", Text: method}}
	must.NoError(t, os.MkdirAll(s.data, 0o755))
	// Published data are kept on the same disk as the rest, not in a temporary folder that may be
	// in memory.
	var err error
	b.scratch, err = os.MkdirTemp(s.data, "run-")
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, os.RemoveAll(b.scratch)) })
	b.server, err = programtest.Install(t.Context(), b.scratch)
	must.NoError(t, err)
	b.server, err = filepath.Abs(b.server)
	must.NoError(t, err)
	sizes := []int{s.records / 100, s.records / 10, s.records}
	if s.alone {
		sizes = sizes[2:]
	}
	for _, n := range slices.Compact(sizes) {
		t.Run(fmt.Sprint(n), func(t *testing.T) { b.measureSize(t, n) })
	}
	return &b.report
}
