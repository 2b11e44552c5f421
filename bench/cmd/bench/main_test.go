package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/testseed"
)

// TestMain lets the measured program start the test as one of its servers.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == peerCommand {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestRun measures with few records, once beside the other servers and once alone.
func TestRun(t *testing.T) {
	t.Parallel()
	if !testseed.Soak() {
		t.Skip("only soak runs build and start three servers; run `make soak`")
	}
	data := t.TempDir()
	for _, c := range []struct {
		name string
		args []string
		want []string
		not  string
	}{
		{"all", []string{"-n", "1000"}, []string{
			"BenchmarkPublish/n=1000 ", "BenchmarkStart/n=10 ", "BenchmarkServe/n=100/shape=first/conns=1/server=sqlite ",
			"BenchmarkServe/n=1000/shape=first/conns=16/server=constant ", "BenchmarkServe/n=1000/shape=last/conns=16/server=herbarium ",
			"BenchmarkCeiling/n=1000/conns=16/server=constant ", "BenchmarkCliff/n=1000/shape=first-gzip/conns=16/server=herbarium ",
			"BenchmarkRandom/n=1000/conns=1/server=herbarium ", "## Slowest random requests\n",
		}, "NaN"},
		{"random", []string{"-n", "1000", "-random-only"}, []string{"BenchmarkRandom/n=1000/conns=1/server=constant "}, "Serve"},
		{"alone", []string{"-n", "2000", "-alone"}, []string{"BenchmarkServe/n=2000/shape=first/conns=16/server=herbarium "}, "sqlite "},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "RESULTS.md")
			var log bytes.Buffer
			if err := run(t.Context(), append(c.args, "-seconds", "0.003", "-random", "20", "-out", out, "-data", data), &log); err != nil {
				t.Fatalf("%v\n%s", err, log.Bytes())
			}
			page, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(string(page), want) {
					t.Errorf("no %q in\n%s", want, page)
				}
			}
			_, lines, _ := strings.Cut(string(page), "```\n")
			if strings.Contains(lines, c.not) {
				t.Errorf("%q in\n%s", c.not, lines)
			}
		})
	}
	if left, err := filepath.Glob(filepath.Join(data, "run-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestRun_invalidFlags(t *testing.T) {
	t.Parallel()
	if err := run(t.Context(), []string{"-n", "5"}, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "-n must be") {
		t.Errorf("the error is %v", err)
	}
}
