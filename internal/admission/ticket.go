package admission

import (
	"context"
	"runtime"
	"time"

	"herbarium/internal/query"
)

// Ticket holds the slots of a request: one of its lane and, while it works for long, one of the
// lane Expensive. A request of the lane Cheap moves to the lane Expensive; requests of other lanes
// hold both slots. It implements query.Pacer, so that queries report their work. It is used by one
// goroutine at a time.
type Ticket struct {
	c      *Controller
	client Client
	lane   Lane          // the last one, if the ticket holds no slot
	held   bool          // a slot of lane, unless that is Expensive
	spent  time.Duration // work in the lane Cheap
	waited time.Duration // in Wait

	entered time.Time     // when it acquired a slot of the lane Build or Background
	working bool          // holds a slot of the lane Expensive
	piece   time.Duration // work with that slot since the last pause
	unpaid  time.Duration // work with that slot that the lane does not know of
	arrived int64         // requests that arrived during that work
	since   time.Time     // the end of that work
	seen    int64         // arrivals until then
}

// NewTicket returns a ticket for a client that holds no slot.
func (c *Controller) NewTicket(client Client) Ticket { return Ticket{c: c, client: client} }

// Enter acquires a slot of a lane, as a request that may be rejected: it fails with
// herb.CodeUnavailable, or with the error of ctx if that was canceled. The ticket releases all
// other slots, also if Enter fails.
func (t *Ticket) Enter(ctx context.Context, l Lane) error {
	if t.held && t.lane == l {
		return nil
	}
	if t.held && t.lane == Cheap && l == Expensive {
		t.c.arrivals.Add(-1) // expensive queries do not slow each other down
	}
	t.Release()
	t.lane = l
	if err := t.c.enter(ctx, l, t.client); err != nil {
		return err
	}
	if l == Expensive {
		t.startWork()
	} else {
		t.held = true
	}
	return nil
}

// Await acquires a slot of the lane Build or Background, as a request that was accepted before: it
// waits until ctx is done. The client pays for the time until the slot is released.
func (t *Ticket) Await(ctx context.Context, l Lane) error {
	if err := t.c.wait(ctx, l, t.client); err != nil {
		return err
	}
	t.lane, t.held, t.entered = l, true, time.Now()
	return nil
}

// Background implements query.Pacer. The work runs in the lane Background.
func (t *Ticket) Background() query.BackgroundPacer {
	b := t.c.NewTicket(t.client)
	return &b
}

// Begin implements query.BackgroundPacer.
func (t *Ticket) Begin(ctx context.Context) error { return t.Await(ctx, Background) }

// End implements query.BackgroundPacer.
func (t *Ticket) End() { t.Release() }

// Wait implements query.Pacer. The ticket releases its slots while it waits, and acquires one of
// the same lane afterwards, as any other request.
func (t *Ticket) Wait(ctx context.Context, limit time.Duration, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	default:
	}
	isHeld, isWorking := t.held, t.working
	t.Release()
	began := time.Now()
	timeout := time.NewTimer(limit - t.waited)
	defer timeout.Stop()
	select {
	case <-done:
	case <-timeout.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	t.waited += time.Since(began)
	switch {
	case isHeld:
		return t.Enter(ctx, t.lane)
	case isWorking:
		return t.Work(ctx)
	}
	return nil
}

// Release releases the slots of the ticket.
func (t *Ticket) Release() {
	t.Idle()
	if t.held {
		t.held = false
		worked := time.Duration(0)
		if t.lane == Build || t.lane == Background {
			worked = time.Since(t.entered)
		}
		t.c.lanes[t.lane].leave(t.client, worked)
	}
}

// ReportDeadline reports that the request of the ticket was ended by its deadline, in the lane that
// it was in last.
func (t *Ticket) ReportDeadline() {
	if t.c != nil {
		t.c.report(t.lane, ReasonDeadline)
	}
}

// When a request of the lane Cheap is expensive.
const (
	headStart = 2 * time.Millisecond // work of a cheap request
	// counted for a step, which takes longer if the process has to wait for a processor
	maxStep        = 250 * time.Nanosecond
	announcedSteps = 1 << 17 // reported at once, before they are taken
)

