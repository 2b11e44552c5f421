//go:build unix

// Package overload overloads a server for minutes with everything at once: slow readers, half-open connections, expensive
// queries, exports, writes and publishes. It checks that cheap listings keep their throughput, that memory stays below the
// limit, that no acknowledged write is lost and that the server recovers. `make overload` runs it.
package overload

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"herbarium/bench/internal/load"
	"herbarium/internal/programtest"
)

// Checks of a run.
const (
	minThroughput = 0.8 // of that between the phases of overload
	maxMemory     = 1 << 30
	maxRecovery   = time.Minute
)

var (
	duration = flag.Duration("duration", 0, "`time` of overload")
	multiple = flag.Int("overload", 4, "clients of each kind, as a `multiple` of what the server runs at once")
)

func TestOverload(t *testing.T) {
	if *duration == 0 {
		t.Skip("takes minutes; run `make overload`")
	}
	folder := t.TempDir()
	program, err := programtest.Install(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	s := &soak{duration: *duration, overload: *multiple, program: program, data: folder + "/data", counts: map[string]map[string]int{}}
	if err := s.prepare(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	defer func() { s.server.Kill() }()
	result, err := s.run(t.Context())
	if err != nil {
		log := s.server.Output()
		t.Fatalf("%v\n%s", err, log[max(0, len(log)-4<<10):])
	}
	s.report(t, result)
}

// result is what was measured.
type result struct {
	idle, overload        load.Result
	failed                int           // connections that ended with another answer than 200, in the overload
	memory                int64         // maximum
	acknowledged, missing int           // writes
	recovery              time.Duration // maximum
}

// report logs the summary and fails if a check does.
func (s *soak) report(t *testing.T, r result) {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nCHECK\tMEASURED\tWANT\tRESULT")
	check := func(name, want string, ok bool, format string, args ...any) {
		verdict := "ok"
		if !ok {
			verdict = "FAILED"
			t.Fail()
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", name, fmt.Sprintf(format, args...), want, verdict)
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
	fmt.Fprintln(table, "\nCHEAP LISTINGS\tPER SECOND\tP50\tP99")
	for i, phase := range []*load.Result{&r.idle, &r.overload} {
		fmt.Fprintf(table, "%s\t%.0f\t%s\t%s\n", []string{"idle", "overload"}[i], phase.Rate(),
			phase.Latency.Quantile(0.5).Round(10*time.Microsecond), phase.Latency.Quantile(0.99).Round(10*time.Microsecond))
	}
	fmt.Fprintln(table, "\nLOAD\tCLIENTS\tANSWERS")
	for _, kind := range slices.Sorted(maps.Keys(s.counts)) {
		fmt.Fprintf(table, "%s\t%d\t%v\n", kind, s.clients[kind], s.counts[kind])
	}
	_ = table.Flush() // writes to memory
	t.Log(out.String())
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
