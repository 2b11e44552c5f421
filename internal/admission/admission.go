// Package admission bounds the work that a server accepts. Requests run in lanes, each with its own
// number of slots, so that one kind of request cannot starve another, and the clients of a lane
// share its slots, so that one client cannot starve another. A request waits a short time for a
// slot and is rejected after that.
package admission

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"herbarium/internal/herb"
)

// Lane is a class of requests that share slots.
type Lane int

// The lanes.
const (
	Cheap     Lane = iota // requests that have worked for a short time only
	Expensive             // longer queries, and the encoding of exports and large pages: bound by the processors
	Bulk                  // responses too large to buffer; most of their time they wait for the client
	Write                 // creations and forms
	// files that are being received, and publishes and checks that have not ended: each has a file
	// on the disk
	Publish
	Build      // publishes, checks and reviews that read a file and build a version
	Background // work that requests wait for without a slot, such as Parquet files
	lanes
)

// Lanes lists all lanes.
func Lanes() []Lane {
	return []Lane{Cheap, Expensive, Bulk, Write, Publish, Build, Background}
}

// String returns the name of the lane, as in metrics and error messages.
func (l Lane) String() string {
	return [lanes]string{"cheap", "expensive", "bulk", "write", "publish", "build", "background"}[l]
}

// requests names the requests of the lane in error messages.
func (l Lane) requests() string {
	return [lanes]string{"requests", "expensive queries", "exports and large pages", "writes", "publishes", "builds",
		"background tasks"}[l]
}

// share is how many slots a client may hold for each free one of the lane; 0 means any number.
func (l Lane) share() int {
	switch l {
	case Bulk, Publish:
		return freeShare
	case Build, Background:
		return freeBuildShare
	default:
		return 0
	}
}

// Limit is the size of a lane.
type Limit struct {
	Slots      int           // requests that run at once
	Queue      int           // requests that wait at once; 0 means 16 per slot
	Wait       time.Duration // for a slot; 0 means that requests do not wait; see Ticket.Await
	RetryAfter time.Duration // sent to rejected clients
}

// Limits are the limits of all lanes, by lane.
type Limits [lanes]Limit

// What a request of each lane may hold in memory, for DefaultLimits. Measured values are lower; a
// lane that is full must not exceed its share of the memory.
const (
	cheapMemory      = 256 << 10
	expensiveMemory  = 64 << 20
	waitingMemory    = 1 << 20 // of a query that waits for a slot of the lane Expensive
	bulkMemory       = 2 << 20
	buildMemory      = 128 << 20
	backgroundMemory = 64 << 20
)

// Lengths of queues. A request that finds a longer one would time out anyway.
const (
	waitersPerSlot = 16
	maxQueue       = 1024
	expensiveQueue = 64 // at least: a rejected query has worked in vain, so it is better to let it wait
)

// DefaultLimits returns the limits for a number of processors and a memory budget. Expensive
// queries leave one processor to the other lanes. No lane takes more than a quarter of the memory,
// except that two versions can always be built at once, and two background tasks run, so that one
// client does not block another.
func DefaultLimits(cores int, memory int64) Limits {
	within := func(slots, perRequest int) int {
		return max(1, int(min(int64(slots), memory/4/int64(perRequest))))
	}
	expensive := within(max(1, cores-1), expensiveMemory)
	return Limits{
		Cheap: {Slots: within(256*cores, cheapMemory), Queue: maxQueue, Wait: 100 * time.Millisecond,
			RetryAfter: time.Second},
		Expensive: {
			Slots: expensive, Queue: within(max(waitersPerSlot*expensive, expensiveQueue), waitingMemory),
			Wait: 2 * time.Second, RetryAfter: 2 * time.Second,
		},
		Bulk:    {Slots: within(32*cores, bulkMemory), Wait: time.Second, RetryAfter: 5 * time.Second},
		Write:   {Slots: 256, Queue: maxQueue, Wait: time.Second, RetryAfter: time.Second},
		Publish: {Slots: 32, Wait: time.Second, RetryAfter: 10 * time.Second},
		Build:   {Slots: max(2, within(3, buildMemory))},

		Background: {Slots: max(2, within(cores, backgroundMemory))},
	}
}

// Reason is the cause of a rejection.
type Reason string

// The reasons.
const (
	ReasonFull     Reason = "full"     // too many requests wait
	ReasonTimeout  Reason = "timeout"  // no slot became free in time
	ReasonDeadline Reason = "deadline" // the deadline of the request passed first
)

// Reasons lists all reasons.
func Reasons() []Reason { return []Reason{ReasonFull, ReasonTimeout, ReasonDeadline} }

// Options of a Controller.
type Options struct {
	Limits   Limits
	Budget   *Budget            // of the bytes that requests buffer; nil means unlimited
	Rejected func(Lane, Reason) // called for every rejection; nil disables reporting
	// Waited is called for every request that was not admitted at once, when it is admitted,
	// rejected or canceled; nil disables reporting.
	Waited func(Lane, time.Duration)
}

