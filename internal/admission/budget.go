package admission

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"herbarium/internal/herb"
)

// Budget bounds the bytes that all requests buffer at once: bodies that arrive, responses that are
// built or that wait for their clients, and copies of either. Slots of lanes do not bound them,
// because a request holds no slot while its client sends or reads. A Budget is safe for concurrent
// use.
//
// Small reservations may use all of it, large ones three quarters. As a result, clients that do not
// read large responses cannot delay listings. Of either, a client gets freeShare times what is
// free, as in a lane, so one client cannot take the room of another.
type Budget struct {
	rejected func()
	limit    pool // sizes

	mu      sync.Mutex
	used    pool
	clients map[Client]*holder
	unused  []*holder       // for reuse
	waiters []*budgetWaiter // in order of arrival
}

// pool is a number of bytes of all reservations, and of the large ones among them.
type pool struct{ total, large int64 }

// holder is a client that has reservations or waits for them.
type holder struct {
	id      Client
	used    pool
	waiting int
}

// budgetWaiter is a reservation that waits for others to be released.
type budgetWaiter struct {
	reservation *Reservation
	to          int64
	granted     chan struct{} // closed when it has got its bytes
}

const (
	// maxSmall is the maximum size of a small reservation. A first page has a few KiB.
	maxSmall = 64 << 10
	// budgetWait is how long a reservation waits for others to be released. Meanwhile its request
	// may hold a slot.
	budgetWait = 100 * time.Millisecond
	// backgroundWait is the same for background tasks, which hold no slot of a request.
	backgroundWait = time.Minute
	// maxBudgetWaiters bounds the slots that are held by requests that wait. Beyond it, each client
	// may have one.
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
	return &Budget{rejected: rejected, limit: pool{total: bytes, large: bytes / 4 * 3}, clients: map[Client]*holder{}}
}

// Used returns the number of reserved bytes.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used.total
}

// Limit returns the size of the budget in bytes.
func (b *Budget) Limit() int64 { return b.limit.total }

// NewReservation returns a reservation of no bytes for a client. One of a
// nil budget is never rejected.
func (b *Budget) NewReservation(client Client) Reservation {
	return Reservation{budget: b, client: client}
}

// NewReservation returns a reservation of no bytes of the budget for the client of the ticket.
func (t *Ticket) NewReservation() Reservation {
	if t.c == nil {
		return Reservation{}
	}
	return t.c.budget.NewReservation(t.client)
}

// Reserve implements query.Pacer. It fails like Reservation.Grow. Work that needs more than
// Reservation.Clamp permits reserves that much.
func (t *Ticket) Reserve(ctx context.Context, bytes int) (release func(), err error) {
	r, wait := t.NewReservation(), budgetWait
	if t.lane == Background {
		wait = backgroundWait
	}
	if err := r.growWithin(ctx, r.Clamp(bytes), wait); err != nil {
		return nil, err
	}
	return r.Release, nil
}

// Reservation is the bytes of a budget that one buffer uses. The zero value reserves nothing and is
// never rejected. It is used by one goroutine at a time.
type Reservation struct {
	budget *Budget
	client Client
	held   pool
}

// Bytes returns the number of reserved bytes.
func (r *Reservation) Bytes() int64 { return r.held.total }

// IsLarge reports whether the reservation is one of those that may not use the whole budget.
func (r *Reservation) IsLarge() bool { return r.held.large > 0 }

// Clamp returns an estimated number of bytes to reserve: no more than three eighths of the budget,
// so that work that needs more can be done, if there is little else to do, and its result buffered.
func (r *Reservation) Clamp(bytes int) int64 {
	if r.budget == nil {
		return int64(bytes)
	}
	return min(int64(bytes), r.budget.limit.total/8*3)
}

