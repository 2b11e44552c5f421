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
	"herbarium/bench/internal/proc"
	"herbarium/bench/internal/report"
	"herbarium/bench/shapes"
	"herbarium/internal/query"
)

// servers are what is measured side by side. peer and floor may be nil.
type servers struct{ herbarium, peer, floor *process }

// turns is how often the servers are asked in turn for one figure.
const turns = 3

// answer is what is looked at of a page.
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

// agree sees that both servers answer a request alike: what answers wrongly need not be measured.
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

// measureShapes measures all shapes with one connection, and fully with many, too.
func (b *bench) measureShapes(ctx context.Context, s servers, fully bool) ([]report.Shape, error) {
	requests, err := shapes.Resolve(ctx, func(ctx context.Context, raw string) (int, error) {
		a, err := fetch(ctx, s.herbarium, raw)
		return a.total, err
	})
	if err != nil {
		return nil, err
	}
	var out []report.Shape
	for _, r := range requests {
		b.say("%s", r.Title)
		if err := s.agree(ctx, r.Raw, r.Relevance()); err != nil {
			return nil, err
		}
		shape := report.Shape{Name: r.Name, Title: r.Title, Query: r.Raw, Total: r.Total}
		if shape.One, err = b.compare(ctx, s, r.Raw, 1, turns); err != nil {
			return nil, err
		}
		if fully {
			busy := s
			if shape.One.Peer != nil && shape.One.Peer.P50 > report.PatienceWithPeer {
				busy.peer = nil
			}
			if shape.Many, err = b.compare(ctx, busy, r.Raw, report.ManyConns, turns); err != nil {
				return nil, err
			}
		}
		out = append(out, shape)
	}
	return out, nil
}

// measureDepths measures pages from the first to the last.
func (b *bench) measureDepths(ctx context.Context, s servers) ([]report.Depth, error) {
	s.floor = nil
	var out []report.Depth
	for _, raw := range []string{"", "sort=price"} {
		first, err := fetch(ctx, s.herbarium, raw)
		if err != nil {
			return nil, err
		}
		for _, percent := range []shapes.Depth{0, 10, 25, 50, 75, 100} {
			b.say("depth %d %% %s", percent, raw)
			d := report.Depth{Query: raw, Percent: int(percent), Page: percent.Page(first.total)}
			target := shapes.WithPage(raw, d.Page)
			if err := s.agree(ctx, target, false); err != nil {
				return nil, err
			}
			if d.Systems, err = b.compare(ctx, s, target, 1, turns); err != nil {
				return nil, err
			}
			out = append(out, d)
		}
	}
	return out, nil
}

// measureCeiling takes its time, because it looks for small differences.
func (b *bench) measureCeiling(ctx context.Context, s servers, bytes int) (*report.Ceiling, error) {
	b.say("first page against a constant")
	s.peer = nil
	m, err := b.compare(ctx, s, "", report.ManyConns, 4*turns)
	if err != nil {
		return nil, err
	}
	return &report.Ceiling{Bytes: bytes, Herbarium: *m.Herbarium, Floor: *m.Floor}, nil
}

// sample is what was measured of one server so far.
type sample struct {
	server *process
	result load.Result
	cpu    time.Duration
}

// compare asks one server after the other, and that so many times.
func (b *bench) compare(ctx context.Context, s servers, raw string, conns, times int) (report.Systems, error) {
	ours, theirs, floor := sample{server: s.herbarium}, sample{server: s.peer}, sample{server: s.floor}
	for range times {
		for _, one := range []*sample{&ours, &theirs, &floor} {
			if one.server == nil {
				continue
			}
			if err := one.add(ctx, raw, conns, b.seconds/turns); err != nil {
				return report.Systems{}, err
			}
		}
	}
	return report.Systems{Herbarium: ours.measure(), Peer: theirs.measure(), Floor: floor.measure()}, nil
}

// add asks a server for a slice of time.
func (s *sample) add(ctx context.Context, raw string, conns int, seconds float64) error {
	before, err := proc.CPU(s.server.pid)
	if err != nil {
		return err
	}
	r, err := load.Run(ctx, load.Options{
		Addrs: []string{s.server.addr}, Target: s.server.target(raw), Conns: conns,
		Requests: report.MaxRequests / turns, Duration: time.Duration(seconds * float64(time.Second)),
	})
	if err != nil {
		return fmt.Errorf("measuring %s: %w", s.server.name, err)
	}
	after, err := proc.CPU(s.server.pid)
	if err != nil {
		return err
	}
	s.result.Merge(r)
	s.cpu += after - before
	return nil
}

func (s *sample) measure() *report.Measure {
	n := s.result.Requests()
	if n == 0 {
		return nil
	}
	return &report.Measure{
		Requests: n,
		P50:      s.result.Latency.Quantile(0.50),
		P99:      s.result.Latency.Quantile(0.99),
		Rate:     s.result.Rate(),
		CPU:      s.cpu / time.Duration(n),
	}
}
