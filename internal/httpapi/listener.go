package httpapi

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Listener wraps the listener of a server. A request that is not HTTP, or too much of it, never reaches a handler:
// net/http writes a line of plain text and hangs up. The connections of this listener know that line and send an Error
// body in its place. It belongs above TLS, where there is any. A nil log is no log.
func Listener(l net.Listener, log *slog.Logger) net.Listener {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &listener{l, log}
}

type listener struct {
	net.Listener
	log *slog.Logger
}

// Accept waits for the next connection.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{reads: reads{Conn: c, begun: time.Now()}, log: l.log}, nil
}

type conn struct {
	reads
	log     *slog.Logger
	writeBy time.Time // the deadline that is set for writes
	lifted  bool      // and is to be lifted before the next one
	ahead
}

// SetWriteDeadline sets the deadline for writes. net/http sets one with every request and lifts it after it, and each of
// that moves a timer, which costs as much as finding the records. So a deadline is lifted only when something is written
// without one, and not moved on by less than a second: a minute less a second is as good a limit.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.lifted = t.IsZero() && !c.writeBy.IsZero()
	if step := t.Sub(c.writeBy); c.lifted || 0 <= step && step < time.Second {
		return nil
	}
	c.writeBy = t
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline sets the deadline for reads and writes.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// CloseWrite lets net/http hang up gently, so that the client can read why.
func (c *conn) CloseWrite() error {
	if cw, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return cw.CloseWrite()
	}
	return nil
}

// Write passes on what is written, except for a refusal of net/http's own.
func (c *conn) Write(p []byte) (int, error) {
	if c.lifted {
		c.lifted, c.writeBy = false, time.Time{}
		if err := c.Conn.SetWriteDeadline(c.writeBy); err != nil {
			return 0, err
		}
	}
	if c.waiting || c.sent > 0 {
		return c.writeAhead(c.Conn, p)
	}
	status, reason, ok := ownRefusal(p)
	if !ok {
		return c.Conn.Write(p)
	}
	id := rand.Text()
	body := mustJSON(errorBody{Error: int32(status), Message: refusalMessage(status, reason)})
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

// ownRefusal recognises what net/http writes in one piece when it refuses a request: a status line, followed by two
// headers alone, which no answer of a handler has, for those are dated. The reason is what the status line says more.
// An expectation that it does not know it refuses with a status that we never use and no body at all.
func ownRefusal(p []byte) (status int, reason string, ok bool) {
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

// refusalMessage says what was wrong and what would be right.
func refusalMessage(status int, reason string) string {
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
