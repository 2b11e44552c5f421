package admission

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"herbarium/internal/herb"
)

// Budget bounds the bytes that all requests buffer at once: bodies that arrive, responses that are
// built or that wait for their clients, and copies of either. Slots of lanes do not bound them,
// because a request holds no slot while its client sends or reads. A Budget is safe for concurrent
// use.
//
// Small reservations may use all of it, large ones three quarters. As a result, clients that do not
// read large responses cannot delay listings.
type Budget struct {
	limit, largeLimit int64
	total, large      *semaphore.Weighted // of all reservations, and of large ones
	used              atomic.Int64
	waiting           atomic.Int64
	rejected          func()
}

const (
	// maxSmall is the maximum size of a small reservation. A first page has a few KiB.
	maxSmall = 64 << 10
	// budgetWait is how long a reservation waits for others to be released. Meanwhile its request
	// may hold a slot.
	budgetWait = 100 * time.Millisecond
	// maxBudgetWaiters bounds the slots that are held by requests that wait.
	maxBudgetWaiters = 32
	// budgetRetry is sent to rejected clients. By then, connections of clients that do not read can
	// be evicted.
	budgetRetry = 2 * time.Second
)

// DefaultBudget returns the size of the budget of a server with this much memory: a quarter, as for
// a lane.
func DefaultBudget(memory int64) int64 { return memory / 4 }

// NewBudget returns a budget of some bytes. rejected is called for every rejected reservation; nil
// disables reporting.
func NewBudget(bytes int64, rejected func()) *Budget {
	large := bytes / 4 * 3
	return &Budget{
		limit: bytes, largeLimit: large, total: semaphore.NewWeighted(bytes), large: semaphore.NewWeighted(large), rejected: rejected,
	}
}

// Used returns the number of reserved bytes.
func (b *Budget) Used() int64 { return b.used.Load() }

// Limit returns the size of the budget in bytes.
func (b *Budget) Limit() int64 { return b.limit }

// NewReservation returns a reservation of no bytes. One of a nil budget is never rejected.
func (b *Budget) NewReservation() Reservation { return Reservation{budget: b} }

// NewReservation returns a reservation of no bytes of the budget.
func (c *Controller) NewReservation() Reservation { return c.budget.NewReservation() }

// Reserve implements query.Pacer. It fails like Reservation.Grow. Work that needs more than half of
// the budget reserves half of it.
func (t *Ticket) Reserve(ctx context.Context, bytes int) (release func(), err error) {
	r := t.c.NewReservation()
	if err := r.Grow(ctx, r.Clamp(bytes)); err != nil {
		return nil, err
	}
	return r.Release, nil
}

// Reservation is the bytes of a budget that one buffer uses. The zero value reserves nothing and is
// never rejected. It is used by one goroutine at a time.
type Reservation struct {
	budget       *Budget
	bytes, large int64
}

// Bytes returns the number of reserved bytes.
func (r *Reservation) Bytes() int64 { return r.bytes }

// IsLarge reports whether the reservation is one of those that may not use the whole budget.
func (r *Reservation) IsLarge() bool { return r.large > 0 }

// Clamp returns an estimated number of bytes to reserve: no more than half of the budget, so that
// work that needs more can be done, if there is little else to do.
func (r *Reservation) Clamp(bytes int) int64 {
	if r.budget == nil {
		return int64(bytes)
	}
	return min(int64(bytes), r.budget.limit/2)
}

// TryGrow enlarges the reservation to a number of bytes, unless that exceeds the budget.
func (r *Reservation) TryGrow(to int64) bool {
	return r.grow(to, func(s *semaphore.Weighted, n int64) bool { return s.TryAcquire(n) })
}

// Grow enlarges the reservation to a number of bytes. It waits a short time for others to be
// released, and fails with herb.CodeUnavailable if they are not, or with the error of ctx if it was
// canceled.
func (r *Reservation) Grow(ctx context.Context, to int64) error {
	if r.TryGrow(to) {
		return nil
	}
	b := r.budget
	defer b.waiting.Add(-1)
	if b.waiting.Add(1) > maxBudgetWaiters || to > b.largeLimit {
		return b.reject(to)
	}
	limited, cancel := context.WithTimeout(ctx, budgetWait)
	defer cancel()
	if !r.grow(to, func(s *semaphore.Weighted, n int64) bool { return s.Acquire(limited, n) == nil }) {
		if err := ctx.Err(); err != nil {
			return err
		}
		return b.reject(to)
	}
	return nil
}

// grow enlarges the reservation with a function that acquires bytes.
func (r *Reservation) grow(to int64, acquire func(*semaphore.Weighted, int64) bool) bool {
	b := r.budget
	if b == nil || to <= r.bytes {
		return true
	}
	large := r.large
	if to > maxSmall {
		if !acquire(b.large, to-large) {
			return false
		}
		large = to
	}
	if !acquire(b.total, to-r.bytes) {
		if large > r.large {
			b.large.Release(large - r.large)
		}
		return false
	}
	b.used.Add(to - r.bytes)
	r.bytes, r.large = to, large
	return true
}

// Release releases all bytes.
func (r *Reservation) Release() {
	if r.bytes == 0 {
		return
	}
	if r.large > 0 {
		r.budget.large.Release(r.large)
	}
	r.budget.total.Release(r.bytes)
	r.budget.used.Add(-r.bytes)
	r.bytes, r.large = 0, 0
}

func (b *Budget) reject(bytes int64) error {
	if b.rejected != nil {
		b.rejected()
	}
	return &herb.Error{
		Code: herb.CodeUnavailable, RetryAfter: budgetRetry,
		Err: fmt.Errorf("admission: budget: no room for %d bytes beside %d of %d", bytes, b.Used(), b.limit),
		Message: fmt.Sprintf("the server buffers as much as its memory permits; try again in %d s, or request less at once",
			int(budgetRetry.Seconds())),
	}
}
