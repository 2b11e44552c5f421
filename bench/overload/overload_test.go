//go:build unix

// Package overload overloads a server for minutes with everything at once: slow and idle readers of
// every kind of response, half-sent requests, expensive queries, exports, writes and publishes, all
// from one address. It checks that cheap listings and an honest client at another address are
// served, that memory stays below the limit, that no acknowledged write is lost and that the server
// recovers. `make overload` runs it.
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
	// of the idle throughput, or of the processor time of the server; the other requests need the
	// rest
	minShare    = 0.4
	recovered   = 0.8 // of the throughput per processor time, for the server to have recovered
	maxOthers   = 0.2 // of the processors, taken by other processes; with more, the shares say nothing
	maxRecovery = time.Minute
)

var (
	duration = flag.Duration("duration", 0, "`time` of overload")
	multiple = flag.Int("overload", 4, "clients of each kind, as a `multiple` of what the server runs at once")
	memory   = flag.Int64("memory", 256, "memory of the server in `MiB`; its hard limit is twice that")
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
	s := &soak{
		duration: *duration, overload: *multiple, memory: *memory << 20, program: program, data: folder + "/data",
		counts: map[string]map[string]int{},
	}
	if err := s.prepare(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	defer func() { s.server.Kill() }()
	result, err := s.run(t.Context())
	if err != nil {
		log := s.server.Output()
		t.Errorf("%v\n%s", err, log[max(0, len(log)-4<<10):])
	}
	s.report(t, result)
}

// result is what was measured.
type result struct {
	idle, overload        []turn        // idle[i] is before overload[i] and idle[i+1] after it
	memory                int64         // maximum
	acknowledged, missing int           // writes
	recovery              time.Duration // maximum
	others                float64       // share of the processors that other processes took
}

// share returns the median, over all turns of overload, of a value divided by the mean of that of
// the idle turns before and after.
func (r *result) share(value func(*turn) float64) float64 {
	var shares []float64
	for i := range min(len(r.overload), len(r.idle)-1) {
		if idle := (value(&r.idle[i]) + value(&r.idle[i+1])) / 2; idle > 0 {
			shares = append(shares, value(&r.overload[i])/idle)
		}
	}
	if len(shares) == 0 {
		return 0
	}
	slices.Sort(shares)
	return shares[len(shares)/2]
}

// report logs the summary and fails if a check does.
func (s *soak) report(t *testing.T, r result) {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nCHECK\tMEASURED\tWANT\tRESULT")
	verdictOf := func(ok bool) string {
		if ok {
			return "ok"
		}
		t.Fail()
		return "FAILED"
	}
	check := func(name, want string, ok bool, format string, args ...any) {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", name, fmt.Sprintf(format, args...), want, verdictOf(ok))
	}
	// checkIfQuiet is check for what needs processors: on a busy machine, a failure proves nothing.
	checkIfQuiet := func(name, want string, ok bool, format string, args ...any) {
		if !ok && r.others > maxOthers {
			fmt.Fprintf(table, "%s\t%s\t%s\tunknown: other processes took %.0f %% of the processors\n",
				name, fmt.Sprintf(format, args...), want, 100*r.others)
			return
		}
		check(name, want, ok, format, args...)
	}
	failed := 0
	for i := range r.overload {
		failed += r.overload[i].failed
	}
	// The clients take processor time from the server, and so do other processes. If throughput
	// suffers from them, the share of the server's own time that cheap listings get does not.
	throughput, cpu := r.share(func(t *turn) float64 { return t.Rate() }), r.share((*turn).perCPU)
	checkIfQuiet("cheap listings, share of idle throughput or of CPU time", fmt.Sprintf(">= %.0f %%", 100*minShare),
		max(throughput, cpu) >= minShare, "%.0f %% or %.0f %%", 100*throughput, 100*cpu)
	check("cheap listings, failed", "0", failed == 0, "%d", failed)
	rejected := s.rejectedHonest()
	checkIfQuiet("honest client, rejected", "none", rejected == "", "%s", rejected)
	check("memory, without mapped files", fmt.Sprintf("<= %d MiB", s.memory>>20), r.memory <= s.memory, "%d MiB",
		r.memory>>20)
	check("acknowledged writes lost", "0", r.missing == 0 && r.acknowledged > 0, "%d of %d", r.missing, r.acknowledged)
	check("recovery", "<= "+maxRecovery.String(), r.recovery <= maxRecovery, "%s",
		r.recovery.Round(100*time.Millisecond))
	unexpected := s.unexpected()
	check("unexpected answers", "none", len(unexpected) == 0, "%s", strings.Join(unexpected, "; "))
	fmt.Fprintln(table, "\nCHEAP LISTINGS\tPER SECOND\tPER CPU SECOND\tP50\tP99")
	for i, turns := range [][]turn{r.idle, r.overload} {
		var all load.Result
		var cpu time.Duration
		for i := range turns {
			all.Merge(&turns[i].Result)
			cpu += turns[i].cpu
		}
		fmt.Fprintf(table, "%s\t%.0f\t%.0f\t%s\t%s\n", []string{"idle", "overload"}[i], all.Rate(),
			float64(all.Requests())/max(cpu.Seconds(), 0.01),
			all.Latency.Quantile(0.5).Round(10*time.Microsecond), all.Latency.Quantile(0.99).Round(10*time.Microsecond))
	}
	fmt.Fprintln(table, "\nLOAD\tCLIENTS\tANSWERS")
	for _, kind := range slices.Sorted(maps.Keys(s.counts)) {
		fmt.Fprintf(table, "%s\t%d\t%v\n", kind, s.clients[kind], s.counts[kind])
	}
	_ = table.Flush() // writes to memory
	t.Log(out.String())
}

// rejectedHonest returns the kinds of requests of the honest client of which some were rejected or
// none was answered.
func (s *soak) rejectedHonest() string {
	var all []string
	for kind, outcomes := range s.counts {
		if strings.HasPrefix(kind, honestKind) && (outcomes["503"] > 0 || outcomes["200"] == 0) {
			all = append(all, fmt.Sprintf("%s (%d of %d)", strings.TrimPrefix(kind, honestKind), outcomes["503"],
				outcomes["503"]+outcomes["200"]))
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
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
