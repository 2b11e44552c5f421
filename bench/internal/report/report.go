// Package report writes measurements as Markdown pages that benchstat can read.
package report

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prometheus/procfs"
)

// Report is a page of measurements.
type Report struct {
	Title string
	Text  string // how they were made
	Notes string // Markdown after the measurements
	lines []string
}

// Value is one figure of a measurement.
type Value struct {
	Number float64
	Unit   string
}

// Nanoseconds returns a duration as a Value.
func Nanoseconds(d time.Duration, unit string) Value { return Value{float64(d.Nanoseconds()), unit} }

// Bytes returns a number of bytes as a Value.
func Bytes(n int64, unit string) Value { return Value{float64(n), unit} }

// Load returns the figures of a server under load.
func Load(p50, p99 time.Duration, rate float64, cpu time.Duration) []Value {
	return []Value{
		Nanoseconds(p50, "p50-ns"), Nanoseconds(p99, "p99-ns"), {rate, "req/s"}, Nanoseconds(cpu, "cpu-ns/op"),
	}
}

// Add adds a measurement that was repeated n times. name follows the rules of Go's benchmarks:
// Name/key=value/key=value.
func (r *Report) Add(name string, n int, values ...Value) {
	var b strings.Builder
	fmt.Fprintf(&b, "Benchmark%s\t%d", strings.ReplaceAll(name, " ", "-"), n)
	for _, v := range values {
		fmt.Fprintf(&b, "\t%.6g\t%s", v.Number, v.Unit)
	}
	r.lines = append(r.lines, b.String())
}

// Write writes the page to a file. It describes this machine and needs Linux.
func (r *Report) Write(ctx context.Context, path string) error {
	cpu, machine, err := describeMachine(ctx)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n%s\n\nMeasured on %s.\n\n```\n", r.Title, r.Text, machine)
	fmt.Fprintf(&b, "goos: %s\ngoarch: %s\npkg: herbarium/bench\ncpu: %s\n", runtime.GOOS, runtime.GOARCH, cpu)
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, line := range r.lines {
		fmt.Fprintln(table, line)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	b.WriteString("```\n" + r.Notes)
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// describeMachine describes where and when measurements were made, and of what source.
func describeMachine(ctx context.Context) (cpu, description string, err error) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return "", "", err
	}
	memory, err := proc.Meminfo()
	if err != nil {
		return "", "", err
	}
	cpu = runtime.GOARCH
	if cores, err := proc.CPUInfo(); err == nil && len(cores) > 0 && cores[0].ModelName != "" {
		cpu = cores[0].ModelName
	}
	output := func(command ...string) string {
		out, err := exec.CommandContext(ctx, command[0], command[1:]...).Output()
		if err != nil {
			return "unknown" // such as outside of a repository
		}
		return strings.TrimSpace(string(out))
	}
	return cpu, fmt.Sprintf("%s, %d cores, %.1f GiB of memory, Linux %s, %s, on %s, at commit %s",
		cpu, runtime.NumCPU(), float64(*memory.MemTotalBytes)/(1<<30), output("uname", "-r"), runtime.Version(),
		time.Now().UTC().Format("2006-01-02 15:04 MST"), output("git", "describe", "--always", "--dirty", "--abbrev=12",
			"--exclude=*")), nil
}
