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
	"syscall"
	"time"
)

// ListenerOptions of a Listener.
type ListenerOptions struct {
	MaxConnections int          // open at once; 0: no limit
	Log            *slog.Logger // nil disables logging
}

// Listener wraps the listener of a server. It belongs above TLS.
//
// net/http rejects a request that is not HTTP, or whose header is too large, with a line of plain text before any handler
// runs. The connections of this listener replace that line by an Error body. At MaxConnections, and when the process has no
// file descriptor left, the connection that has waited longest for a request is closed to make room for a new one.
func Listener(l net.Listener, opts ListenerOptions) net.Listener {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return &listener{l, opts.Log, newConnections(opts.MaxConnections)}
}

type listener struct {
	net.Listener
	log *slog.Logger
	all *connections
}

// sendBuffer bounds what the kernel holds for a client that reads slowly, which is several MiB by default. It also bounds how
// much such a client must read before a blocked write goes on: the kernel waits until a third of the buffer is free.
const sendBuffer = 256 << 10

// Accept waits for the next connection.
func (l *listener) Accept() (net.Conn, error) {
	if !l.all.reserve() {
		l.all.release()
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	for errors.Is(err, syscall.EMFILE) && l.all.evictOne() {
		c, err = l.Listener.Accept()
	}
	if err != nil {
		l.all.release()
		return nil, err // net/http tries again after a temporary error, such as EMFILE
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // the default is slower to notice progress, not wrong
	}
	return &conn{Conn: c, log: l.log, accepted: time.Now(), all: l.all}, nil
}

// Close closes the listener. Connections stay open.
func (l *listener) Close() error {
	l.all.shut()
	return l.Listener.Close()
}

type conn struct {
	net.Conn
	log *slog.Logger

	accepted time.Time

	all    *connections  // whose mutex guards what follows
	place  *list.Element // among those that wait for a request; nil: it has one
	served bool          // it has had a request
	gone   bool          // its place was given back
}

// CloseWrite lets net/http close its side first, so that the client can read the response.
func (c *conn) CloseWrite() error {
	if cw, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return cw.CloseWrite()
	}
	return nil
}

// Write passes on what is written and replaces a rejection of net/http.
func (c *conn) Write(p []byte) (int, error) {
	status, reason, ok := ownRejection(p)
	if !ok {
		return c.Conn.Write(p)
	}
	id := rand.Text()
	body := mustJSON(errorBody{Error: int32(status), Message: rejectionMessage(status, reason)})
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nCache-Control: no-store\r\n"+
		"Access-Control-Allow-Origin: *\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: %s\r\nConnection: close\r\n\r\n",
		status, http.StatusText(status), len(body), id)
	c.log.LogAttrs(context.Background(), slog.LevelInfo, "refused",
		slog.Int("status", status), slog.Int("bytes", len(body)), slog.String("request_id", id))
	if _, err := c.Conn.Write(append([]byte(head), body...)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ownRejection recognizes a rejection of net/http. It is written at once: a status line followed by exactly two headers,
// without a Date, which every response of a handler has. The reason is the rest of the status line. An unknown expectation
// is rejected with a status that no handler uses and an empty body.
func ownRejection(p []byte) (status int, reason string, ok bool) {
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

// rejectionMessage says what was wrong and what would be right.
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
		reason = "it cannot be read"
	}
	return "malformed request: " + reason + "; send HTTP/1.1"
}
