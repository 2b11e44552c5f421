//go:build linux

package serve

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"herbarium/bench/internal/load"
	"herbarium/bench/internal/report"
	"herbarium/bench/shapes"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// servers are measured in turn. peer and constant may be nil.
type servers struct{ herbarium, peer, constant *process }

const (
	// turns is how many times the servers are measured in turn for one figure.
	turns = 3
	// manyConns is the number of connections that keep a server busy.
	manyConns = 16
	// maxMedian is the median over one connection up to which a server is also measured with
	// manyConns. Herbarium rejects expensive queries that wait for a second.
	maxMedian = 50 * time.Millisecond
	// maxRequests is the limit of requests to a server for one measurement.
	maxRequests = 50_000
)

// resolve returns a shape with the page in its query. All servers must respond with the same
// records; incorrect responses are not measured.
func (s servers) resolve(ctx context.Context, shape shapes.Shape) (shapes.Shape, error) {
	first, err := s.herbarium.fetch(ctx, shape)
	if err != nil {
		return shape, err
	}
	if !shape.Facets {
		shape.Query = shape.Raw(first.Meta.Total)
	}
	if s.peer == nil {
		return shape, nil
	}
	ours, err := s.herbarium.fetch(ctx, shape)
	if err != nil {
		return shape, err
	}
	theirs, err := s.peer.fetch(ctx, shape)
	if err == nil && (ours.Meta.Total != theirs.Meta.Total || !shape.Relevance() &&
		!slices.Equal(ours.Data, theirs.Data)) {
		err = fmt.Errorf("%q finds %d records in Herbarium and %d in the peer: %v and %v",
			shape.Query, ours.Meta.Total, theirs.Meta.Total, ours.Data, theirs.Data)
	}
	return shape, err
}

// measureShapes measures shapes with one connection, and fully also with many.
func (b *bench) measureShapes(t *testing.T, s servers, name string, all []shapes.Shape, fully bool) {
	for _, shape := range all {
		t.Log(shape.Title)
		shape, err := s.resolve(t.Context(), shape)
		must.NoError(t, err)
		name := name + "/shape=" + shape.Name + "/conns="
		one := b.compare(t, s, name+"1", shape, 1, turns)
		if !fully || one[0].Latency.Quantile(0.5) > maxMedian {
			continue
		}
		busy := s
		if s.peer != nil && one[1].Latency.Quantile(0.5) > maxMedian {
			busy.peer = nil
		}
		b.compare(t, busy, name+strconv.Itoa(manyConns), shape, manyConns, turns)
	}
}

// sample is the measurement of one server.
type sample struct {
	*process
	load.Result
	cpu time.Duration
}

// compare measures the servers in turn, a number of times, and reports the results.
func (b *bench) compare(t *testing.T, s servers, name string, shape shapes.Shape, conns,
	times int) (samples []*sample) {
	for _, p := range []*process{s.herbarium, s.peer, s.constant} {
		if p != nil {
			samples = append(samples, &sample{process: p})
		}
	}
	for range times {
		for _, one := range samples {
			one.add(t, shape, conns, b.seconds/turns)
		}
	}
	for _, s := range samples {
		b.report.Add(name+"/server="+s.name, s.Requests(), append(
			report.Load(s.Latency.Quantile(0.50), s.Latency.Quantile(0.99), s.Rate(),
				s.cpu/time.Duration(s.Requests())),
			report.Nanoseconds(s.Latency.Quantile(1), "max-ns"))...)
	}
	return samples
}

// add measures a server for a period.
func (s *sample) add(t *testing.T, shape shapes.Shape, conns int, seconds float64) {
	before, err := programtest.CPU(s.PID())
	must.NoError(t, err)
	r, err := load.Run(t.Context(), load.Options{
		Addrs: []string{s.addr}, Target: target(shape), Encoding: shape.Encoding, Conns: conns,
		Requests: maxRequests / turns, Duration: time.Duration(seconds * float64(time.Second)),
	})
	must.NoError(t, err)
	after, err := programtest.CPU(s.PID())
	must.NoError(t, err)
	s.Merge(r)
	s.cpu += after - before
}
