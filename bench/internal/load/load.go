// Package load asks servers the same thing over and over and tells how long it took.
package load

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"herbarium/bench/internal/hist"
)

// Options of a run.
type Options struct {
	Addrs    []string      // host:port of the servers; everybody who asks goes round them, each beginning with another one
	Target   string        // path and query to ask for
	Body     func() []byte // makes the JSON that is posted, by several goroutines at once; nil: it is a GET
	Key      string        // bearer token; "": none
	Conns    int           // how many ask, each again as soon as it has its answer, over a connection to each server; 0: one
	Requests int           // at most so many requests; 0: no limit
	Duration time.Duration // no request is begun after that; everybody makes one in any case
}

// Result of one run or of several.
type Result struct {
	Latency hist.Histogram
	Elapsed time.Duration
	Bytes   int64 // of all bodies
}

// Requests is how many were answered.
func (r *Result) Requests() int { return r.Latency.Count() }

// Rate is the number of answers in a second.
func (r *Result) Rate() float64 {
	if r.Elapsed == 0 {
		return 0
	}
	return float64(r.Requests()) / r.Elapsed.Seconds()
}

// Merge adds another run.
func (r *Result) Merge(o *Result) {
	r.Latency.Merge(&o.Latency)
	r.Elapsed += o.Elapsed
	r.Bytes += o.Bytes
}

// Run opens connections and asks until one of the limits is reached. An answer other than 200 ends it with an error.
func Run(ctx context.Context, o Options) (*Result, error) {
	c, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Run(ctx, o.Duration)
}

// Client has open connections. One run at a time can use them, and none after one that has failed.
type Client struct {
	options Options
	askers  []asker
}

// Open opens the connections.
func Open(ctx context.Context, o Options) (_ *Client, err error) {
	c := &Client{options: o, askers: make([]asker, max(1, o.Conns))}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	for i := range c.askers {
		c.askers[i].next = i
		for _, addr := range o.Addrs {
			conn, err := dial(ctx, addr, o)
			if err != nil {
				return nil, err
			}
			c.askers[i].conns = append(c.askers[i].conns, conn)
		}
	}
	return c, nil
}

// Warm uses each connection once, so that what it costs at its beginning is no part of a run.
func (c *Client) Warm(ctx context.Context) error {
	for range c.options.Addrs {
		if _, err := c.Run(ctx, 0); err != nil {
			return err
		}
	}
	return nil
}

// Run asks for some time, in place of that of the options.
func (c *Client) Run(ctx context.Context, d time.Duration) (*Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// A connection that waits for an answer is woken when the run is given up.
	defer context.AfterFunc(ctx, func() {
		for _, conn := range c.all() {
			_ = conn.SetDeadline(time.Unix(1, 0))
		}
	})()
	var (
		left    atomic.Int64
		workers sync.WaitGroup
		results = make([]Result, len(c.askers))
	)
	left.Store(int64(c.options.Requests))
	more := func() bool { return c.options.Requests == 0 || left.Add(-1) >= 0 }
	start := time.Now()
	for i := range c.askers {
		workers.Go(func() {
			if err := c.askers[i].ask(&results[i], start.Add(d), more); err != nil {
				cancel(fmt.Errorf("asking %s for %s: %w", strings.Join(c.options.Addrs, ", "), c.options.Target, err))
			}
		})
	}
	workers.Wait()
	total := &Result{}
	for i := range results {
		total.Merge(&results[i])
	}
	total.Elapsed = time.Since(start)
	return total, context.Cause(ctx)
}

// Close closes the connections.
func (c *Client) Close() {
	for _, conn := range c.all() {
		_ = conn.Close() // all answers were read
	}
}

// all goes through the connections.
func (c *Client) all() (conns []*conn) {
	for _, a := range c.askers {
		conns = append(conns, a.conns...)
	}
	return conns
}

// asker goes round the servers.
type asker struct {
	conns []*conn // one to each
	next  int
}

// ask sends requests one after the other until the deadline, or until there are no more to send.
func (a *asker) ask(r *Result, deadline time.Time, more func() bool) error {
	for more() {
		c := a.conns[a.next%len(a.conns)]
		a.next++
		c.prepare()
		start := time.Now()
		n, err := c.roundTrip()
		if err != nil {
			return err
		}
		end := time.Now()
		r.Latency.Add(end.Sub(start))
		r.Bytes += n
		if !end.Before(deadline) {
			break
		}
	}
	return nil
}

func dial(ctx context.Context, addr string, o Options) (*conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return newConn(c, addr, o), nil
}
