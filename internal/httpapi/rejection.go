package httpapi

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
)

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
	c.listener.log.LogAttrs(context.Background(), slog.LevelInfo, "refused",
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
