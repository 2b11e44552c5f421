package httpapi_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"herbarium/internal/httpapi"
)

// client sends requests over one TCP connection.
type client struct {
	net.Conn
	in *bufio.Reader
}

func dial(t *testing.T, addr string) *client {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &client{c, bufio.NewReader(c)}
}

// send writes raw bytes and reads one response.
func (c *client) send(text string) (checkedResponse, error) {
	if _, err := io.WriteString(c, text); err != nil {
		return checkedResponse{}, err
	}
	method, _, _ := strings.Cut(text, " ")
	res, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		return checkedResponse{}, err
	}
	if res.Close {
		res.Header.Set("Connection", "close") // ReadResponse removes it
	}
	body, err := io.ReadAll(res.Body)
	return checkedResponse{res.StatusCode, res.Header, string(body)}, err
}

// closed reports whether the server closes the connection without sending anything else.
func (c *client) closed() bool {
	_, err := c.in.ReadByte()
	return err != nil
}

// TestLongRedirect checks responses whose headers exceed the buffers of net/http.
func TestLongRedirect(t *testing.T) {
	t.Parallel()
	for _, length := range []int{100, 4_000, 4_200, 20_000} {
		location := "/" + strings.Repeat("a", length)
		s := newService(t, func(o *httpapi.Options) {
			o.Pages = pagesOf(func(w http.ResponseWriter, _ *http.Request) error {
				w.Header().Set("Location", location)
				w.WriteHeader(http.StatusFound)
				return nil
			})
		})
		c := dial(t, s.listen(t))
		for range 2 { // the connection remains usable
			a, err := c.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			if err != nil {
				t.Fatalf("a redirect of %d letters: %v", length, err)
			}
			if a.status != http.StatusFound || a.header.Get("Location") != location {
				t.Errorf("a redirect of %d letters: status %d", length, a.status)
			}
		}
	}
}

// TestContentLengthAndTransferEncoding checks RFC 9112, section 6.1: the connection is closed after a request with
// both.
func TestContentLengthAndTransferEncoding(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	addr := s.listen(t)
	const chunked = "Transfer-Encoding: chunked\r\n"
	for _, tt := range []struct{ name, text string }{
		{"GET", "GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n" + chunked + "\r\n0\r\n\r\n"},
		{"POST", "POST /plants HTTP/1.1\r\nHost: a\r\n" + chunked + "Content-Length: 5\r\n\r\n0\r\n\r\n"},
		{"no such path", "POST /x HTTP/1.1\r\nHost: a\r\n" + chunked + "Content-Length: 5\r\n\r\n0\r\n\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, addr)
			a, err := c.send(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if a.header.Get("Connection") != "close" || !c.closed() {
				t.Errorf("status %d, Connection: %q; want a closed connection", a.status, a.header.Get("Connection"))
			}
		})
	}
	c := dial(t, addr)
	for range 2 {
		if a, err := c.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil || a.status != 200 {
			t.Errorf("without Transfer-Encoding: %d, %v", a.status, err)
		}
	}
}

// TestClient_disconnects checks that a response that cannot be delivered ends only its own connection.
func TestClient_disconnects(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	addr := s.listen(t)
	begun, gone := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s.library.listing = func() {
		once.Do(func() {
			close(begun)
			<-gone
		})
	}
	c := dial(t, addr)
	if _, err := io.WriteString(c, "GET /api/v1/garden/catalog/data?per_page=100 HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-begun
	c.Close()
	close(gone)
	if a, err := dial(t, addr).send("GET /api/v1/garden/catalog/data HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil || a.status != 200 {
		t.Errorf("the next client gets %d, %v", a.status, err)
	}
}