// Controller admits requests to lanes. It is safe for concurrent use.
type Controller struct {
	lanes    [lanes]lane
	arrivals atomic.Int64 // of cheap requests and writes, see Ticket.pause
	budget   *Budget
	rejected func(Lane, Reason)
	waited   func(Lane, time.Duration)
}

// New returns a controller without requests.
func New(opts Options) (*Controller, error) {
	c := &Controller{budget: opts.Budget, rejected: opts.Rejected, waited: opts.Waited}
	for i, limit := range opts.Limits {
		if limit.Slots < 1 {
			return nil, fmt.Errorf("admission: lane %s has %d slots; it needs at least 1", Lane(i), limit.Slots)
		}
		c.lanes[i].init(limit, Lane(i).share())
	}
	return c, nil
}

// InFlight returns how many requests of a lane run.
func (c *Controller) InFlight(l Lane) int { return c.lanes[l].inFlight() }

// Slots returns the size of a lane.
func (c *Controller) Slots(l Lane) int { return c.lanes[l].Slots }

// Client is who shares the slots of a lane with others: a network address, or a key. The zero value
// is one client.
type Client struct {
	addr netip.Addr
	key  string
}

// ClientOf returns the client of a network address: the address, or the network of an IPv6 address,
// because one client has all addresses of its network. Requests with the zero address share one
// client.
func ClientOf(addr netip.Addr) Client {
	addr = addr.Unmap()
	if addr.Is4() || !addr.IsValid() {
		return Client{addr: addr}
	}
	const networkBits = 64
	network, _ := addr.WithZone("").Prefix(networkBits) // fails for zones and other lengths only
	return Client{addr: network.Addr()}
}

// ClientOfKey returns the client of a key, from whichever addresses it is used.
func ClientOfKey(id string) Client { return Client{key: id} }

// kind names the client in error messages.
func (c Client) kind() string {
	if c.key != "" {
		return "key"
	}
	return "address"
}

// enter acquires a slot of a lane for a client, or fails with herb.CodeUnavailable, or with the
// error of ctx if it was canceled.
func (c *Controller) enter(ctx context.Context, l Lane, client Client) error {
	if l == Cheap || l == Write {
		c.arrivals.Add(1)
	}
	ln := &c.lanes[l]
	w, admitted := ln.enter(client, true)
	switch {
	case admitted:
		return nil
	case w == nil:
		return c.reject(l, client, ReasonFull)
	}
	if c.waited != nil {
		began := time.Now()
		defer func() { c.waited(l, time.Since(began)) }()
	}
	timeout := time.NewTimer(ln.Wait)
	defer timeout.Stop()
	select {
	case admitted := <-w.result:
		if !admitted {
			return c.reject(l, client, ReasonFull)
		}
		return nil
	case <-timeout.C:
		ln.abandon(w)
		return c.reject(l, client, ReasonTimeout)
	case <-ctx.Done():
		ln.abandon(w)
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			return c.reject(l, client, ReasonDeadline)
		}
		return ctx.Err()
	}
}

// wait acquires a slot of a lane for work that was admitted before, such as the next chunk of an
// export. It waits until ctx is done.
func (c *Controller) wait(ctx context.Context, l Lane, client Client) error {
	w, admitted := c.lanes[l].enter(client, false)
	if admitted {
		return nil
	}
	return c.await(ctx, l, w)
}

// await waits until a request that is not rejected gets a slot of a lane, or until ctx is done.
func (c *Controller) await(ctx context.Context, l Lane, w *waiter) error {
	select {
	case <-w.result:
		return nil
	case <-ctx.Done():
		c.lanes[l].abandon(w)
		return ctx.Err()
	}
}

// reject returns the error of a request that gets no slot. It names the limit that the request has
// met: that of the lane, or the share of its client.
func (c *Controller) reject(l Lane, client Client, why Reason) error {
	c.report(l, why)
	ln := &c.lanes[l]
	limit := fmt.Sprintf("the server is at its limit of %d %s (lane %s) at once", ln.Slots, l.requests(), l)
	if held, met := ln.meetsShare(client); met {
		limit = fmt.Sprintf("your %s has %d %s (lane %s) at once, its share of the limit of %d",
			client.kind(), held, l.requests(), l, ln.Slots)
	}
	return &herb.Error{
		Code: herb.CodeUnavailable, Err: fmt.Errorf("admission: lane %s: %s", l, why), RetryAfter: ln.RetryAfter,
		Message: fmt.Sprintf("%s; try again in %d s", limit, int(ln.RetryAfter.Seconds())),
	}
}

func (c *Controller) report(l Lane, why Reason) {
	if c.rejected != nil {
		c.rejected(l, why)
	}
}
