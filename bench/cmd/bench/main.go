// Command bench builds the program and its peers, measures them in one run, and writes bench/RESULTS.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"herbarium/bench/internal/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	records int
	seed    uint64
	seconds float64
	alone   bool
	out     string
	data    string
}

func run(ctx context.Context, args []string, log io.Writer) error {
	var o options
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.IntVar(&o.records, "n", 1_000_000, "`number` of records; a tenth and a hundredth of it are measured, too")
	flags.Uint64Var(&o.seed, "seed", 1, "`seed` of the generator")
	flags.Float64Var(&o.seconds, "seconds", 2, "`time` for each server in each shape")
	flags.BoolVar(&o.alone, "alone", false, "measure Herbarium alone, with n records only")
	flags.StringVar(&o.out, "out", "bench/RESULTS.md", "`file` to write results to")
	flags.StringVar(&o.data, "data", "bench/data", "`folder` for files that later runs reuse")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.records < 100 || o.seconds < 0 {
		return errors.New("-n must be at least 100, and -seconds not below 0")
	}
	results, err := measureAll(ctx, o, log)
	if err != nil {
		return err
	}
	if err := results.Write(o.out); err != nil {
		return err
	}
	fmt.Fprintln(log, "wrote", o.out)
	return nil
}

// method is the text of the page.
const method = `Written by ` + "`make bench`" + `; [README.md](README.md) says how to repeat it. Compare two runs with
` + "`benchstat old.md new.md`" + `.

The servers run beside each other and beside the load generator, over loopback: all of them share the cores. They are
measured in turns. *herbarium* is ` + "`herbarium serve`" + ` with its default settings; *sqlite* is bench/peer, the same records in
SQLite with an index for every field that is filtered or sorted by; *constant* is a handler that writes a body
as large as the first page. cpu-ns/op is the processor time of the server for one request.`

// bench is the state of a run.
type bench struct {
	options
	log     io.Writer
	scratch string // folder that is removed at the end
	server  string // the programs
	peer    string
}

func measureAll(ctx context.Context, o options, log io.Writer) (_ *report.Report, err error) {
	if o.data, err = filepath.Abs(o.data); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.data, 0o755); err != nil {
		return nil, err
	}
	// Published data are kept on the same disk as the rest, not in a temporary folder that may be in memory.
	scratch, err := os.MkdirTemp(o.data, "run-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	b := &bench{
		options: o, log: log, scratch: scratch,
		server: filepath.Join(scratch, "herbarium"), peer: filepath.Join(scratch, "peer"),
	}
	if err := b.build(ctx); err != nil {
		return nil, err
	}
	result := &report.Report{Title: "Results", Text: method}
	if result.Machine, err = report.ThisMachine(ctx); err != nil {
		return nil, err
	}
	sizes := []int{o.records / 100, o.records / 10, o.records}
	if o.alone {
		sizes = sizes[2:]
	}
	for _, n := range slices.Compact(sizes) {
		if err := b.measureSize(ctx, n, result); err != nil {
			return nil, fmt.Errorf("with %d records: %w", n, err)
		}
	}
	return result, nil
}

func (b *bench) build(ctx context.Context) error {
	b.say("building")
	for path, pkg := range map[string]string{b.server: "herbarium/cmd/herbarium", b.peer: "herbarium/bench/cmd/peer"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w\n%s", pkg, err, out)
		}
	}
	return nil
}

// say logs progress.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.log, time.Now().Format("15:04:05 ")+format+"\n", args...)
}
