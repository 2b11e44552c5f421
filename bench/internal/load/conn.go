package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// conn is a keep-alive connection with a minimal HTTP client, because the client of net/http would use as much of the shared
// processors as the servers.
type conn struct {
	net.Conn
	body    func() []byte // nil: requests have none
	head    string        // of a request with a body, up to its length
	request []byte
	answer  *bufio.Reader
}

func newConn(c net.Conn, addr string, o Options) *conn {
	method := "GET "
	if o.Body != nil {
		method = "POST "
	}
	head := method + o.Target + " HTTP/1.1\r\nHost: " + addr + "\r\nUser-Agent: bench\r\n"
	if o.Key != "" {
		head += "Authorization: Bearer " + o.Key + "\r\n"
	}
	if o.Body != nil {
		head += "Content-Type: application/json\r\nContent-Length: "
	}
	return &conn{c, o.Body, head, []byte(head + "\r\n"), bufio.NewReaderSize(c, 64<<10)}
}

// prepare builds the next request if it has a body.
func (c *conn) prepare() {
	if c.body == nil {
		return
	}
	body := c.body()
	c.request = strconv.AppendInt(append(c.request[:0], c.head...), int64(len(body)), 10)
	c.request = append(append(c.request, "\r\n\r\n"...), body...)
}

// roundTrip sends the request and reads the answer. It returns the size of the body.
func (c *conn) roundTrip() (size int64, err error) {
	if _, err := c.Write(c.request); err != nil {
		return 0, err
	}
	status, err := c.answer.ReadSlice('\n')
	if err != nil {
		return 0, fmt.Errorf("reading the answer: %w", err)
	}
	ok := bytes.HasPrefix(status, []byte("HTTP/1.1 200 "))
	first := strings.TrimSpace(string(status[:min(len(status), 80)]))
	if size, err = c.readHeader(); err != nil {
		return 0, err
	}
	if !ok {
		body, err := io.ReadAll(io.LimitReader(c.answer, min(size, 1000)))
		return 0, errors.Join(fmt.Errorf("the answer is %s: %s", first, body), err)
	}
	_, err = c.answer.Discard(int(size))
	return size, err
}

// readHeader reads up to the body and returns its Content-Length, which is required.
func (c *conn) readHeader() (length int64, err error) {
	const name = "content-length:"
	length = -1
	for {
		line, err := c.answer.ReadSlice('\n')
		if err != nil {
			return 0, fmt.Errorf("reading the header: %w", err)
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			break
		}
		if len(line) > len(name) && bytes.EqualFold(line[:len(name)], []byte(name)) {
			value := string(bytes.TrimSpace(line[len(name):]))
			if length, err = strconv.ParseInt(value, 10, 64); err != nil {
				return 0, fmt.Errorf("the answer has Content-Length %q", value)
			}
		}
	}
	if length < 0 {
		return 0, errors.New("the answer has no Content-Length")
	}
	return length, nil
}
