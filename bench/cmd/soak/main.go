//go:build unix

// Command soak overloads a server for minutes with everything at once: slow readers, half-open connections, expensive
// queries, exports, writes and publishes. It checks that cheap listings keep their throughput, that memory stays below
// the limit, that no acknowledged write is lost and that the server recovers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"herbarium/internal/programtest"
)

// What a run must hold.
const (
	leastThroughput = 0.8 // of that between the phases of overload
	mostRecovery    = time.Minute
)

// options of a run.
type options struct {
	duration time.Duration // of the overload
	overload int           // clients in each lane, as a multiple of its slots
	cheap    int           // clients that list cheaply
	records  int           // of the dataset
	memory   int64         // bytes
	only     string        // the kind of load; empty: all
}

func main() {
	var o options
	var program string
	flag.DurationVar(&o.duration, "soak.duration", 10*time.Minute, "`time` of overload")
	flag.IntVar(&o.overload, "soak.overload", 4, "clients of each kind, as a `multiple` of what the server runs at once")
	flag.IntVar(&o.cheap, "soak.clients", 8, "`number` of clients that list cheaply")
	flag.IntVar(&o.records, "soak.records", 100_000, "`number` of records of the dataset")
	flag.Int64Var(&o.memory, "soak.memory", 1<<30, "memory limit of the server in `bytes`")
	flag.StringVar(&o.only, "soak.only", "", "the only `kind` of load, to find out what it costs: "+strings.Join(kinds(), "; "))
	flag.StringVar(&program, "soak.program", "", "`path` of the program; empty: build it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, program); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// run sets everything up, soaks the server and prints the summary.
func run(ctx context.Context, o options, program string) (err error) {
	folder, err := os.MkdirTemp("", "soak")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if program == "" {
		if program, err = programtest.Install(ctx, folder); err != nil {
			return err
		}
	}
	s := &soak{options: o, program: program, data: filepath.Join(folder, "data"), counts: newCounts()}
	if err := s.prepare(ctx, folder); err != nil {
		return err
	}
	defer func() { s.server.Kill() }()
	result, err := s.run(ctx)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, tail(s.server.Output()))
	}
	return s.report(result)
}

// tail returns the end of a log.
func tail(s string) string { return s[max(0, len(s)-4<<10):] }

// result is what was measured.
type result struct {
	idle, overload        rate
	memory                int64         // the most
	acknowledged, missing int           // writes
	recovery              time.Duration // the longest
}

// check is one line of the summary.
type check struct {
	name, measured, want string
	ok                   bool
}

// report prints the summary and fails if a check does.
func (s *soak) report(r result) error {
	peak, got := r.idle.perSecond(), r.overload.perSecond()
	share := got / peak
	checks := []check{
		{"cheap listings, throughput", fmt.Sprintf("%.0f/s, %.0f %% of %.0f/s", got, 100*share, peak),
			fmt.Sprintf(">= %.0f %%", 100*leastThroughput), share >= leastThroughput},
		{"cheap listings, failed", fmt.Sprint(r.overload.failed), "0", r.overload.failed == 0},
		{"memory, without mapped files", megabytes(r.memory), "<= " + megabytes(s.memory), r.memory <= s.memory},
		{"acknowledged writes lost", fmt.Sprintf("%d of %d", r.missing, r.acknowledged), "0", r.missing == 0 && r.acknowledged > 0},
		{"recovery", r.recovery.Round(100 * time.Millisecond).String(), "<= " + mostRecovery.String(), r.recovery <= mostRecovery},
		{"unexpected answers", s.counts.unexpected(), "none", s.counts.unexpected() == "none"},
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CHECK\tMEASURED\tWANT\tRESULT")
	var failed []string
	for _, c := range checks {
		verdict := "ok"
		if !c.ok {
			verdict = "FAILED"
			failed = append(failed, c.name)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", c.name, c.measured, c.want, verdict)
	}
	fmt.Fprintln(t, "\nCHEAP LISTINGS\tPER SECOND\tP50\tP99")
	for _, phase := range []struct {
		name string
		rate rate
	}{{"idle", r.idle}, {"overload", r.overload}} {
		h := &phase.rate.latency
		fmt.Fprintf(t, "%s\t%.0f\t%s\t%s\n", phase.name, phase.rate.perSecond(),
			h.Quantile(0.5).Round(10*time.Microsecond), h.Quantile(0.99).Round(10*time.Microsecond))
	}
	fmt.Fprintln(t, "\nLOAD\tCLIENTS\tANSWERS")
	for _, kind := range s.counts.kinds() {
		fmt.Fprintf(t, "%s\t%d\t%s\n", kind, s.clients[kind], s.counts.of(kind))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("failed: %s", strings.Join(failed, ", "))
	}
	return nil
}

func megabytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
