package httpapi

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
)

// ahead lets an answer leave in one system call. net/http gathers an answer in a buffer of 4 KiB and empties it when it
// is full, so that a page of records takes two writes, of which each wakes the client. A handler that has the whole
// answer announces it to the connection. With the first bytes that net/http then writes, which begin with its own lines
// of the head, the connection sends the whole; what net/http writes of the body later has been sent.
//
// A connection is written to by one goroutine at a time, the one that serves it.
type ahead struct {
	waiting bool     // an answer is announced and not yet sent
	headers []header // lines to add to its head
	body    []byte
	sent    int // bytes that net/http is still going to write although they have been sent

	head    []byte // room for a head, kept from answer to answer
	pieces  [2][]byte
	buffers net.Buffers
}

// announce says what net/http is about to be given. The body and the headers are not used after the write that sends
// them.
func (a *ahead) announce(headers []header, body []byte) {
	a.waiting, a.headers, a.body = true, headers, body
}

var errHead = errors.New("httpapi: what was written does not begin with the head of the announced answer")

// writeAhead takes what net/http writes of an answer that was announced.
func (a *ahead) writeAhead(to net.Conn, p []byte) (int, error) {
	if !a.waiting {
		n := min(a.sent, len(p))
		a.sent -= n
		if n == len(p) {
			return n, nil
		}
		m, err := to.Write(p[n:])
		return n + m, err
	}
	headers, body := a.headers, a.body
	a.waiting, a.headers, a.body = false, nil, nil // the body goes back to where it came from
	end := bytes.Index(p, []byte("\r\n\r\n"))
	begun := len(p) - end - len("\r\n\r\n") // bytes of the body that are in p
	if !bytes.HasPrefix(p, []byte("HTTP/1.")) || end < 0 || begun > len(body) {
		return 0, errHead
	}
	a.head = append(a.head[:0], p[:end+len("\r\n")]...)
	for _, h := range headers {
		a.head = append(a.head, h.name...)
		a.head = append(a.head, ": "...)
		a.head = append(a.head, oneLine(h.value)...)
		a.head = append(a.head, "\r\n"...)
	}
	a.head = append(a.head, "\r\n"...)
	a.pieces = [2][]byte{a.head, body}
	a.buffers = a.pieces[:]
	_, err := a.buffers.WriteTo(to)
	a.pieces = [2][]byte{}
	if err != nil {
		return 0, err
	}
	a.sent = len(body) - begun
	return len(p), nil
}

// oneLine returns the value of a header without anything that would end its line, as net/http does.
func oneLine(value string) string {
	if strings.IndexByte(value, '\n') < 0 && strings.IndexByte(value, '\r') < 0 {
		return value
	}
	return strings.NewReplacer("\n", " ", "\r", " ").Replace(value)
}

type connKey struct{}

// withConn lets handlers find the connection that a request came on.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// connOf returns the connection of a request; nil if it came on another kind.
func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}
