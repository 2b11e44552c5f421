package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"herbarium/bench/internal/load"
	"herbarium/bench/internal/report"
	"herbarium/bench/shapes"
	"herbarium/internal/programtest"
	"herbarium/internal/query"
)

// servers are measured side by side. peer and floor may be nil.
type servers struct{ herbarium, peer, floor *process }

// turns is how many times the servers are measured in turn for one figure.
const turns = 3

// answer is the checked part of a page.
type answer struct {
	ids   []string
	total int
	bytes int
}

func fetch(ctx context.Context, p *process, raw string) (answer, error) {
	var a answer
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.addr+p.target(raw), nil)
	if err != nil {
		return a, err
	}
	r.Header.Set("Accept-Encoding", "identity")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return a, err
	}
	body, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return a, err
	}
	if resp.StatusCode != http.StatusOK {
		return a, fmt.Errorf("%s answers %q with %s: %s", p.name, raw, resp.Status, body)
	}
	var listing struct {
		Data []struct{ ID string }
		Meta query.Meta
	}
	if err := json.Unmarshal(body, &listing); err != nil {
		return a, fmt.Errorf("the answer of %s: %w", p.name, err)
	}
	a.total, a.bytes = listing.Meta.Total, len(body)
	for _, record := range listing.Data {
		a.ids = append(a.ids, record.ID)
	}
	return a, nil
}

// target is the path and query of a listing.
func (p *process) target(raw string) string {
	if raw == "" {
		return p.path
	}
	return p.path + "?" + raw
}

// agree checks that both servers respond with the same records; incorrect responses are not measured.
func (s servers) agree(ctx context.Context, raw string, byRelevance bool) error {
	if s.peer == nil {
		return nil
	}
	ours, err1 := fetch(ctx, s.herbarium, raw)
	theirs, err2 := fetch(ctx, s.peer, raw)
	switch err := errors.Join(err1, err2); {
	case err != nil:
		return err
	case ours.total != theirs.total:
		return fmt.Errorf("%q finds %d records in Herbarium and %d in the peer", raw, ours.total, theirs.total)
	case !byRelevance && !slices.Equal(ours.ids, theirs.ids):
		return fmt.Errorf("%q finds the records %v in Herbarium and %v in the peer", raw, ours.ids, theirs.ids)
	}
	return nil
}

const (
	// manyConns is the number of connections that keep a server busy.
	manyConns = 16
	// maxPeerMedian is the median over one connection up to which the peer is also measured with manyConns.
	maxPeerMedian = 250 * time.Millisecond
	// maxRequests is the limit of requests to a server for one measurement.
	maxRequests = 50_000
)

// measureShapes measures all shapes with one connection, and fully also with many.
func (b *bench) measureShapes(ctx context.Context, s servers, n int, fully bool, into *report.Report) error {
	requests, err := shapes.Resolve(ctx, func(ctx context.Context, raw string) (int, error) {
		a, err := fetch(ctx, s.herbarium, raw)
		return a.total, err
	})
	if err != nil {
		return err
	}
	for _, r := range requests {
		b.say("%s", r.Title)
		if err := s.agree(ctx, r.Raw, r.Relevance()); err != nil {
			return err
		}
		name := fmt.Sprintf("Serve/n=%d/shape=%s", n, r.Name)
		one, err := b.compare(ctx, s, r.Raw, 1, turns)
		if err != nil {
			return err
		}
		addAll(into, name+"/conns=1", one)
		if !fully {
			continue
		}
		busy := s
		if len(one) > 1 && one[1].server == s.peer && one[1].result.Latency.Quantile(0.5) > maxPeerMedian {
			busy.peer = nil
		}
		many, err := b.compare(ctx, busy, r.Raw, manyConns, turns)
		if err != nil {
			return err
		}
		addAll(into, fmt.Sprintf("%s/conns=%d", name, manyConns), many)
	}
	return nil
}

// measureDepths measures pages from the first to the last.
func (b *bench) measureDepths(ctx context.Context, s servers, n int, into *report.Report) error {
	s.floor = nil
	for _, raw := range []string{"", "sort=price"} {
		first, err := fetch(ctx, s.herbarium, raw)
		if err != nil {
			return err
		}
		for _, percent := range []shapes.Depth{0, 10, 25, 50, 75, 100} {
			b.say("depth %d %% %s", percent, raw)
			target := shapes.WithPage(raw, percent.Page(first.total))
			if err := s.agree(ctx, target, false); err != nil {
				return err
			}
			samples, err := b.compare(ctx, s, target, 1, turns)
			if err != nil {
				return err
			}
			order := "none"
			if raw != "" {
				order = "price"
			}
			addAll(into, fmt.Sprintf("Depth/n=%d/sort=%s/percent=%d", n, order, percent), samples)
		}
	}
	return nil
}

// measureCeiling compares the first page with a constant. It takes longer than the rest because the difference is small.
func (b *bench) measureCeiling(ctx context.Context, s servers, n int, into *report.Report) error {
	b.say("first page against a constant")
	s.peer = nil
	samples, err := b.compare(ctx, s, "", manyConns, 4*turns)
	if err != nil {
		return err
	}
	addAll(into, fmt.Sprintf("Ceiling/n=%d/conns=%d", n, manyConns), samples)
	return nil
}

// addAll adds a measurement of each server.
func addAll(into *report.Report, name string, samples []*sample) {
	for _, s := range samples {
		n := s.result.Requests()
		if n == 0 {
			continue
		}
		l := &s.result.Latency
		into.Add(name+"/server="+s.server.name, n,
			report.Load(l.Quantile(0.50), l.Quantile(0.99), s.result.Rate(), s.cpu/time.Duration(n))...)
	}
}

// sample is the measurement of one server.
type sample struct {
	server *process
	result load.Result
	cpu    time.Duration
}

// compare measures the servers in turn, a number of times.
func (b *bench) compare(ctx context.Context, s servers, raw string, conns, times int) (samples []*sample, err error) {
	for _, p := range []*process{s.herbarium, s.peer, s.floor} {
		if p != nil {
			samples = append(samples, &sample{server: p})
		}
	}
	for range times {
		for _, one := range samples {
			if err := one.add(ctx, raw, conns, b.seconds/turns); err != nil {
				return nil, err
			}
		}
	}
	return samples, nil
}

// add measures a server for a period.
func (s *sample) add(ctx context.Context, raw string, conns int, seconds float64) error {
	before, err := programtest.CPU(s.server.PID())
	if err != nil {
		return err
	}
	r, err := load.Run(ctx, load.Options{
		Addrs: []string{s.server.addr}, Target: s.server.target(raw), Conns: conns,
		Requests: maxRequests / turns, Duration: time.Duration(seconds * float64(time.Second)),
	})
	if err != nil {
		return fmt.Errorf("measuring %s: %w", s.server.name, err)
	}
	after, err := programtest.CPU(s.server.PID())
	if err != nil {
		return err
	}
	s.result.Merge(r)
	s.cpu += after - before
	return nil
}
