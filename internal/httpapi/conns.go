package httpapi

import (
	"container/list"
	"net"
	"net/http"
	"sync"
	"time"
)

// newGrace is how long a new connection is safe from eviction: its client may be about to send its first request.
const newGrace = 500 * time.Millisecond

// connections counts the open connections of a listener and keeps those that wait for a request in the order in which
// they began to wait. At the limit, the one that has waited longest makes room for a new one. It is safe for concurrent use.
type connections struct {
	limit int // 0: none

	mu      sync.Mutex
	closed  bool
	open    int
	changed sync.Cond  // signaled when a connection was closed or began to wait
	waiting *list.List // of *conn: those without a request, the longest waiting first
}

func newConnections(limit int) *connections {
	s := &connections{limit: limit, waiting: list.New()}
	s.changed.L = &s.mu
	return s
}

// reserve makes room for a connection. It waits while all connections have a request under way, and returns false when the
// listener was closed.
func (s *connections) reserve() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.limit > 0 && s.open >= s.limit && !s.closed {
		if !s.evict() {
			wake := time.AfterFunc(newGrace, s.changed.Broadcast) // a new connection may have become old enough
			s.changed.Wait()
			wake.Stop()
		}
	}
	s.open++
	return !s.closed
}

// release gives the place of a connection back.
func (s *connections) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	s.changed.Broadcast()
}

// evictOne closes the connection that has waited longest for a request; false if there is none.
func (s *connections) evictOne() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.evict()
}

// evict is evictOne with the lock held. The server notices that the connection was closed and ends its goroutine.
func (s *connections) evict() bool {
	for e := s.waiting.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*conn); c.served || time.Since(c.accepted) >= newGrace {
			_ = c.Conn.Close()
			s.forget(c)
			return true
		}
	}
	return false
}

// forget gives the place of a closed connection back, once. The lock is held.
func (s *connections) forget(c *conn) {
	if c.place != nil {
		s.waiting.Remove(c.place)
		c.place = nil
	}
	if !c.gone {
		c.gone = true
		s.open--
		s.changed.Broadcast()
	}
}

// shut lets every reserve return.
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
	if c.place != nil {
		s.waiting.Remove(c.place)
		c.place = nil
	}
	c.served = c.served || state == http.StateIdle
	if (state == http.StateNew || state == http.StateIdle) && !c.gone {
		c.place = s.waiting.PushBack(c)
		s.changed.Broadcast()
	}
}

// Close closes the connection and gives its place back.
func (c *conn) Close() error {
	c.all.mu.Lock()
	c.all.forget(c)
	c.all.mu.Unlock()
	return c.Conn.Close()
}
