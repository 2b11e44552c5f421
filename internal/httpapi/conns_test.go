package httpapi_test

import (
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"testing"

	"herbarium/internal/httpapi"
)

const probe = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"

// serveOn serves a service on a listener. The channel receives once for each connection that becomes idle.
func (s *service) serveOn(t *testing.T, l net.Listener, limit int) (idle <-chan struct{}) {
	t.Helper()
	server := httpapi.NewServer(s, slog.New(slog.DiscardHandler))
	track, became := server.ConnState, make(chan struct{}, 100)
	server.ConnState = func(c net.Conn, s http.ConnState) {
		track(c, s)
		if s == http.StateIdle {
			became <- struct{}{}
		}
	}
	done := make(chan error)
	go func() { done <- server.Serve(httpapi.Listener(l, limit, slog.New(slog.DiscardHandler))) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-done; err != http.ErrServerClosed {
			t.Error(err)
		}
	})
	return became
}

// TestIdleConnections opens more connections than allowed and leaves them idle: new clients get a response, and the
// longest idle connections are evicted.
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

// exhausted is a listener that fails once with EMFILE at the third connection, when the first two are idle.
type exhausted struct {
	net.Listener
	idle     chan struct{} // closed when they are
	accepted int
}

func (l *exhausted) Accept() (net.Conn, error) {
	if l.accepted++; l.accepted == 3 {
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
		if <-idle; i == 1 {
			close(limited.idle)
		}
	}
	if !clients[0].closed() {
		t.Error("the longest idle connection is still open")
	}
}
