// Package admission bounds the work that a server accepts. Requests run in lanes, each with its own number of slots, so that
// one kind of request cannot starve another. A request waits a short time for a slot and is rejected after that.
package admission

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Lane is a class of requests that share slots.
type Lane int

// The lanes.
const (
	Cheap     Lane = iota // listings and pages whose cost does not grow with the dataset
	Expensive             // queries whose cost grows with the dataset, and the encoding of exports: bound by the processors
	Export                // complete results; most of their time they wait for the client
	Write                 // creations and forms
	lanes
)

// Lanes lists all lanes.
func Lanes() []Lane { return []Lane{Cheap, Expensive, Export, Write} }

// String returns the name of the lane, as in metrics and error messages.
func (l Lane) String() string {
	return [lanes]string{"cheap", "expensive", "export", "write"}[l]
}

// Limit is the size of a lane.
type Limit struct {
	Slots      int           // requests that run at once
	Wait       time.Duration // for a slot
	RetryAfter time.Duration // sent to rejected clients
}

// Limits are the limits of all lanes, by lane.
type Limits [lanes]Limit

// What a request of each lane may hold in memory, for DefaultLimits. Measured values are lower; a lane that is full must
// not exceed its share of the memory.
const (
	cheapMemory     = 256 << 10
	expensiveMemory = 64 << 20
	exportMemory    = 2 << 20
)

// DefaultLimits returns the limits for a number of processors and a memory budget. Expensive queries leave one processor to
// the other lanes. No lane takes more than a quarter of the memory.
func DefaultLimits(cores int, memory int64) Limits {
	within := func(slots, perRequest int) int {
		return max(1, int(min(int64(slots), memory/4/int64(perRequest))))
	}
	return Limits{
		Cheap:     {Slots: within(256*cores, cheapMemory), Wait: 100 * time.Millisecond, RetryAfter: time.Second},
		Expensive: {Slots: within(max(1, cores-1), expensiveMemory), Wait: time.Second, RetryAfter: 2 * time.Second},
		Export:    {Slots: within(32*cores, exportMemory), Wait: time.Second, RetryAfter: 10 * time.Second},
		Write:     {Slots: 256, Wait: time.Second, RetryAfter: time.Second},
	}
}

// Reason is the cause of a rejection.
type Reason string

// The reasons.
const (
	ReasonFull     Reason = "full"     // every slot is taken and too many requests wait
	ReasonTimeout  Reason = "timeout"  // no slot became free in time
	ReasonDeadline Reason = "deadline" // the deadline of the request passed first
)

// Options of a Controller.
type Options struct {
	Limits   Limits
	Budget   *Budget            // of the bytes that requests buffer; nil means unlimited
	Rejected func(Lane, Reason) // called for every rejection; nil disables reporting
}

// Controller admits requests to lanes. It is safe for concurrent use.
type Controller struct {
	lanes    [lanes]lane
	arrivals atomic.Int64 // of cheap requests and writes, see Pace
	budget   *Budget
	rejected func(Lane, Reason)
}

type lane struct {
	Limit
	slots   chan struct{}
	waiting atomic.Int64
}

// waitersPerSlot bounds the queue of a lane: more waiting requests than this would time out anyway.
const waitersPerSlot = 16

// New returns a controller without requests.
func New(opts Options) (*Controller, error) {
	c := &Controller{budget: opts.Budget, rejected: opts.Rejected}
	for i, limit := range opts.Limits {
		if limit.Slots < 1 {
			return nil, fmt.Errorf("admission: lane %s has %d slots; it needs at least 1", Lane(i), limit.Slots)
		}
		c.lanes[i].Limit, c.lanes[i].slots = limit, make(chan struct{}, limit.Slots)
	}
	return c, nil
}

// InFlight returns how many requests of a lane run.
func (c *Controller) InFlight(l Lane) int { return len(c.lanes[l].slots) }

// Slots returns the size of a lane.
func (c *Controller) Slots(l Lane) int { return c.lanes[l].Slots }

