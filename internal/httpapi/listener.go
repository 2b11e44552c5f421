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

// ListenerOptions configures a Listener.
type ListenerOptions struct {
	MaxConnections int          // maximum number of open connections; 0 means unlimited
	Log            *slog.Logger // nil disables logging
}

// Listener wraps the listener of a server. With TLS, wrap the TLS listener.
//
// net/http rejects malformed requests and oversized headers with a line of plain text before any handler runs.
// Connections of this listener replace that line with an Error body. At MaxConnections, and when the process is out of
// file descriptors, the connection that has been idle longest is closed to make room for a new one.
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

// sendBuffer limits the kernel memory of a client that reads slowly, which is several MiB by default. It also limits
// how much such a client must read before a blocked write resumes: the kernel waits until a third of the buffer is
// free.
const sendBuffer = 256 << 10

// Accept implements net.Listener.
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
		return nil, err // net/http retries after a temporary error, such as EMFILE
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(sendBuffer) // without it, progress is detected later
	}
	accepted := &conn{Conn: c, log: l.log, accepted: time.Now(), all: l.all}
	l.all.add(accepted)
	return accepted, nil
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

	all    *connections  // its mutex guards the fields below
	place  *list.Element // in all.conns; nil after the slot has been released
	busy   bool          // has a request
	served bool          // has had a request
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
		reason = "cannot be parsed"
	}
	return "malformed request: " + reason + "; send HTTP/1.1"
}

// MaxHeaderBytes is the maximum size of a request before its body. It leaves room for a query over the limit, which is
// then rejected with a message.
const MaxHeaderBytes = 64 << 10

// NewServer returns a server for a handler, with limits on everything that a client could delay. Wrap its listener with
// Listener, so that requests rejected by net/http get an Error body, too. A nil log disables logging.
func NewServer(handler http.Handler, log *slog.Logger) *http.Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &http.Server{
		Handler:                      handler,
		DisableGeneralOptionsHandler: true, // the handler responds to OPTIONS *
		ReadHeaderTimeout:            10 * time.Second,
		ReadTimeout:                  30 * time.Second,
		WriteTimeout:                 60 * time.Second,
		IdleTimeout:                  2 * time.Minute,
		MaxHeaderBytes:               MaxHeaderBytes,
		ConnState:                    trackConnection,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
