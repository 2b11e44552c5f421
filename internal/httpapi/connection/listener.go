package connection

import (
	"container/list"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// MaxHeaderBytes is the maximum size of a request before its body. It leaves room for a query over
// the limit, which is then rejected with a message.
const MaxHeaderBytes = 64 << 10

// NewServer returns a server for a handler, with limits on everything that a client could delay.
// Wrap its listener with Listener. Requests that net/http cannot parse do not reach the handler;
// they are rejected with a line of plain text.
func NewServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:                      handler,
		DisableGeneralOptionsHandler: true,             // the handler responds to OPTIONS *
		ReadTimeout:                  10 * time.Second, // of the headers; body.Read sets that of a body
		WriteTimeout:                 60 * time.Second,
		IdleTimeout:                  2 * time.Minute,
		MaxHeaderBytes:               MaxHeaderBytes,
		ConnState:                    trackConnection,
		ConnContext:                  withConn,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// Listener wraps the listener of a server. With TLS, wrap the TLS listener.
//
// With maxConnections open, and when the process is out of file descriptors, it evicts a connection
// to make room for a new one: the one that has been idle longest, or else the one whose client has
// neither read nor sent anything for longest while the server waited for it. A limit of 0 means
// unlimited.
func Listener(l net.Listener, maxConnections int) net.Listener {
	wrapped := &listener{Listener: l, limit: maxConnections, start: time.Now()}
	wrapped.changed.L = &wrapped.mu
	return wrapped
}

type listener struct {
	net.Listener
	limit int       // of connections; 0 means unlimited
	start time.Time // of the clock of conn.waiting
	held  sync.Pool // of *heldWrite

	mu      sync.Mutex
	closed  bool
	search  time.Duration // time of the next search for a connection that holds much
	open    int           // connections, and the one that Accept waits for
	conns   list.List     // of *conn, in the order in which they were accepted or last became idle
	changed sync.Cond     // signaled when a connection is closed or becomes idle
}

const (
	// sendBuffer limits the kernel memory of a client that reads slowly, which is several MiB by
	// default. It also limits how much such a client must read before a blocked write resumes: the
	// kernel waits until a third of the buffer is free.
	sendBuffer = 256 << 10
	// newGrace is how long a new connection is protected from eviction, because its client may be
	// about to send a request.
	newGrace = 500 * time.Millisecond
	// stallGrace is how long a client must have made no progress before its connection is evicted
	// in the middle of a request.
	stallGrace = time.Second
	// searchPause is how long no connection is evicted for what it holds after none was found.
	searchPause = 50 * time.Millisecond
)

// Accept implements net.Listener. At the limit it evicts a connection, and blocks while there is
// none to evict.
func (l *listener) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.limit > 0 && l.open >= l.limit && !l.closed {
		if !l.evict() {
			wake := time.AfterFunc(newGrace, l.changed.Broadcast) // another connection may become evictable
			l.changed.Wait()
			wake.Stop()
		}
	}
	if l.closed {
		return nil, net.ErrClosed
	}
	l.open++
	nc, err := l.acceptUnlocked()
	for errors.Is(err, syscall.EMFILE) && l.evict() {
		nc, err = l.acceptUnlocked()
	}
	if err != nil {
		l.open--
		return nil, err // net/http retries after a temporary error, such as EMFILE
	}
	if tcp, ok := nc.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // without it, progress is detected later
	}
	c := &Conn{Conn: nc, listener: l, grace: time.Now().Add(newGrace)}
	c.place = l.conns.PushBack(c)
	return c, nil
}

// acceptUnlocked waits for a connection with the lock released.
func (l *listener) acceptUnlocked() (net.Conn, error) {
	l.mu.Unlock()
	defer l.mu.Lock()
	return l.Listener.Accept()
}

// evict closes a connection and reports whether there is one to close. The server detects the
// closed connection and ends its goroutine. The lock must be held.
func (l *listener) evict() bool {
	for e := l.conns.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*Conn); !c.busy && !time.Now().Before(c.grace) {
			_ = c.Conn.Close()
			c.remove()
			return true
		}
	}
	return l.evictStalled(func(*Conn) bool { return true })
}

// evictHolder closes the connection that has been stalled longest among those for which the server
// holds a large part of the budget, if there is one. If there is none, it does not search again for
// some time: that asks the kernel about every connection.
func (l *listener) evictHolder() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.now(); now >= l.search && !l.evictStalled(func(c *Conn) bool { return c.holding.Load() > 0 }) {
		l.search = now + searchPause
	}
}

// evictStalled closes the connection that has been stalled longest among some, and reports whether
// there is one. The lock must be held.
func (l *listener) evictStalled(among func(*Conn) bool) bool {
	c := l.longestStalled(among)
	if c == nil {
		return false
	}
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // the kernel discards what the client has not read
	}
	_ = c.Conn.Close()
	c.remove()
	return true
}

// longestStalled returns the connection among some whose client has made no progress for longest,
// at least stallGrace, or nil if there is none. The lock must be held.
func (l *listener) longestStalled(among func(*Conn) bool) (longest *Conn) {
	now := l.now()
	oldest := now - stallGrace
	for e := l.conns.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*Conn); among(c) && c.stalled(now) && c.progress <= oldest {
			longest, oldest = c, c.progress
		}
	}
	return longest
}

// now returns the time since the listener was created.
func (l *listener) now() time.Duration { return time.Since(l.start) }

// isClosed reports whether the server stops.
func (l *listener) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// hold returns a write of a copy of some bytes.
func (l *listener) hold(p []byte) *heldWrite {
	h, ok := l.held.Get().(*heldWrite)
	if !ok {
		h = &heldWrite{}
	}
	h.bytes = append(h.bytes[:0], p...)
	return h
}

// Close closes the listener. Connections stay open.
func (l *listener) Close() error {
	l.mu.Lock()
	l.closed = true
	l.changed.Broadcast()
	l.mu.Unlock()
	return l.Listener.Close()
}
