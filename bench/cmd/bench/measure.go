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

// servers are measured in turn. peer and constant may be nil.
type servers struct{ herbarium, peer, constant *process }

const (
	// turns is how many times the servers are measured in turn for one figure.
	turns = 3
	// manyConns is the number of connections that keep a server busy.
	manyConns = 16
	// maxMedian is the median over one connection up to which a server is also measured with manyConns. Herbarium rejects
	// expensive queries that wait for a second.
	maxMedian = 50 * time.Millisecond
	// maxRequests is the limit of requests to a server for one measurement.
	maxRequests = 50_000
)

// listing is the checked part of a page.
type listing struct {
	Data []struct{ ID string }
	Meta query.Meta
	size int
}

// target returns the path and query of a shape. All servers accept it.
func target(s shapes.Shape) string { return "/api/v1/" + dataset + s.Path() + "?" + s.Query }

// fetch lists the first page of a shape, or counts its facets.
func (p *process) fetch(ctx context.Context, s shapes.Shape) (l listing, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.addr+target(s), nil)
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
		return l, fmt.Errorf("%s answers %q with %.500s: %w", p.name, s.Query, body, err)
	}
	l.size = len(body)
	return l, nil
}

// agree checks that both servers respond with the same records; incorrect responses are not measured.
func (s servers) agree(ctx context.Context, shape shapes.Shape) error {
	if s.peer == nil {
		return nil
	}
	ours, err1 := s.herbarium.fetch(ctx, shape)
	theirs, err2 := s.peer.fetch(ctx, shape)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if ours.Meta.Total != theirs.Meta.Total || !shape.Relevance() && !slices.Equal(ours.Data, theirs.Data) {
		return fmt.Errorf("%q finds %d records in Herbarium and %d in the peer: %v and %v",
			shape.Query, ours.Meta.Total, theirs.Meta.Total, ours.Data, theirs.Data)
	}
	return nil
}

// resolve returns a shape with the page in its query. All servers must agree on the result.
func (s servers) resolve(ctx context.Context, shape shapes.Shape) (shapes.Shape, error) {
	first, err := s.herbarium.fetch(ctx, shape)
	if err != nil {
		return shape, err
	}
	if !shape.Facets {
		shape.Query = shape.Raw(first.Meta.Total)
	}
	return shape, s.agree(ctx, shape)
}

// measureShapes measures shapes with one connection, and fully also with many.
func (b *bench) measureShapes(ctx context.Context, s servers, name string, all []shapes.Shape, fully bool) error {
	for _, shape := range all {
		b.say("%s", shape.Title)
		shape, err := s.resolve(ctx, shape)
		if err != nil {
			return err
		}
		name := name + "/shape=" + shape.Name + "/conns="
		one, err := b.compare(ctx, s, name+"1", shape, 1, turns)
		if err != nil {
			return err
		}
		if !fully || one[0].Latency.Quantile(0.5) > maxMedian {
			continue
		}
		busy := s
		if s.peer != nil && one[1].Latency.Quantile(0.5) > maxMedian {
			busy.peer = nil
		}
		if _, err := b.compare(ctx, busy, name+strconv.Itoa(manyConns), shape, manyConns, turns); err != nil {
			return err
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
func (b *bench) compare(ctx context.Context, s servers, name string, shape shapes.Shape, conns, times int) (samples []*sample, err error) {
	for _, p := range []*process{s.herbarium, s.peer, s.constant} {
		if p != nil {
			samples = append(samples, &sample{process: p})
		}
	}
	for range times {
		for _, one := range samples {
			if err := one.add(ctx, shape, conns, b.seconds/turns); err != nil {
				return nil, fmt.Errorf("measuring %s: %w", one.name, err)
			}
		}
	}
	for _, s := range samples {
		b.report.Add(name+"/server="+s.name, s.Requests(), append(
			report.Load(s.Latency.Quantile(0.50), s.Latency.Quantile(0.99), s.Rate(), s.cpu/time.Duration(s.Requests())),
			report.Nanoseconds(s.Latency.Quantile(1), "max-ns"))...)
	}
	return samples, nil
}

// add measures a server for a period.
func (s *sample) add(ctx context.Context, shape shapes.Shape, conns int, seconds float64) error {
	before, err := programtest.CPU(s.PID())
	if err != nil {
		return err
	}
	r, err := load.Run(ctx, load.Options{
		Addrs: []string{s.addr}, Target: target(shape), Encoding: shape.Encoding, Conns: conns,
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
