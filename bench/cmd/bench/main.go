// Command bench builds the program and its peers, measures them in one run, and writes bench/RESULTS.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"herbarium/bench/internal/report"
	"herbarium/internal/programtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := runCommand(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// runCommand measures, or serves if this program has started itself as a server.
func runCommand(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == peerCommand {
		return servePeer(ctx, args[1:])
	}
	return run(ctx, args, os.Stderr)
}

// method is the text of the page.
const method = `Written by ` + "`make bench`" + `; [README.md](README.md) says how to repeat it. Compare two runs with
` + "`benchstat old.md new.md`" + `.

The servers run beside each other and beside the load generator, over loopback: all of them share the cores. They are
measured in turns. *herbarium* is ` + "`herbarium serve`" + ` with its default settings; *sqlite* is bench/peer, the same records in
SQLite with an index for every field that is filtered or sorted by; *constant* is a handler that writes a body
as large as the first page. cpu-ns/op is the processor time of the server for one request. *Cliff* lines are queries
that are expensive in most engines; only Herbarium and the constant handler are measured with them. *Random* lines are the
latencies of random requests, each the fastest of three attempts; the slowest are listed at the end.`

// bench is the state of a run.
type bench struct {
	records int
	seed    uint64
	seconds float64
	random  int
	only    bool
	alone   bool
	data    string

	log     io.Writer
	scratch string // folder that is removed at the end
	server  string // the program that is measured
	peer    string // this program
	report  report.Report
}

func run(ctx context.Context, args []string, log io.Writer) error {
	b := bench{log: log, report: report.Report{Title: "Results", Text: method}}
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	flags.IntVar(&b.records, "n", 1_000_000, "`number` of records; a tenth and a hundredth of it are measured, too")
	flags.Uint64Var(&b.seed, "seed", 1, "`seed` of the generator")
	flags.Float64Var(&b.seconds, "seconds", 2, "`time` for each server in each shape")
	flags.IntVar(&b.random, "random", 1000, "`number` of random requests")
	flags.BoolVar(&b.only, "random-only", false, "measure random requests only, with n records")
	flags.BoolVar(&b.alone, "alone", false, "measure without SQLite, with n records only")
	flags.StringVar(&b.data, "data", "bench/data", "`folder` for files that later runs reuse")
	out := flags.String("out", "bench/RESULTS.md", "`file` to write results to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if b.records < 100 || b.seconds < 0 {
		return errors.New("-n must be at least 100, and -seconds not below 0")
	}
	b.alone = b.alone || b.only
	if err := b.measureAll(ctx); err != nil {
		return err
	}
	b.say("writing %s", *out)
	return b.report.Write(*out)
}

func (b *bench) measureAll(ctx context.Context) (err error) {
	if b.data, err = filepath.Abs(b.data); err != nil {
		return err
	}
	if err := os.MkdirAll(b.data, 0o755); err != nil {
		return err
	}
	// Published data are kept on the same disk as the rest, not in a temporary folder that may be in memory.
	if b.scratch, err = os.MkdirTemp(b.data, "run-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.scratch)) }()
	b.say("building")
	if b.server, err = programtest.Install(ctx, b.scratch); err != nil {
		return err
	}
	if b.peer, err = os.Executable(); err != nil {
		return err
	}
	if b.report.Machine, err = report.ThisMachine(ctx); err != nil {
		return err
	}
	sizes := []int{b.records / 100, b.records / 10, b.records}
	if b.alone {
		sizes = sizes[2:]
	}
	for _, n := range slices.Compact(sizes) {
		if err := b.measureSize(ctx, n); err != nil {
			return fmt.Errorf("with %d records: %w", n, err)
		}
	}
	return nil
}

// say logs progress.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.log, time.Now().Format("15:04:05 ")+format+"\n", args...)
}
