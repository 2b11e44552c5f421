package httpapi

import (
	"container/list"
	"net"
	"net/http"
	"sync"
	"time"
)

// newGrace is how long a new connection is protected from eviction, because its client may be about to send a request.
const newGrace = 500 * time.Millisecond

// connections tracks the open connections of a listener. At the limit, it evicts the one that has been idle longest. It is
// safe for concurrent use.
type connections struct {
	limit int // 0 means unlimited

	mu      sync.Mutex
	closed  bool
	open    int
	changed sync.Cond  // signaled when a connection is closed or becomes idle
	conns   *list.List // of *conn, in the order in which they were accepted or last became idle
}

func newConnections(limit int) *connections {
	s := &connections{limit: limit, conns: list.New()}
	s.changed.L = &s.mu
	return s
}

// reserve reserves a slot for a connection. At the limit it evicts an idle connection, and blocks while there is none. It
// returns false after the listener is closed.
func (s *connections) reserve() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.limit > 0 && s.open >= s.limit && !s.closed {
		if !s.evict() {
			wake := time.AfterFunc(newGrace, s.changed.Broadcast) // a new connection may become evictable
			s.changed.Wait()
			wake.Stop()
		}
	}
	s.open++
	return !s.closed
}

// release releases the slot of a connection.
func (s *connections) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	s.changed.Broadcast()
}

// evictOne closes the connection that has been idle longest, and reports whether there is one.
func (s *connections) evictOne() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.evict()
}

// evict is evictOne with the lock held. The server detects the closed connection and ends its goroutine.
func (s *connections) evict() bool {
	for e := s.conns.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*conn); !c.busy && (c.served || time.Since(c.accepted) >= newGrace) {
			_ = c.Conn.Close()
			s.remove(c)
			return true
		}
	}
	return false
}

// add adds an accepted connection, whose slot is reserved.
func (s *connections) add(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.place = s.conns.PushBack(c)
}

// remove releases the slot of a closed connection, once. The lock must be held.
func (s *connections) remove(c *conn) {
	if c.place != nil {
		s.conns.Remove(c.place)
		c.place = nil
		s.open--
		s.changed.Broadcast()
	}
}

// shut unblocks all reserve calls.
func (s *connections) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.changed.Broadcast()
}

// trackConnection is the ConnState hook of a server whose listener is a Listener.
func trackConnection(nc net.Conn, state http.ConnState) {
	c, ok := nc.(*conn)
	if !ok {
		return
	}
	s := c.all
	s.mu.Lock()
	defer s.mu.Unlock()
	c.busy = state == http.StateActive
	if state == http.StateIdle && c.place != nil {
		c.served = true
		s.conns.MoveToBack(c.place)
		s.changed.Broadcast()
	}
}

// Close closes the connection and releases its slot.
func (c *conn) Close() error {
	c.all.mu.Lock()
	c.all.remove(c)
	c.all.mu.Unlock()
	return c.Conn.Close()
}
