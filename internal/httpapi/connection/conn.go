package connection

import (
	"container/list"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// Conn is a connection of a listener.
type Conn struct {
	net.Conn
	listener *listener
	// waiting is when the server began to wait for the client to read or to send, by the clock of
	// the listener; 0 if it does not wait.
	waiting atomic.Int64
	// holding is the number of buffers of its request that hold a large part of the budget.
	holding atomic.Int64
	// unread reports that the body of a request with Expect: 100-continue or Connection: close was
	// not read to its end.
	// net/http closes the connection of such a request without CloseWrite.
	unread atomic.Bool
	// joins has the next write wait in held for the one after it. Only the goroutine that serves
	// the connection writes.
	joins bool
	held  *heldWrite

	// The mutex of the listener guards the fields below.
	place    *list.Element // in listener.conns; nil after the connection was closed
	busy     bool          // has a request
	grace    time.Time     // an idle connection is not evicted before
	checked  bool          // stalled was called during a request
	acked    uint64        // bytes that the client had acknowledged when stalled was called last
	progress time.Duration // last known progress of the client, by the clock of the listener
}

// trackConnection is the ConnState hook of a server whose listener is a Listener.
func trackConnection(nc net.Conn, state http.ConnState) {
	c, ok := nc.(*Conn)
	if !ok {
		return
	}
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	c.busy, c.checked = state == http.StateActive, false
	if state == http.StateIdle && c.place != nil {
		c.grace = time.Time{} // of new connections only
		l.conns.MoveToBack(c.place)
		l.changed.Broadcast()
	}
}

// Close closes the connection.
func (c *Conn) Close() error {
	if c.unread.Load() {
		_ = c.CloseWrite() // fails if the client has closed the connection
	}
	c.listener.mu.Lock()
	c.remove()
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// remove stops counting a closed connection, once. The lock must be held.
func (c *Conn) remove() {
	if l := c.listener; c.place != nil {
		l.conns.Remove(c.place)
		c.place = nil
		l.open--
		l.changed.Broadcast()
	}
}

// CloseWrite closes the side of the server. net/http calls it after the response to a request
// whose body was not read to its end, such as one that is too large, and then closes the
// connection. What the client still sends is discarded first: a connection that is closed with
// unread bytes is reset, and a client that sends everything before it reads would lose the
// response.
func (c *Conn) CloseWrite() error {
	cw, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return nil
	}
	c.unread.Store(false)
	err := cw.CloseWrite()
	c.discard()
	return err
}

// Limits of what a connection discards after a response.
const (
	discardBytes = 256 << 20
	discardTime  = 30 * time.Second
	discardIdle  = 5 * time.Second        // without a byte from the client
	discardStep  = 250 * time.Millisecond // between two checks whether the server stops
)

// discard reads what the client sends until it closes the connection, within limits, or until the
// server stops.
func (c *Conn) discard() {
	began, last, left := c.listener.now(), c.listener.now(), int64(discardBytes)
	buf := make([]byte, 32<<10)
	defer c.waiting.Store(0)
	for left > 0 && !c.listener.isClosed() {
		now := c.listener.now()
		if now-began > discardTime || now-last > discardIdle {
			return
		}
		c.waiting.Store(int64(now)) // a connection that waits may be evicted
		if c.Conn.SetReadDeadline(time.Now().Add(discardStep)) != nil {
			return
		}
		n, err := c.Conn.Read(buf)
		left -= int64(n)
		if n > 0 {
			last = c.listener.now()
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
	}
}

// Write implements net.Conn. While it blocks, the server waits for the client to read.
func (c *Conn) Write(p []byte) (int, error) {
	if c.joins {
		c.joins = false
		c.held = c.listener.hold(p)
		return len(p), nil
	}
	before := c.waiting.Swap(int64(c.listener.now())) // reading a body may send 100 Continue
	defer c.waiting.Store(before)
	held := c.held
	if held == nil {
		return c.Conn.Write(p)
	}
	c.held = nil
	n, err := held.writeWith(p, c.Conn)
	c.listener.held.Put(held)
	return n, err
}

// heldWrite is a write that waits for the one after it.
type heldWrite struct {
	bytes []byte
	parts [2][]byte
	both  net.Buffers // of parts
}

// writeWith writes the held bytes and p at once. It returns how many bytes of p were written.
func (h *heldWrite) writeWith(p []byte, to io.Writer) (int, error) {
	h.parts = [2][]byte{h.bytes, p}
	h.both = h.parts[:]
	n, err := h.both.WriteTo(to)
	h.parts = [2][]byte{}
	return max(0, int(n)-len(h.bytes)), err
}

// writeBuffer is the size of the buffer of net/http between a response and its connection.
const writeBuffer = 4 << 10

// WriteBody calls write, which writes a response with a body of a size. net/http writes the header
// together with the start of a large body, and then the rest: WriteBody joins both, because half
// of the time of a short listing is spent in the kernel.
func WriteBody(ctx context.Context, size int, write func() error) error {
	c := Of(ctx)
	if c == nil || size < 2*writeBuffer {
		return write()
	}
	c.joins = true
	err := write()
	c.joins = false
	if c.held != nil { // net/http has written only once
		_, flushed := c.Write(nil)
		err = errors.Join(err, flushed)
	}
	return err
}

// stalled reports whether the server waits for the client, and updates the time of its last
// progress. Progress between two calls counts as of the second one, so a connection is stalled for
// as long as its client is known to have done nothing. The lock of the listener must be held.
func (c *Conn) stalled(now time.Duration) bool {
	waiting := time.Duration(c.waiting.Load())
	if waiting == 0 {
		return false
	}
	acked, ok := bytesAcknowledged(c.Conn)
	switch {
	case ok && (!c.checked || acked != c.acked):
		c.checked, c.acked, c.progress = true, acked, now
	case waiting > c.progress || !ok:
		c.progress = waiting
	}
	return true
}

// Hold and unhold count what the server holds for the request of a connection: a connection with
// a hold may be evicted for others while its client stalls.
func (c *Conn) Hold()   { c.holding.Add(1) }
func (c *Conn) Unhold() { c.holding.Add(-1) }

// EvictHolder closes the connection that has been stalled longest among those of the listener for
// which the server holds a large part of the budget, if there is one.
func (c *Conn) EvictHolder() { c.listener.evictHolder() }

type connKey struct{}

// withConn is the ConnContext hook of a server whose listener is a Listener.
func withConn(ctx context.Context, nc net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, nc)
}

// Of returns the connection of the request with a context, or nil if it is not one of a
// Listener.
func Of(ctx context.Context) *Conn {
	c, _ := ctx.Value(connKey{}).(*Conn)
	return c
}

// ExpectBody records that the body of a request is unread, if net/http would not wait for its
// client.
func ExpectBody(r *http.Request) {
	if c := Of(r.Context()); c != nil {
		c.unread.Store(r.ContentLength != 0 && (r.Close || r.Header.Get("Expect") != ""))
	}
}

// Body returns the body of a request such that its connection is waiting for the client
// while the body is read.
func Body(r *http.Request) io.Reader {
	if c := Of(r.Context()); c != nil {
		return &bodyReader{r.Body, c}
	}
	return r.Body
}

// bodyReader is the body of a request.
type bodyReader struct {
	body io.Reader
	conn *Conn
}

func (b *bodyReader) Read(p []byte) (int, error) {
	b.conn.waiting.Store(int64(b.conn.listener.now()))
	defer b.conn.waiting.Store(0)
	n, err := b.body.Read(p)
	if err == io.EOF {
		b.conn.unread.Store(false)
	}
	return n, err
}
