// Package load repeats a request over several connections and measures latency and throughput.
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
	Addrs    []string      // host:port of the servers; each worker rotates over them
	Target   string        // path and query
	Body     func() []byte // returns a JSON body to post, called concurrently; nil means GET
	Key      string        // bearer token; "": none
	Conns    int           // number of workers, each with one connection per server and one request in flight; 0 means one
	Requests int           // maximum number of requests; 0 means unlimited
	Duration time.Duration // no request starts after it, except for the first of each worker
}

// Result of one run or of several.
type Result struct {
	Latency hist.Histogram
	Elapsed time.Duration
	Bytes   int64 // of all bodies
}

// Requests returns the number of responses.
func (r *Result) Requests() int { return r.Latency.Count() }

// Rate returns the number of responses per second.
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

// Run opens connections and sends requests until one of the limits is reached. A response other than 200 is an error.
func Run(ctx context.Context, o Options) (*Result, error) {
	c, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Run(ctx, o.Duration)
}

// Client has open connections. Only one run at a time can use them, and none after a failure.
type Client struct {
	options Options
	workers []worker
}

// Open opens the connections.
func Open(ctx context.Context, o Options) (_ *Client, err error) {
	c := &Client{options: o, workers: make([]worker, max(1, o.Conns))}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	for i := range c.workers {
		c.workers[i].next = i
		for _, addr := range o.Addrs {
			conn, err := dial(ctx, addr, o)
			if err != nil {
				return nil, err
			}
			c.workers[i].conns = append(c.workers[i].conns, conn)
		}
	}
	return c, nil
}

// Warm uses each connection once, so that connection setup is not measured.
func (c *Client) Warm(ctx context.Context) error {
	for range c.options.Addrs {
		if _, err := c.Run(ctx, 0); err != nil {
			return err
		}
	}
	return nil
}

// Run sends requests for a duration, which replaces that of the options.
func (c *Client) Run(ctx context.Context, d time.Duration) (*Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// Connections that wait for a response are interrupted when the run is canceled.
	defer context.AfterFunc(ctx, func() {
		for _, conn := range c.all() {
			_ = conn.SetDeadline(time.Unix(1, 0))
		}
	})()
	var (
		left    atomic.Int64
		running sync.WaitGroup
		results = make([]Result, len(c.workers))
	)
	left.Store(int64(c.options.Requests))
	more := func() bool { return c.options.Requests == 0 || left.Add(-1) >= 0 }
	start := time.Now()
	for i := range c.workers {
		running.Go(func() {
			if err := c.workers[i].run(&results[i], start.Add(d), more); err != nil {
				cancel(fmt.Errorf("request to %s%s: %w", strings.Join(c.options.Addrs, ", "), c.options.Target, err))
			}
		})
	}
	running.Wait()
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

// all returns the connections.
func (c *Client) all() (conns []*conn) {
	for _, a := range c.workers {
		conns = append(conns, a.conns...)
	}
	return conns
}

// worker sends requests to the servers in rotation.
type worker struct {
	conns []*conn // one to each
	next  int
}

// run sends requests one after the other until the deadline, or until more returns false.
func (a *worker) run(r *Result, deadline time.Time, more func() bool) error {
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
