package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
)

// conn is a keep-alive connection with a minimal HTTP client, because the client of net/http would
// use as much of the shared processors as the servers.
type conn struct {
	net.Conn
	body    func() []byte // nil: requests have none
	head    string        // of a request with a body, up to its length
	request []byte
	answer  *bufio.Reader
}

func newConn(c net.Conn, addr string, o Options) *conn {
	method, length := "GET ", ""
	if o.Body != nil {
		method, length = "POST ", "Content-Type: application/json\r\nContent-Length: "
	}
	head := method + o.Target + " HTTP/1.1\r\nHost: " + addr + "\r\nUser-Agent: bench\r\n"
	if o.Key != "" {
		head += "Authorization: Bearer " + o.Key + "\r\n"
	}
	if o.Encoding != "" {
		head += "Accept-Encoding: " + o.Encoding + "\r\n"
	}
	head += length
	return &conn{c, o.Body, head, []byte(head + "\r\n"), bufio.NewReaderSize(c, 64<<10)}
}

// prepare builds the next request if it has a body.
func (c *conn) prepare() {
	if c.body != nil {
		body := c.body()
		c.request = fmt.Appendf(c.request[:0], "%s%d\r\n\r\n%s", c.head, len(body), body)
	}
}

// roundTrip sends the request and reads the response. It returns the size of the body.
func (c *conn) roundTrip() (size int64, err error) {
	if _, err := c.Write(c.request); err != nil {
		return 0, err
	}
	status := "" // empty: 200
	size = -1
	for first := true; ; first = false {
		line, err := c.answer.ReadSlice('\n')
		if err != nil {
			return 0, fmt.Errorf("reading the header: %w", err)
		}
		line = bytes.TrimRight(line, "\r\n")
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")):
			status = string(line[:min(len(line), 80)])
		case bytes.EqualFold(name, []byte("Content-Length")):
			size, err = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("invalid Content-Length: %w", err)
			}
		}
		if len(line) == 0 {
			break
		}
	}
	switch {
	case size < 0:
		return 0, errors.New("the response has no Content-Length")
	case status != "":
		body, err := io.ReadAll(io.LimitReader(c.answer, min(size, 1000)))
		return 0, errors.Join(fmt.Errorf("the response is %s: %s", status, body), err)
	}
	_, err = c.answer.Discard(int(size))
	return size, err
}