// TryGrow enlarges the reservation to a number of bytes, unless that exceeds the budget or the
// share of its client.
func (r *Reservation) TryGrow(to int64) bool {
	b := r.budget
	if b == nil || to <= r.held.total {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.grant(r, to)
}

// Grow enlarges the reservation to a number of bytes. It waits a short time for others to be
// released, and fails with herb.CodeUnavailable if they are not, or with the error of ctx if it was
// canceled.
func (r *Reservation) Grow(ctx context.Context, to int64) error {
	return r.growWithin(ctx, to, budgetWait)
}

// growWithin is Grow with a limit on the time that it waits.
func (r *Reservation) growWithin(ctx context.Context, to int64, wait time.Duration) error {
	if r.TryGrow(to) {
		return nil
	}
	b := r.budget
	w := b.enqueue(r, to)
	if w == nil {
		return b.reject(to)
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	select {
	case <-w.granted:
		return nil
	case <-limited.Done():
	}
	switch err := ctx.Err(); {
	case !b.abandon(w):
		return nil
	case err != nil:
		return err
	default:
		return b.reject(to)
	}
}

// Release releases all bytes.
func (r *Reservation) Release() {
	if b := r.budget; b != nil && r.held.total > 0 {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.add(b.clients[r.client], pool{-r.held.total, -r.held.large})
		r.held = pool{}
		b.grantWaiting()
	}
}

// grant enlarges a reservation to a number of bytes if there is room for it. b.mu is held.
func (b *Budget) grant(r *Reservation, to int64) bool {
	more := pool{total: to - r.held.total}
	if to > maxSmall {
		more.large = to - r.held.large
	}
	c := b.holderOf(r.client)
	if !fits(more.total, c.used.total, b.used.total, b.limit.total) ||
		!fits(more.large, c.used.large, b.used.large, b.limit.large) {
		b.add(c, pool{}) // forgets it, if it is new
		return false
	}
	b.add(c, more)
	r.held = pool{r.held.total + more.total, r.held.large + more.large}
	return true
}

// fits reports whether a client may have more bytes of a pool, of which it has some.
func fits(more, has, used, limit int64) bool {
	free := limit - used - more
	return more == 0 || free >= 0 && has+more <= freeShare*free
}

// add changes the bytes of a client, which is forgotten if it has none and does not wait. b.mu is
// held.
func (b *Budget) add(c *holder, bytes pool) {
	b.used = pool{b.used.total + bytes.total, b.used.large + bytes.large}
	c.used = pool{c.used.total + bytes.total, c.used.large + bytes.large}
	if c.used.total == 0 && c.waiting == 0 {
		delete(b.clients, c.id)
		b.unused = append(b.unused, c)
	}
}

// holderOf returns a client, which is new if it has no bytes and does not wait. b.mu is held.
func (b *Budget) holderOf(id Client) *holder {
	c := b.clients[id]
	if c == nil {
		if n := len(b.unused); n > 0 {
			c, b.unused = b.unused[n-1], b.unused[:n-1]
		} else {
			c = &holder{}
		}
		*c = holder{id: id}
		b.clients[id] = c
	}
	return c
}

// enqueue lets a reservation wait. It returns nil if too many do, or if it can never be granted.
func (b *Budget) enqueue(r *Reservation, to int64) *budgetWaiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.holderOf(r.client)
	if len(b.waiters) >= maxBudgetWaiters && c.waiting > 0 || to > maxSmall && !fits(to, 0, 0, b.limit.large) {
		b.add(c, pool{})
		return nil
	}
	c.waiting++
	w := &budgetWaiter{r, to, make(chan struct{})}
	b.waiters = append(b.waiters, w)
	return w
}

// abandon removes a reservation that no longer waits. It returns false if it was granted meanwhile.
func (b *Budget) abandon(w *budgetWaiter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiters, w)
	if i < 0 {
		return false
	}
	b.waiters = slices.Delete(b.waiters, i, i+1)
	c := b.clients[w.reservation.client]
	c.waiting--
	b.add(c, pool{})
	return true
}

// grantWaiting grants the reservations that wait and for which there is room. b.mu is held.
func (b *Budget) grantWaiting() {
	b.waiters = slices.DeleteFunc(b.waiters, func(w *budgetWaiter) bool {
		if !b.grant(w.reservation, w.to) {
			return false
		}
		b.clients[w.reservation.client].waiting--
		close(w.granted)
		return true
	})
}

func (b *Budget) reject(bytes int64) error {
	if b.rejected != nil {
		b.rejected()
	}
	return &herb.Error{
		Code: herb.CodeUnavailable, RetryAfter: budgetRetry,
		Err: fmt.Errorf("admission: budget: no room for %d bytes beside %d of %d", bytes, b.Used(), b.limit.total),
		Message: fmt.Sprintf("the server buffers as much as its memory permits; try again in %d s, or request less "+
			"at once",
			int(budgetRetry.Seconds())),
	}
}