// Acquire acquires a slot of a lane, or fails with herb.CodeUnavailable, or with the error of ctx if it was canceled. The caller
// calls release when its work is done.
func (c *Controller) Acquire(ctx context.Context, l Lane) (release func(), err error) {
	if err := c.enter(ctx, l); err != nil {
		return nil, err
	}
	return func() { c.leave(l) }, nil
}

// Wait acquires a slot of a lane like Acquire and waits for it until ctx is done. It is for work in small steps, such as the chunks
// of an export, which was admitted before: requests that wait for slots and such steps take turns.
func (c *Controller) Wait(ctx context.Context, l Lane) (release func(), err error) {
	select {
	case c.lanes[l].slots <- struct{}{}:
		return func() { c.leave(l) }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *Controller) leave(l Lane) { <-c.lanes[l].slots }

func (c *Controller) enter(ctx context.Context, l Lane) error {
	if l == Cheap || l == Write {
		c.arrivals.Add(1)
	}
	ln := &c.lanes[l]
	select {
	case ln.slots <- struct{}{}:
		return nil
	default:
	}
	defer ln.waiting.Add(-1)
	if ln.waiting.Add(1) > int64(ln.Slots)*waitersPerSlot || ln.Wait == 0 {
		return c.reject(l, ReasonFull)
	}
	select {
	case ln.slots <- struct{}{}:
		return nil
	case <-time.After(ln.Wait):
		return c.reject(l, ReasonTimeout)
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return c.reject(l, ReasonDeadline)
		}
		return ctx.Err()
	}
}

func (c *Controller) reject(l Lane, why Reason) error {
	if c.rejected != nil {
		c.rejected(l, why)
	}
	limit := c.lanes[l].Limit
	requests := [lanes]string{"requests", "expensive queries", "exports", "writes"}[l]
	return &herb.Error{
		Code: herb.CodeUnavailable, Err: fmt.Errorf("admission: lane %s: %s", l, why), RetryAfter: limit.RetryAfter,
		Message: fmt.Sprintf("the server is at its limit of %d %s (lane %s) at once; try again in %d s",
			limit.Slots, requests, l, int(limit.RetryAfter.Seconds())),
	}
}

// Ticket is the slot that a request holds: of one lane at a time, or none. It is used by one goroutine at a time.
type Ticket struct {
	c    *Controller
	lane Lane
	held bool
}

// NewTicket returns a ticket that holds no slot.
func (c *Controller) NewTicket() Ticket { return Ticket{c: c} }

// Enter acquires a slot of a lane and releases the one that the ticket holds, if it is of another lane. If that fails, the ticket holds
// none.
func (t *Ticket) Enter(ctx context.Context, l Lane) error {
	if t.held && t.lane == l {
		return nil
	}
	if t.held && t.lane == Cheap && l == Expensive {
		t.c.arrivals.Add(-1) // expensive queries do not slow each other down
	}
	t.Release()
	if err := t.c.enter(ctx, l); err != nil {
		return err
	}
	t.lane, t.held = l, true
	return nil
}

// Release releases the slot, if the ticket holds one.
func (t *Ticket) Release() {
	if t.held {
		t.held = false
		t.c.leave(t.lane)
	}
}

// ReportDeadline reports that the request of the ticket was ended by its deadline, in the lane that it was in last.
func (t *Ticket) ReportDeadline() {
	if t.c != nil && t.c.rejected != nil {
		t.c.rejected(t.lane, ReasonDeadline)
	}
}

type ticketKey struct{}

// NewContext returns a context that carries the ticket of a request to the queries that it runs.
func NewContext(ctx context.Context, t *Ticket) context.Context {
	return context.WithValue(ctx, ticketKey{}, t)
}

func ticketFrom(ctx context.Context) *Ticket {
	t, _ := ctx.Value(ticketKey{}).(*Ticket)
	return t
}

