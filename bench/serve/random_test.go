//go:build linux

package serve

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"herbarium/bench/internal/load"
	"herbarium/bench/internal/report"
	"herbarium/bench/shapes"
	"herbarium/internal/must"
)

const (
	// attempts is how often a random request is sent. The fastest counts, so that other processes
	// do not change the result.
	attempts = 3
	// slowestShown is how many of the random requests are listed.
	slowestShown = 10
)

// failedLatency is the latency of a request that fails, so that it is listed first.
const failedLatency = time.Minute

// timedRequest is a random request and its latency.
type timedRequest struct {
	shapes.Shape
	took time.Duration
	err  error // nil if it succeeded
}

// measureRandom sends random requests one after the other, and each time one to the constant
// handler. It reports the distribution of the latencies and the slowest requests.
func (b *bench) measureRandom(t *testing.T, s servers, n int, folder string) {
	ctx := t.Context()
	draw := shapes.NewRandom(b.seed, n)
	var all []timedRequest
	var ours, constant load.Latencies
	for range b.random {
		var r timedRequest
		r.Shape, r.err = (servers{herbarium: s.herbarium}).resolve(ctx, draw.Next())
		if r.err == nil {
			r.took, r.err = s.herbarium.fastest(ctx, r.Shape)
		}
		if r.err != nil {
			r.took = failedLatency
		}
		floor, err := s.constant.fastest(ctx, r.Shape)
		must.NoError(t, err)
		all, ours, constant = append(all, r), append(ours, r.took), append(constant, floor)
	}
	for i, l := range []load.Latencies{ours, constant} {
		name := []string{s.herbarium.name, s.constant.name}[i]
		b.report.Add(fmt.Sprintf("Random/n=%d/conns=1/server=%s", n, name), len(l),
			report.Nanoseconds(l.Quantile(0.50), "p50-ns"),
			report.Nanoseconds(l.Quantile(0.99), "p99-ns"), report.Nanoseconds(l.Quantile(1), "max-ns"))
	}
	slices.SortFunc(all, func(x, y timedRequest) int { return cmp.Compare(y.took, x.took) })
	b.report.Notes += b.describeSlowest(ctx, all[:min(len(all), slowestShown)], folder)
}

// fastest returns the latency of the fastest attempt.
func (p *process) fastest(ctx context.Context, s shapes.Shape) (time.Duration, error) {
	r, err := load.Run(ctx, load.Options{Addrs: []string{p.addr}, Target: target(s), Requests: attempts,
		Duration: time.Hour})
	if err != nil {
		return 0, err
	}
	return r.Latency.Quantile(0), nil
}

// describeSlowest lists requests with their plans.
func (b *bench) describeSlowest(ctx context.Context, slowest []timedRequest, folder string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "\n## Slowest random requests\n\nThe slowest of %d requests with random filters, searches, "+
		"sorts, pages and facets, drawn with seed %d:\n\n```\n",
		b.random, b.seed)
	for _, r := range slowest {
		fmt.Fprintf(&out, "%-10s %s\n", r.took.Round(10*time.Microsecond), target(r.Shape))
		if r.err != nil {
			fmt.Fprintf(&out, "           %v\n", r.err)
		}
		if r.Facets {
			continue
		}
		plan, err := exec.CommandContext(ctx, b.server, "explain", dataset, r.Query, "--data", folder).Output()
		if err != nil {
			continue // the request is listed without a plan
		}
		for line := range strings.Lines(string(plan)) {
			fmt.Fprintf(&out, "           %s\n", strings.TrimRight(line, "\n"))
		}
	}
	return out.String() + "```\n"
}
