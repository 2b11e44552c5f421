package load

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
)

// conn is a keep-alive connection that sends prepared bytes, because the client of net/http would use as much of the shared
// processors as the servers.
type conn struct {
	net.Conn
	request  func() []byte
	response *bufio.Reader
}

func newConn(c net.Conn, addr string, o Options) *conn {
	head := o.Target + " HTTP/1.1\r\nHost: " + addr + "\r\nUser-Agent: bench\r\n"
	if o.Key != "" {
		head += "Authorization: Bearer " + o.Key + "\r\n"
	}
	if o.Encoding != "" {
		head += "Accept-Encoding: " + o.Encoding + "\r\n"
	}
	get := []byte("GET " + head + "\r\n")
	request := func() []byte { return get }
	if o.Body != nil {
		request = func() []byte {
			body := o.Body()
			return fmt.Appendf(nil, "POST %sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body)
		}
	}
	return &conn{c, request, bufio.NewReaderSize(c, 64<<10)}
}

// roundTrip sends a request and reads the response. It returns the size of the body.
func (c *conn) roundTrip(request []byte) (size int64, err error) {
	if _, err := c.Write(request); err != nil {
		return 0, err
	}
	resp, err := http.ReadResponse(c.response, nil)
	if err != nil {
		return 0, fmt.Errorf("read header: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, err := io.ReadAll(io.LimitReader(resp.Body, 1000))
		return 0, errors.Join(fmt.Errorf("response is %s: %s", resp.Status, body), err)
	}
	return io.Copy(io.Discard, resp.Body)
}
