// Package load repeats a request over several connections and measures latency and throughput.
package load

import (
	"context"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options of a run.
type Options struct {
	Addrs    []string      // host:port of the servers; each worker rotates over them
	Target   string        // path and query
	Body     func() []byte // returns a JSON body to post, called concurrently; nil means GET
	Key      string        // bearer token; "": none
	Encoding string        // value of Accept-Encoding; "": none
	// number of workers, each with one connection per server and one request in flight; 0 means one
	Conns    int
	Requests int           // maximum number of requests; 0 means unlimited
	Duration time.Duration // no request starts after it, except for the first of each worker
}

// Latencies are the durations of requests.
type Latencies []time.Duration

// Quantile returns the q-quantile, or 0 if l is empty. It sorts l.
func (l Latencies) Quantile(q float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	slices.Sort(l)
	return l[max(0, int(math.Ceil(q*float64(len(l))))-1)]
}

// Result of one run or of several.
type Result struct {
	Latency Latencies
	Elapsed time.Duration
	Bytes   int64 // of all bodies
}

// Requests returns the number of responses.
func (r *Result) Requests() int { return len(r.Latency) }

// Rate returns the number of responses per second.
func (r *Result) Rate() float64 {
	if r.Elapsed == 0 {
		return 0
	}
	return float64(r.Requests()) / r.Elapsed.Seconds()
}

// Merge adds another run.
func (r *Result) Merge(o *Result) {
	r.Latency = append(r.Latency, o.Latency...)
	r.Elapsed += o.Elapsed
	r.Bytes += o.Bytes
}

// Run opens connections and sends requests until one of the limits is reached. A response other
// than 200 is an error.
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
	workers [][]*conn // the connections of each worker, one per server
	sent    []int     // requests, by worker
}

// Open opens the connections.
func Open(ctx context.Context, o Options) (*Client, error) {
	n := max(1, o.Conns)
	c := &Client{options: o, workers: make([][]*conn, n), sent: make([]int, n)}
	for i := range c.workers {
		c.sent[i] = i // workers start with different servers
		for _, addr := range o.Addrs {
			tcp, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
			if err != nil {
				c.Close()
				return nil, err
			}
			c.workers[i] = append(c.workers[i], newConn(tcp, addr, o))
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
		for _, conn := range slices.Concat(c.workers...) {
			_ = conn.SetDeadline(time.Unix(1, 0))
		}
	})()
	var left atomic.Int64
	left.Store(int64(c.options.Requests))
	more := func() bool { return c.options.Requests == 0 || left.Add(-1) >= 0 }
	var running sync.WaitGroup
	results := make([]Result, len(c.workers))
	start := time.Now()
	for i := range c.workers {
		running.Go(func() {
			if err := c.work(i, &results[i], start.Add(d), more); err != nil {
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

// work sends requests one after the other until the deadline, or until more returns false.
func (c *Client) work(worker int, r *Result, deadline time.Time, more func() bool) error {
	conns := c.workers[worker]
	for more() {
		conn := conns[c.sent[worker]%len(conns)]
		c.sent[worker]++
		conn.prepare()
		start := time.Now()
		n, err := conn.roundTrip()
		if err != nil {
			return err
		}
		end := time.Now()
		r.Latency = append(r.Latency, end.Sub(start))
		r.Bytes += n
		if !end.Before(deadline) {
			break
		}
	}
	return nil
}

// Close closes the connections.
func (c *Client) Close() {
	for _, conn := range slices.Concat(c.workers...) {
		_ = conn.Close() // all answers were read
	}
}
