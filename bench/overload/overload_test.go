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
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"herbarium/bench/internal/load"
	"herbarium/internal/programtest"
)

// What a run must hold.
const (
	minThroughput = 0.8 // of that between the phases of overload
	maxMemory     = 1 << 30
	maxRecovery   = time.Minute
)

func main() {
	var s soak
	flag.DurationVar(&s.duration, "soak.duration", 10*time.Minute, "`time` of overload")
	flag.IntVar(&s.overload, "soak.overload", 4, "clients of each kind, as a `multiple` of what the server runs at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := s.main(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// main sets everything up, soaks the server and prints the summary.
func (s *soak) main(ctx context.Context) (err error) {
	folder, err := os.MkdirTemp("", "soak")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if s.program, err = programtest.Install(ctx, folder); err != nil {
		return err
	}
	s.data, s.counts = filepath.Join(folder, "data"), map[string]map[string]int{}
	if err := s.prepare(ctx, folder); err != nil {
		return err
	}
	defer func() { s.server.Kill() }()
	result, err := s.run(ctx)
	if err != nil {
		log := s.server.Output()
		return fmt.Errorf("%w\n%s", err, log[max(0, len(log)-4<<10):])
	}
	return s.report(result)
}

// result is what was measured.
type result struct {
	idle, overload        load.Result
	failed                int           // connections that ended with another answer than 200, in the overload
	memory                int64         // maximum
	acknowledged, missing int           // writes
	recovery              time.Duration // maximum
}

// report prints the summary and fails if a check does.
func (s *soak) report(r result) error {
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CHECK\tMEASURED\tWANT\tRESULT")
	var failed []string
	check := func(name, want string, ok bool, format string, args ...any) {
		verdict := "ok"
		if !ok {
			verdict = "FAILED"
			failed = append(failed, name)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", name, fmt.Sprintf(format, args...), want, verdict)
	}
	share := r.overload.Rate() / r.idle.Rate()
	unexpected := s.unexpected()
	check("cheap listings, throughput", fmt.Sprintf(">= %.0f %%", 100*minThroughput), share >= minThroughput,
		"%.0f/s, %.0f %% of %.0f/s", r.overload.Rate(), 100*share, r.idle.Rate())
	check("cheap listings, failed", "0", r.failed == 0, "%d", r.failed)
	check("memory, without mapped files", fmt.Sprintf("<= %d MiB", maxMemory>>20), r.memory <= maxMemory, "%d MiB", r.memory>>20)
	check("acknowledged writes lost", "0", r.missing == 0 && r.acknowledged > 0, "%d of %d", r.missing, r.acknowledged)
	check("recovery", "<= "+maxRecovery.String(), r.recovery <= maxRecovery, "%s", r.recovery.Round(100*time.Millisecond))
	check("unexpected answers", "none", len(unexpected) == 0, "%s", strings.Join(unexpected, "; "))
	fmt.Fprintln(t, "\nCHEAP LISTINGS\tPER SECOND\tP50\tP99")
	for i, phase := range []*load.Result{&r.idle, &r.overload} {
		fmt.Fprintf(t, "%s\t%.0f\t%s\t%s\n", []string{"idle", "overload"}[i], phase.Rate(),
			phase.Latency.Quantile(0.5).Round(10*time.Microsecond), phase.Latency.Quantile(0.99).Round(10*time.Microsecond))
	}
	fmt.Fprintln(t, "\nLOAD\tCLIENTS\tANSWERS")
	for _, kind := range slices.Sorted(maps.Keys(s.counts)) {
		fmt.Fprintf(t, "%s\t%d\t%v\n", kind, s.clients[kind], s.counts[kind])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("failed: %s", strings.Join(failed, ", "))
	}
	return nil
}

// unexpected returns the outcomes that overload does not explain.
func (s *soak) unexpected() (all []string) {
	expected := []string{"200", "429", "503", "ended", "closed", "connection closed", "left", "published"}
	for kind, outcomes := range s.counts {
		for outcome, n := range outcomes {
			if !slices.Contains(expected, outcome) {
				all = append(all, fmt.Sprintf("%s: %s (%d)", kind, outcome, n))
			}
		}
	}
	slices.Sort(all)
	return all
}
