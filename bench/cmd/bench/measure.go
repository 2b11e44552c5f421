package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"herbarium/bench/internal/load"
	"herbarium/bench/internal/report"
	"herbarium/bench/shapes"
	"herbarium/internal/programtest"
	"herbarium/internal/query"
)

// servers are measured in turn. peer and floor may be nil.
type servers struct{ herbarium, peer, floor *process }

const (
	// turns is how many times the servers are measured in turn for one figure.
	turns = 3
	// manyConns is the number of connections that keep a server busy.
	manyConns = 16
	// maxPeerMedian is the median over one connection up to which the peer is also measured with manyConns.
	maxPeerMedian = 250 * time.Millisecond
	// maxRequests is the limit of requests to a server for one measurement.
	maxRequests = 50_000
)

// listing is the checked part of a page.
type listing struct {
	Data []struct{ ID string }
	Meta query.Meta
	size int
}

// fetch lists a page.
func (p *process) fetch(ctx context.Context, raw string) (l listing, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.addr+p.path+"?"+raw, nil)
	if err != nil {
		return l, err
	}
	r.Header.Set("Accept-Encoding", "identity")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return l, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	if err == nil {
		err = json.Unmarshal(body, &l)
	}
	if err != nil {
		return l, fmt.Errorf("%s answers %q with %.500s: %w", p.name, raw, body, err)
	}
	l.size = len(body)
	return l, nil
}

// agree checks that both servers respond with the same records; incorrect responses are not measured.
func (s servers) agree(ctx context.Context, raw string, byRelevance bool) error {
	if s.peer == nil {
		return nil
	}
	ours, err1 := s.herbarium.fetch(ctx, raw)
	theirs, err2 := s.peer.fetch(ctx, raw)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if ours.Meta.Total != theirs.Meta.Total || !byRelevance && !slices.Equal(ours.Data, theirs.Data) {
		return fmt.Errorf("%q finds %d records in Herbarium and %d in the peer: %v and %v",
			raw, ours.Meta.Total, theirs.Meta.Total, ours.Data, theirs.Data)
	}
	return nil
}

// resolve returns the raw query of a shape, which all servers must agree on.
func (s servers) resolve(ctx context.Context, shape shapes.Shape) (raw string, err error) {
	first, err := s.herbarium.fetch(ctx, shape.Query)
	if err != nil {
		return "", err
	}
	raw = shape.Raw(first.Meta.Total)
	return raw, s.agree(ctx, raw, shape.Relevance())
}

// measureShapes measures all shapes with one connection, and fully also with many.
func (b *bench) measureShapes(ctx context.Context, s servers, n int, fully bool) error {
	for _, shape := range shapes.All() {
		b.say("%s", shape.Title)
		raw, err := s.resolve(ctx, shape)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("Serve/n=%d/shape=%s/conns=", n, shape.Name)
		one, err := b.compare(ctx, s, name+"1", raw, 1, turns)
		if err != nil {
			return err
		}
		if !fully {
			continue
		}
		busy := s
		if s.peer != nil && one[1].Latency.Quantile(0.5) > maxPeerMedian {
			busy.peer = nil
		}
		if _, err := b.compare(ctx, busy, name+strconv.Itoa(manyConns), raw, manyConns, turns); err != nil {
			return err
		}
	}
	return nil
}

// measureDepths measures pages from the first to the last.
func (b *bench) measureDepths(ctx context.Context, s servers, n int) error {
	s.floor = nil
	for order, raw := range []string{"", "sort=price"} {
		for _, percent := range []shapes.Depth{0, 10, 25, 50, 75, 100} {
			b.say("depth %d %% %s", percent, raw)
			target, err := s.resolve(ctx, shapes.Shape{Query: raw, Depth: percent})
			if err != nil {
				return err
			}
			name := fmt.Sprintf("Depth/n=%d/sort=%s/percent=%d", n, []string{"none", "price"}[order], percent)
			if _, err := b.compare(ctx, s, name, target, 1, turns); err != nil {
				return err
			}
		}
	}
	return nil
}

// sample is the measurement of one server.
type sample struct {
	*process
	load.Result
	cpu time.Duration
}

// compare measures the servers in turn, a number of times, and reports the results.
func (b *bench) compare(ctx context.Context, s servers, name, raw string, conns, times int) (samples []*sample, err error) {
	for _, p := range []*process{s.herbarium, s.peer, s.floor} {
		if p != nil {
			samples = append(samples, &sample{process: p})
		}
	}
	for range times {
		for _, one := range samples {
			if err := one.add(ctx, raw, conns, b.seconds/turns); err != nil {
				return nil, fmt.Errorf("measuring %s: %w", one.name, err)
			}
		}
	}
	for _, s := range samples {
		b.report.Add(name+"/server="+s.name, s.Requests(),
			report.Load(s.Latency.Quantile(0.50), s.Latency.Quantile(0.99), s.Rate(), s.cpu/time.Duration(s.Requests()))...)
	}
	return samples, nil
}

// add measures a server for a period.
func (s *sample) add(ctx context.Context, raw string, conns int, seconds float64) error {
	before, err := programtest.CPU(s.PID())
	if err != nil {
		return err
	}
	r, err := load.Run(ctx, load.Options{
		Addrs: []string{s.addr}, Target: s.path + "?" + raw, Conns: conns,
		Requests: maxRequests / turns, Duration: time.Duration(seconds * float64(time.Second)),
	})
	if err != nil {
		return err
	}
	after, err := programtest.CPU(s.PID())
	s.Merge(r)
	s.cpu += after - before
	return err
}
