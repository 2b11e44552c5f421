package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"herbarium/bench/internal/report"
)

// measureInProcess runs the benchmarks of package bench, whose output is made for it.
func (b *bench) measureInProcess(ctx context.Context, n int) ([]report.InProcess, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkList$", "-timeout", "3h",
		"-benchtime", fmt.Sprintf("%gs", max(b.seconds, 0.01)), "herbarium/bench")
	cmd.Env = append(os.Environ(), "HERBARIUM_BENCH_SIZES="+strconv.Itoa(n), "HERBARIUM_BENCH_DATA="+b.data)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running the benchmarks: %w\n%s%s", err, out, stderr.Bytes())
	}
	return parseBenchmarks(string(out))
}

// parseBenchmarks reads lines such as
//
//	BenchmarkList/n=10000/shape=first-2  1234  97933 ns/op  97470 p50-ns  97470 p99-ns  206440 B/op  8 allocs/op
func parseBenchmarks(out string) ([]report.InProcess, error) {
	var list []report.InProcess
	for line := range strings.Lines(out) {
		_, shape, ok := strings.Cut(line, "/shape=")
		if !ok {
			continue
		}
		fields := strings.Fields(shape)
		name := fields[0]
		if i := strings.LastIndexByte(name, '-'); i >= 0 {
			if _, err := strconv.Atoi(name[i+1:]); err == nil { // the number of processors
				name = name[:i]
			}
		}
		p := report.InProcess{Name: name}
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("reading the benchmarks: %q: %w", line, err)
			}
			switch fields[i+1] {
			case "p50-ns":
				p.P50 = time.Duration(v)
			case "p99-ns":
				p.P99 = time.Duration(v)
			case "allocs/op":
				p.Allocs = int(v)
			}
		}
		list = append(list, p)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("there are no benchmarks in %q", out)
	}
	return list, nil
}