// Yield implements query.Pacer. A request of the lane Cheap moves to the lane Expensive when it has
// worked longer than a cheap request, when it announces as much work, or when other expensive
// requests of its client wait. Work in the lane Expensive is paced.
func (t *Ticket) Yield(ctx context.Context, steps int, worked time.Duration) error {
	switch {
	case t.working:
		return t.continueWork(ctx)
	case t.lane != Cheap:
		return t.Work(ctx)
	}
	t.spent += min(worked, time.Duration(steps)*maxStep)
	if t.spent < headStart && steps < announcedSteps && !t.c.lanes[Expensive].isWaiting(t.client) {
		runtime.Gosched()
		return nil
	}
	return t.Enter(ctx, Expensive)
}

// continueWork paces the request and lets others have its slot between pieces of work.
func (t *Ticket) continueWork(ctx context.Context) error {
	if !t.pause(ctx) {
		return nil
	}
	if t.lane != Expensive { // it is admitted by another lane, which bounds the memory of all
		t.Idle()
		return t.Work(ctx)
	}
	w := t.c.lanes[Expensive].passOn(t.client, t.pay())
	if w == nil {
		return nil
	}
	t.working = false
	if err := t.c.await(ctx, Expensive, w); err != nil {
		return err
	}
	t.startWork()
	return nil
}

// Work acquires a slot of the lane Expensive for the next piece of work of a request that was
// admitted before. It waits until ctx is done.
func (t *Ticket) Work(ctx context.Context) error {
	if t.working {
		return nil
	}
	if err := t.c.wait(ctx, Expensive, t.client); err != nil {
		return err
	}
	t.startWork()
	return nil
}

func (t *Ticket) startWork() {
	t.working = true
	t.since, t.seen = time.Now(), t.c.arrivals.Load() // what arrived while it waited for the slot does not count
}

// Pause paces the request and releases its slot of the lane Expensive. It pauses before, not after:
// the slots of the lane are paced, not each request.
func (t *Ticket) Pause(ctx context.Context) {
	if t.working {
		t.pause(ctx)
		t.Idle()
	}
}

// Idle implements query.Pacer. It releases the slot of the lane Expensive, if the ticket holds one.
func (t *Ticket) Idle() {
	if t.working {
		t.measure()
		t.working = false
		t.c.lanes[Expensive].leave(t.client, t.pay())
	}
}

// measure adds the work since the last measurement to the piece.
func (t *Ticket) measure() {
	now, arrivals := time.Now(), t.c.arrivals.Load()
	t.piece, t.arrived = t.piece+now.Sub(t.since), t.arrived+arrivals-t.seen
	t.unpaid += now.Sub(t.since)
	t.since, t.seen = now, arrivals
}

// pay returns the work that the lane Expensive does not know of, once.
func (t *Ticket) pay() time.Duration {
	worked := t.unpaid
	t.unpaid = 0
	return worked
}

// How expensive work is paced.
const (
	pacedPiece = time.Millisecond // of work between two waits
	// for each cheap request or write that arrived meanwhile, and each cheap one that runs
	waitPerArrival = time.Millisecond
	maxWaitShare   = 9 // of the time worked: expensive work keeps a tenth of the time of its slots
	maxPaceWait    = 100 * time.Millisecond
)

// pause ends a piece of work if it is long enough, and reports whether it is. Then it waits while
// cheap requests and writes arrive or run, because expensive work that occupies a processor all the
// time delays each of them: the more there are, the longer, and never after ctx has ended. Those
// that run count, because few arrive if the processors are busy and all of them wait. Without other
// requests it only yields to the scheduler.
func (t *Ticket) pause(ctx context.Context) bool {
	t.measure()
	if t.piece < pacedPiece {
		runtime.Gosched()
		return false
	}
	if wait := paceWait(t.arrived+int64(t.c.InFlight(Cheap)), t.piece); wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	} else {
		runtime.Gosched()
	}
	t.piece, t.arrived = 0, 0
	t.since, t.seen = time.Now(), t.c.arrivals.Load()
	return true
}

// paceWait returns how long to wait after a piece of work during which other requests arrived.
func paceWait(arrivals int64, worked time.Duration) time.Duration {
	return min(time.Duration(arrivals)*waitPerArrival, maxWaitShare*worked, maxPaceWait)
}
