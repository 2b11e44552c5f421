package httpapi

import (
	"bytes"
	"container/list"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// MaxHeaderBytes is the maximum size of a request before its body. It leaves room for a query over the limit, which is
// then rejected with a message.
const MaxHeaderBytes = 64 << 10

// NewServer returns a server for a handler, with limits on everything that a client could delay. Wrap its listener with
// Listener, so that requests rejected by net/http get an Error body, too.
func NewServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:                      handler,
		DisableGeneralOptionsHandler: true,             // the handler responds to OPTIONS *
		ReadTimeout:                  10 * time.Second, // of the headers; readBody sets that of a body
		WriteTimeout:                 60 * time.Second,
		IdleTimeout:                  2 * time.Minute,
		MaxHeaderBytes:               MaxHeaderBytes,
		ConnState:                    trackConnection,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// Listener wraps the listener of a server. With TLS, wrap the TLS listener.
//
// net/http rejects malformed requests and oversized headers with a line of plain text before any handler runs.
// Connections of this listener replace that line with an Error body. With maxConnections of them open, and when the
// process is out of file descriptors, the connection that has been idle longest is closed to make room for a new one.
// A limit of 0 means unlimited.
func Listener(l net.Listener, maxConnections int, log *slog.Logger) net.Listener {
	wrapped := &listener{Listener: l, log: log, limit: maxConnections}
	wrapped.changed.L = &wrapped.mu
	return wrapped
}

type listener struct {
	net.Listener
	log   *slog.Logger
	limit int // of connections; 0 means unlimited

	mu      sync.Mutex
	closed  bool
	open    int       // connections, and the one that Accept waits for
	conns   list.List // of *conn, in the order in which they were accepted or last became idle
	changed sync.Cond // signaled when a connection is closed or becomes idle
}

type conn struct {
	net.Conn
	listener *listener     // its mutex guards the fields below
	place    *list.Element // in listener.conns; nil after the connection was closed
	busy     bool          // has a request
	grace    time.Time     // the connection is not evicted before
}

const (
	// sendBuffer limits the kernel memory of a client that reads slowly, which is several MiB by default. It also limits
	// how much such a client must read before a blocked write resumes: the kernel waits until a third of the buffer is
	// free.
	sendBuffer = 256 << 10
	// newGrace is how long a new connection is protected from eviction, because its client may be about to send a request.
	newGrace = 500 * time.Millisecond
)

// Accept implements net.Listener. At the limit it evicts an idle connection, and blocks while there is none.
func (l *listener) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.limit > 0 && l.open >= l.limit && !l.closed {
		if !l.evict() {
			wake := time.AfterFunc(newGrace, l.changed.Broadcast) // a new connection may become evictable
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
	c := &conn{Conn: nc, listener: l, grace: time.Now().Add(newGrace)}
	c.place = l.conns.PushBack(c)
	return c, nil
}

// acceptUnlocked waits for a connection with the lock released.
func (l *listener) acceptUnlocked() (net.Conn, error) {
	l.mu.Unlock()
	defer l.mu.Lock()
	return l.Listener.Accept()
}

// evict closes the connection that has been idle longest, and reports whether there is one. The server detects the closed
// connection and ends its goroutine. The lock must be held.
func (l *listener) evict() bool {
	for e := l.conns.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*conn); !c.busy && !time.Now().Before(c.grace) {
			_ = c.Conn.Close()
			c.remove()
			return true
		}
	}
	return false
}

// Close closes the listener. Connections stay open.
func (l *listener) Close() error {
	l.mu.Lock()
	l.closed = true
	l.changed.Broadcast()
	l.mu.Unlock()
	return l.Listener.Close()
}

// trackConnection is the ConnState hook of a server whose listener is a Listener.
func trackConnection(nc net.Conn, state http.ConnState) {
	c, ok := nc.(*conn)
	if !ok {
		return
	}
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	c.busy = state == http.StateActive
	if state == http.StateIdle && c.place != nil {
		c.grace = time.Time{} // of new connections only
		l.conns.MoveToBack(c.place)
		l.changed.Broadcast()
	}
}

// Close closes the connection.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	c.remove()
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// remove stops counting a closed connection, once. The lock must be held.
func (c *conn) remove() {
	if l := c.listener; c.place != nil {
		l.conns.Remove(c.place)
		c.place = nil
		l.open--
		l.changed.Broadcast()
	}
}

// CloseWrite lets net/http close its side first, so that the client can read the response.
func (c *conn) CloseWrite() error {
	if cw, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return cw.CloseWrite()
	}
	return nil
}

// Write implements net.Conn and replaces rejections of net/http.
func (c *conn) Write(p []byte) (int, error) {
	status, reason, ok := parseRejection(p)
	if !ok {
		return c.Conn.Write(p)
	}
	id := rand.Text()
	body := errorBody(status, rejectionMessage(status, reason))
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nCache-Control: no-store\r\n"+
		"Access-Control-Allow-Origin: *\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: %s\r\nConnection: close\r\n\r\n",
		status, http.StatusText(status), len(body), id)
	c.listener.log.LogAttrs(context.Background(), slog.LevelInfo, "malformed request",
		slog.Int("status", status), slog.Int("bytes", len(body)), slog.String("request_id", id))
	if _, err := c.Conn.Write(append([]byte(head), body...)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// parseRejection recognizes a rejection written by net/http. It is written in one piece: a status line followed by
// exactly two headers and without a Date, which every response of a handler has. The reason is the rest of the status
// line. An unsupported Expect header is rejected with a status that no handler uses and an empty body.
func parseRejection(p []byte) (status int, reason string, ok bool) {
	const headers = "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	const statusStart = len("HTTP/1.1 ")
	if !bytes.HasPrefix(p, []byte("HTTP/1.")) || len(p) < statusStart+3 || p[statusStart] < '4' {
		return 0, "", false
	}
	line, rest, ok := bytes.Cut(p, []byte("\r\n"))
	if !ok {
		return 0, "", false
	}
	status, err := strconv.Atoi(string(line[statusStart : statusStart+3]))
	if err != nil {
		return 0, "", false
	}
	unexpected := status == http.StatusExpectationFailed && bytes.HasSuffix(rest, []byte("\r\nContent-Length: 0\r\n\r\n"))
	if !unexpected && !bytes.HasPrefix(rest, []byte(headers)) {
		return 0, "", false
	}
	_, reason, _ = strings.Cut(string(line), ": ")
	return status, reason, true
}

// rejectionMessage returns the message for a rejected request.
func rejectionMessage(status int, reason string) string {
	switch status {
	case http.StatusRequestHeaderFieldsTooLarge:
		return fmt.Sprintf("the request line and the headers have more than %d bytes together; send fewer", MaxHeaderBytes)
	case http.StatusNotImplemented:
		return "unsupported transfer encoding; send the body with Content-Length or as chunked"
	case http.StatusHTTPVersionNotSupported:
		return "unsupported HTTP version; send HTTP/1.1"
	case http.StatusExpectationFailed:
		return "unsupported Expect header; send 100-continue or none"
	}
	if reason == "" {
		reason = "the request line or a header cannot be parsed"
	}
	return "malformed request: " + reason + "; send a percent-encoded URL over HTTP/1.1"
}
