package admission

import (
	"runtime"
	"time"
)

// How expensive work is paced.
const (
	pacedPiece     = time.Millisecond      // of work between two waits
	waitPerArrival = time.Millisecond      // for each cheap request or write that arrived meanwhile
	maxWaitShare   = 4                     // of the time worked: expensive work keeps a fifth of the time of its slots
	maxPaceWait    = 20 * time.Millisecond // so that deadlines are noticed
)

// Pace returns a function for one query or export to call between pieces of work in the lane Expensive, with the time that
// the last piece took. It waits while cheap requests and writes arrive, because expensive work that occupies a processor all
// the time delays each of them: the more arrive, the longer. Without other requests it only yields to the scheduler.
func (c *Controller) Pace() (pause func(worked time.Duration)) {
	seen, since := c.arrivals.Load(), time.Duration(0)
	return func(worked time.Duration) {
		if since += worked; since < pacedPiece {
			runtime.Gosched()
			return
		}
		if wait := paceWait(c.arrivals.Load()-seen, since); wait > 0 {
			time.Sleep(wait)
		} else {
			runtime.Gosched()
		}
		seen, since = c.arrivals.Load(), 0
	}
}

// paceWait returns how long to wait after a piece of work during which other requests arrived.
func paceWait(arrivals int64, worked time.Duration) time.Duration {
	return min(time.Duration(arrivals)*waitPerArrival, maxWaitShare*worked, maxPaceWait)
}
