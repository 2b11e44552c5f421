package admission

import (
	"context"
	"runtime"
	"time"
)

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
			sleep(ctx, wait)
		} else {
			runtime.Gosched()
		}
		seen, since = c.arrivals.Load(), 0
	}
}

// AcquirePaced takes a slot of the lane Expensive like Acquire, for a step of some milliseconds. release pauses before it gives the slot
// back: the slots of the lane are paced, not each request.
func (c *Controller) AcquirePaced(ctx context.Context) (release func(), err error) {
	leave, err := c.Acquire(ctx, Expensive)
	if err != nil {
		return nil, err
	}
	pause, began := c.Pace(ctx), time.Now()
	return func() {
		pause(time.Since(began))
		leave()
	}, nil
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// paceWait returns how long to wait after a piece of work during which other requests arrived.
func paceWait(arrivals int64, worked time.Duration) time.Duration {
	return min(time.Duration(arrivals)*waitPerArrival, maxWaitShare*worked, maxPaceWait)
}
