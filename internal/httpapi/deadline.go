package httpapi

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// reads are the reads of a connection, with their deadline. net/http moves that six times a request: to wait for the
// request, for its head and for its body, and then to watch for the client to leave while it is answered. Each time a timer
// moves, and hardly ever does anybody wait for it. So a deadline is noted, and set below only for a read that it could
// end. A later one is not set at all: when the one before has passed, the read is taken up again with the one that holds.
type reads struct {
	net.Conn
	begun time.Time // what is before it has long passed

	mu      sync.Mutex
	holds   time.Time // the deadline as it was asked for; zero: none
	set     time.Time // the one that is set below
	reading bool
}

// SetReadDeadline sets the deadline for reads, also for one that is under way.
func (r *reads) SetReadDeadline(t time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holds = t
	if r.reading && earlier(t, r.set) {
		return r.move()
	}
	return nil
}

// Read reads what has come, or waits for it until the deadline.
func (r *reads) Read(p []byte) (int, error) {
	for {
		if err := r.start(); err != nil {
			return 0, err
		}
		n, err := r.Conn.Read(p)
		if !r.end(err) {
			return n, err
		}
	}
}

// start begins a read.
func (r *reads) start() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if earlier(r.holds, r.begun) {
		return os.ErrDeadlineExceeded
	}
	if earlier(r.holds, r.set) || earlier(r.set, r.begun) {
		if err := r.move(); err != nil {
			return err
		}
	}
	r.reading = true
	return nil
}

// end ends a read. If it failed for a deadline that does not hold any more, it has to be done again.
func (r *reads) end(err error) (again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reading = false
	return err != nil && errors.Is(err, os.ErrDeadlineExceeded) && earlier(r.set, r.holds) && r.move() == nil
}

// move sets the deadline that holds.
func (r *reads) move() error {
	r.set = r.holds
	return r.Conn.SetReadDeadline(r.set)
}

// earlier reports whether a deadline passes before another. None, which is zero, never passes.
func earlier(a, b time.Time) bool {
	return !a.IsZero() && (b.IsZero() || a.Before(b))
}
