package guard

import (
	"context"
	"runtime"
	"time"

	"herbarium/internal/query"
)

// stepsPerCheck is the number of steps between checks of a context. A step takes from a nanosecond
// to a few microseconds, so that a canceled query stops within milliseconds.
const stepsPerCheck = 4096

// Steps counts the steps of a query, reports them to its pacer and stops it when its context is
// canceled. Every loop whose length grows with the data calls Add, with a number that grows with
// the work: postings and words read, values rendered, bytes compared. It is not safe for concurrent
// use.
type Steps struct {
	ctx  context.Context
	left int // steps until the next check

	pacer query.Pacer // nil if there is none
	since time.Time   // end of the last yield

	needed, reserved int    // bytes
	release          func() // of what is reserved; nil if nothing is
}

// NewSteps returns the steps of a query with a context.
func NewSteps(ctx context.Context) *Steps {
	s := &Steps{ctx: ctx, left: stepsPerCheck}
	s.pacer = query.PacerOf(ctx)
	if s.pacer != nil {
		s.since = time.Now()
	}
	return s
}

// Add counts n steps. If the context is canceled, it calls Fail: the loops are nested in callbacks
// that cannot return an error.
//
// A query this long also yields the processor, to its pacer or else to the scheduler, so that short
// queries need not wait for the next preemption, which occurs every 10 ms.
func (s *Steps) Add(n int) {
	s.left -= n
	if s.left <= 0 {
		s.yield(stepsPerCheck - s.left)
		s.left = stepsPerCheck
	}
}

// Announce reports that the query is about to take n steps, before it allocates memory for them.
// Add counts them when they are taken.
func (s *Steps) Announce(n int) {
	if n >= stepsPerCheck {
		s.yield(n)
	}
}

func (s *Steps) yield(steps int) {
	s.Check()
	if s.pacer == nil {
		runtime.Gosched()
		return
	}
	if err := s.pacer.Yield(s.ctx, steps, time.Since(s.since)); err != nil {
		Fail(err)
	}
	s.since = time.Now()
}

// minReservation is the least number of bytes that are reserved at once. Queries that need less
// reserve nothing.
const minReservation = 1 << 20

// Reserve reports that the query is about to allocate n bytes more, which it holds until Release.
// It reserves them from the pacer, and stops the query if the server has no memory for them. The
// sum is reserved at once, because a pacer limits each reservation to what the server has.
func (s *Steps) Reserve(n int) {
	s.needed += n
	if s.pacer == nil || s.needed < minReservation || s.needed <= s.reserved {
		return
	}
	needed := s.needed
	s.Release()
	s.needed, s.reserved = needed, needed+needed/4
	release, err := s.pacer.Reserve(s.ctx, s.reserved)
	if err != nil {
		Fail(err)
	}
	s.release = release
}

// Return reports that the query does not hold n of its reserved bytes any more. They remain
// reserved for what it allocates next.
func (s *Steps) Return(n int) { s.needed = max(0, s.needed-n) }

// Needed returns the number of bytes that the query holds.
func (s *Steps) Needed() int { return s.needed }

// Release releases the memory that the query has reserved.
func (s *Steps) Release() {
	if s.release != nil {
		s.release()
	}
	s.needed, s.reserved, s.release = 0, 0, nil
}

// Detach leaves the reserved memory to the caller, who must call release when it is no longer
// needed. Release does not release it any more.
func (s *Steps) Detach() (release func()) {
	release = s.release
	s.needed, s.reserved, s.release = 0, 0, nil
	if release == nil {
		return func() {}
	}
	return release
}

// Restart begins to measure the time of the next steps, after a pause in which the query did not
// run.
func (s *Steps) Restart() {
	s.Check()
	if s.pacer != nil {
		s.since = time.Now()
	}
}

// Check stops the query if its context is canceled.
func (s *Steps) Check() {
	if err := s.ctx.Err(); err != nil {
		Fail(err)
	}
}

// Blocks calls f for consecutive parts of [from, to), with a check between them. It is for loops
// that are too short for a call of Add in each iteration.
func (s *Steps) Blocks(from, to int, f func(from, to int)) {
	for from < to {
		end := min(from+stepsPerCheck, to)
		s.Add(end - from)
		f(from, end)
		from = end
	}
}
