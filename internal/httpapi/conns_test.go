package httpapi_test

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"

	"herbarium/internal/httpapi/connection"

	"herbarium/internal/httpapi"
)

const probe = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"

// serveOn serves a service on a listener. The channel receives once for each connection that
// becomes idle.
func (s *service) serveOn(t *testing.T, l net.Listener, limit int) (idle <-chan struct{}) {
	t.Helper()
	server := connection.NewServer(s, slog.New(slog.DiscardHandler))
	track, became := server.ConnState, make(chan struct{}, 100)
	server.ConnState = func(c net.Conn, s http.ConnState) {
		track(c, s)
		if s == http.StateIdle {
			became <- struct{}{}
		}
	}
	done := make(chan error)
	go func() { done <- server.Serve(connection.Listener(l, limit)) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-done; err != http.ErrServerClosed {
			t.Error(err)
		}
	})
	return became
}

// TestIdleConnections opens more connections than allowed and leaves them idle: new clients get a
// response, and the longest idle connections are evicted.
func TestIdleConnections(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		send string // sent by a client before it is idle
	}{
		{"after a request", probe},
		{"without a request", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			idle := newService(t, nil).serveOn(t, l, 4)
			var clients []*client
			for range 9 {
				c := dial(t, l.Addr().String())
				if tt.send != "" {
					if a, err := c.send(tt.send); err != nil || a.status != 200 {
						t.Fatalf("connection %d: %d, %v", len(clients), a.status, err)
					}
					<-idle
				}
				clients = append(clients, c)
			}
			if a, err := dial(t, l.Addr().String()).send(probe); err != nil || a.status != 200 {
				t.Errorf("a new client gets %d, %v", a.status, err)
			}
			if !clients[0].closed() {
				t.Error("the longest idle connection is still open")
			}
		})
	}
}

// exhausted is a listener that fails once with EMFILE at the third connection, when the first two
// are idle.
type exhausted struct {
	net.Listener
	idle     chan struct{} // closed when they are
	accepted int
}

func (l *exhausted) Accept() (net.Conn, error) {
	l.accepted++
	if l.accepted == 3 {
		<-l.idle
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

func TestListener_outOfDescriptors(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limited := &exhausted{Listener: l, idle: make(chan struct{})}
	idle := newService(t, nil).serveOn(t, limited, 0)
	var clients []*client
	for i := range 3 {
		c := dial(t, l.Addr().String())
		if a, err := c.send(probe); err != nil || a.status != 200 {
			t.Fatalf("client %d gets %d, %v", i, a.status, err)
		}
		clients = append(clients, c)
		<-idle
		if i == 1 {
			close(limited.idle)
		}
	}
	if !clients[0].closed() {
		t.Error("the longest idle connection is still open")
	}
}

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
			o.Pages = pagesOf(func(w *httpapi.Page, _ *http.Request) error {
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

// TestContentLengthAndTransferEncoding checks RFC 9112, section 6.1: the connection is closed after
// a request with both.
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

// TestClient_disconnects checks that a response that cannot be delivered ends only its own
// connection.
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
	if _, err := io.WriteString(c,
		"GET /api/v1/garden/catalog/data?per_page=100 HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-begun
	c.Close()
	close(gone)
	if a, err := dial(t, addr).send("GET /api/v1/garden/catalog/data HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil ||
		a.status != 200 {
		t.Errorf("the next client gets %d, %v", a.status, err)
	}
}

// endless serves a body that never ends at /endless, for clients that do not read, and reads bodies
// at other paths.
func endless(t *testing.T, limit int) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	service := newService(t, nil)
	server := connection.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chunk := make([]byte, 64<<10)
		for r.URL.Path == "/endless" {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
		service.ServeHTTP(w, r)
	}), slog.New(slog.DiscardHandler))
	server.WriteTimeout = 0
	go server.Serve(connection.Listener(l, limit))
	t.Cleanup(func() { server.Close() })
	return l.Addr().String()
}

// TestStalledConnections opens as many connections as allowed, and makes the server wait for all of
// them but one. New clients get a response, and the client that reads is not evicted for them.
func TestStalledConnections(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		send string // after which the client does nothing
	}{
		{"response that is not read", "GET /endless HTTP/1.1\r\nHost: a\r\n\r\n"},
		{"body that is not sent", "POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + writer +
			"\r\nContent-Type: application/json\r\n" +
			"Content-Length: 1000\r\n\r\n{"},
		{"body that is not sent after 100 Continue",
			"POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + writer +
				"\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			const limit = 4
			addr := endless(t, limit)
			reader := dial(t, addr)
			if _, err := io.WriteString(reader, "GET /endless HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			failed := make(chan error, 1)
			go func() {
				_, err := io.Copy(io.Discard, reader.in)
				failed <- err
			}()
			for range limit - 1 {
				if _, err := io.WriteString(dial(t, addr), tt.send); err != nil {
					t.Fatal(err)
				}
			}
			for range limit - 1 {
				if a, err := dial(t, addr).send(probe); err != nil || a.status != 200 {
					t.Fatalf("a new client gets %d, %v", a.status, err)
				}
			}
			select {
			case err := <-failed:
				t.Errorf("the client that reads was evicted: %v", err)
			default:
			}
		})
	}
}
