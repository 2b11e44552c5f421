package admission

import (
	"slices"
	"sync"
	"time"
)

// freeShare is how many slots a client may hold for each free one of a lane whose slots clients can
// hold for as long as they like. One client gets at most three quarters of such a lane, two clients
// three sevenths each, and so on: at least slots/freeShare clients are needed to fill it.
const freeShare = 3

// freeBuildShare is the same for the lanes Build and Background, which have few slots: a client
// that has one never gets the last free one, so that a build of another client does not wait for
// long ones.
const freeBuildShare = 1

// admissionCost is what a client pays for a slot in addition to its work. It makes clients
// alternate whose requests work for shorter times, or hold slots without work.
const admissionCost = time.Millisecond

// lane is the slots of a lane and the requests that wait for them.
//
// Slots are shared by fair queueing: clients pay for the work of their requests, and a slot goes to
// a request of the client that has paid least, ties in the order of arrival. A client that was away
// starts with what the others have paid. So a request waits for one piece of work of every other
// client at most, however many others have sent and however long their requests work.
type lane struct {
	Limit
	share int // slots that a client may hold for each free one; 0 means any number

	mu      sync.Mutex
	used    int           // slots
	paid    time.Duration // what the client that was admitted last had paid: new clients start there
	clients map[Client]*client
	unused  []*client // for reuse
	queue   []*waiter // in order of arrival
	waiting int       // requests in the queue that can be rejected
}

// client is a client that has requests in a lane.
type client struct {
	id      Client
	held    int           // slots
	queued  int           // requests in the queue
	waiting int           // requests in the queue that can be rejected
	resumed int           // requests in the queue that have passed on their slot
	paid    time.Duration // for slots and work
}

// waiter is a request in the queue of a lane.
type waiter struct {
	client     *client
	rejectable bool      // it was not admitted before
	resumed    bool      // it has passed on its slot
	result     chan bool // receives whether it was admitted; has room for it
}

func (l *lane) init(limit Limit, share int) {
	l.Limit = limit
	if limit.Queue == 0 {
		l.Queue = waitersPerSlot * limit.Slots
	}
	if limit.Wait == 0 {
		l.Queue = 0
	}
	l.share, l.clients = share, map[Client]*client{}
}

func (l *lane) inFlight() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used
}

// isWaiting reports whether a client has requests in the queue.
func (l *lane) isWaiting(id Client) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.clients[id]
	return c != nil && c.waiting > 0
}

// meetsShare returns how many slots a client holds, and whether it gets no other one although some
// are free.
func (l *lane) meetsShare(id Client) (held int, met bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.clients[id]; c != nil {
		return c.held, l.used < l.Slots && !l.isFree(c)
	}
	return 0, false
}

// enter acquires a slot, or else returns a request that waits for one. It returns nil if the
// request can be rejected and the queue is full of requests of clients that have no more in it than
// this one.
func (l *lane) enter(id Client, rejectable bool) (w *waiter, admitted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.clients[id]
	if c == nil {
		c = l.addClient(id)
	}
	if l.isFree(c) && (!rejectable || c.resumed == 0) { // no request in the queue may have it
		l.admit(c)
		return nil, true
	}
	if rejectable && l.waiting >= l.Queue && !l.evict(c) {
		l.removeIfIdle(c)
		return nil, false
	}
	return l.add(&waiter{client: c, rejectable: rejectable}), false
}

// passOn releases the slot of a request that has worked for some time and is not finished, if a
// request of another client waits for one, and returns the request that waits for a slot again; nil
// if it keeps its slot. Requests that passed on their slots are not rejected, and are finished
// before other ones of the same client start: each client has as many unfinished requests as
// without them.
func (l *lane) passOn(id Client, worked time.Duration) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.clients[id]
	c.paid += worked
	if !slices.ContainsFunc(l.queue, func(w *waiter) bool { return w.client != c && w.startable() }) {
		l.paid = max(l.paid, c.paid) // it is admitted again; a new client does not pay less for that
		return nil
	}
	l.used--
	c.held--
	w := l.add(&waiter{client: c, resumed: true})
	l.admitNext()
	return w
}

// startable reports whether a request may start before others of its client are finished.
func (w *waiter) startable() bool { return !w.rejectable || w.client.resumed == 0 }

// isFree reports whether there is a slot that a client may hold. l.mu is held.
func (l *lane) isFree(c *client) bool {
	free := l.Slots - l.used
	return free > 0 && (l.share == 0 || c.held < l.share*free)
}

// admit gives a slot to a client. l.mu is held.
func (l *lane) admit(c *client) {
	l.used++
	c.held++
	l.paid = max(l.paid, c.paid)
	c.paid += admissionCost
}

// leave releases a slot of a client whose request has worked for some time.
func (l *lane) leave(id Client, worked time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.clients[id]
	c.paid += worked
	l.used--
	c.held--
	l.removeIfIdle(c)
	l.admitNext()
}

// admitNext gives free slots to requests in the queue. l.mu is held.
func (l *lane) admitNext() {
	for l.used < l.Slots {
		first := -1
		for i, w := range l.queue {
			if (first < 0 || w.client.paid < l.queue[first].client.paid) && l.isFree(w.client) && w.startable() {
				first = i
			}
		}
		if first < 0 {
			return
		}
		w := l.remove(first)
		l.admit(w.client)
		w.result <- true
	}
}

// evict rejects the last request of the client with the most requests in a full queue. It returns
// false if that is not more than those of c. l.mu is held.
func (l *lane) evict(c *client) bool {
	last := -1
	for i, w := range l.queue {
		if w.rejectable && (last < 0 || w.client.waiting >= l.queue[last].client.waiting) {
			last = i
		}
	}
	if last < 0 || l.queue[last].client.waiting <= c.waiting+1 {
		return false
	}
	w := l.remove(last)
	w.result <- false
	l.removeIfIdle(w.client)
	return true
}

// add adds a request to the queue. l.mu is held.
func (l *lane) add(w *waiter) *waiter {
	w.result = make(chan bool, 1)
	l.queue = append(l.queue, w)
	l.countWaiting(w, 1)
	return w
}

// remove removes a request from the queue. l.mu is held.
func (l *lane) remove(i int) *waiter {
	w := l.queue[i]
	l.queue = slices.Delete(l.queue, i, i+1)
	l.countWaiting(w, -1)
	return w
}

// countWaiting counts a request that is added to the queue or removed from it. l.mu is held.
func (l *lane) countWaiting(w *waiter, n int) {
	w.client.queued += n
	if w.rejectable {
		w.client.waiting += n
		l.waiting += n
	}
	if w.resumed {
		w.client.resumed += n
	}
}

// abandon removes a request that no longer waits. If it was admitted meanwhile, its slot is
// released.
func (l *lane) abandon(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.queue, w); i >= 0 {
		l.remove(i)
		l.admitNext() // others of its client may start
		l.removeIfIdle(w.client)
		return
	}
	if admitted := <-w.result; admitted {
		l.used--
		w.client.held--
		l.removeIfIdle(w.client)
		l.admitNext()
	}
}

func (l *lane) addClient(id Client) *client {
	c := &client{}
	if n := len(l.unused); n > 0 {
		c, l.unused = l.unused[n-1], l.unused[:n-1]
	}
	*c = client{id: id, paid: l.paid}
	l.clients[id] = c
	return c
}

// removeIfIdle forgets a client without requests. l.mu is held.
func (l *lane) removeIfIdle(c *client) {
	if c.held == 0 && c.queued == 0 {
		delete(l.clients, c.id)
		l.unused = append(l.unused, c)
	}
}