// How expensive work is paced.
const (
	pacedPiece     = time.Millisecond // of work between two waits
	waitPerArrival = time.Millisecond // for each cheap request or write that arrived meanwhile
	maxWaitShare   = 9                // of the time worked: expensive work keeps a tenth of the time of its slots
	maxPaceWait    = 100 * time.Millisecond
)

// Pace returns a function for one query or export to call between pieces of work in the lane Expensive, with the time that
// the last piece took. It waits while cheap requests and writes arrive, because expensive work that occupies a processor all
// the time delays each of them: the more arrive, the longer, and never after ctx has ended. Without other requests it only
// yields to the scheduler.
func (c *Controller) Pace(ctx context.Context) (pause func(worked time.Duration)) {
	seen, since := c.arrivals.Load(), time.Duration(0)
	return func(worked time.Duration) {
		if since += worked; since < pacedPiece {
			runtime.Gosched()
			return
		}
		if wait := paceWait(c.arrivals.Load()-seen, since); wait > 0 {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
			}
		} else {
			runtime.Gosched()
		}
		seen, since = c.arrivals.Load(), 0
	}
}

// AcquirePaced acquires a slot of the lane Expensive like Acquire, for a step of some milliseconds of the request whose ticket is in the
// context, if there is one. release pauses before it releases the slot: the slots of the lane are paced, not each request.
func AcquirePaced(ctx context.Context) (release func(), err error) {
	t := ticketFrom(ctx)
	if t == nil {
		return func() {}, nil
	}
	leave, err := t.c.Acquire(ctx, Expensive)
	if err != nil {
		return nil, err
	}
	pause, began := t.c.Pace(ctx), time.Now()
	return func() {
		pause(time.Since(began))
		leave()
	}, nil
}

// paceWait returns how long to wait after a piece of work during which other requests arrived.
func paceWait(arrivals int64, worked time.Duration) time.Duration {
	return min(time.Duration(arrivals)*waitPerArrival, maxWaitShare*worked, maxPaceWait)
}

// LimitQueries returns a source that runs each query on a dataset of a number of records in the lane of its cost. The slot is that of
// the ticket in the context; a query without a ticket runs at once.
func LimitQueries(records int, s query.Source) query.Source { return &limited{s, records} }

type limited struct {
	source  query.Source
	records int // of the dataset
}

func (s *limited) List(ctx context.Context, r *query.Request) (query.Page, error) {
	return run(ctx, s, r, s.source.List)
}

func (s *limited) Facets(ctx context.Context, r *query.FacetRequest) (query.Facets, error) {
	return run(ctx, s, r, s.source.Facets)
}

func (s *limited) Grid(ctx context.Context, r *query.GridRequest) (query.Grid, error) {
	return run(ctx, s, r, s.source.Grid)
}

// run runs a query in the lane of its cost. An expensive query is paced and releases its slot when it is done; a cheap one holds it for the
// rest of the request.
func run[R interface{ IsExpensive(records int) bool }, P any](
	ctx context.Context, s *limited, r R, evaluate func(context.Context, R) (P, error),
) (result P, err error) {
	t := ticketFrom(ctx)
	switch {
	case t == nil:
	case !r.IsExpensive(s.records):
		err = t.Enter(ctx, Cheap)
	default:
		if err = t.Enter(ctx, Expensive); err == nil {
			defer t.Release()
			ctx = query.WithYield(ctx, t.c.Pace(ctx)) // what arrived while it waited for the slot does not count
		}
	}
	if err != nil {
		return result, err
	}
	return evaluate(ctx, r)
}

// Stream computes the result of an export. The export holds a slot of its own lane; an expensive query takes another one until
// it is computed.
func (s *limited) Stream(ctx context.Context, r *query.Request) (query.Stream, error) {
	if t := ticketFrom(ctx); t != nil && r.IsExpensive(s.records) {
		release, err := t.c.Acquire(ctx, Expensive)
		if err != nil {
			return query.Stream{}, err
		}
		defer release()
		ctx = query.WithYield(ctx, t.c.Pace(ctx))
	}
	return s.source.Stream(ctx, r)
}
