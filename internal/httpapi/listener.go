package httpapi

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// Listener wraps the listener of a server. net/http rejects a request that is not HTTP, or whose header is too large,
// with a line of plain text before any handler runs. The connections of this listener replace that line by an Error body.
// It belongs above TLS. A nil log disables logging.
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
	return &conn{Conn: c, log: l.log}, nil
}

type conn struct {
	net.Conn
	log *slog.Logger
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
