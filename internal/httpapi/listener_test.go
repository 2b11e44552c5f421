package httpapi_test

import (
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"herbarium/internal/httpapi/connection"

	"herbarium/internal/query"
)

// listen serves a service on a real port and returns the address.
func (s *service) listen(t *testing.T) string {
	t.Helper()
	return s.listenAs(t, s)
}

// listenAs is listen with a handler around the service.
func (s *service) listenAs(t *testing.T, handler http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := connection.NewServer(handler, s.log.logger())
	done := make(chan error)
	go func() { done <- server.Serve(connection.Listener(l, 0)) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-done; err != http.ErrServerClosed {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// raw sends bytes and reads the response.
func raw(t *testing.T, addr, method, text string) checkedResponse {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// The server may respond and close the connection before it has read everything.
	go func() { _, _ = io.WriteString(c, text) }()
	res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return checkedResponse{res.StatusCode, res.Header, string(body)}
}

// TestListener sends requests that no library would. Those that the handler sees have an Error body
// and a request ID.
func TestListener(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	addr := s.listen(t)
	for _, tt := range []struct {
		name, text string
		status     int
		message    string // part of it
	}{
		{"malformed chunk", "POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + writer +
			"\r\nContent-Type: application/json\r\n" +
			"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "its chunks are malformed"},
		{"long query", "GET /api/v1/garden/catalog/data?title=" + strings.Repeat("x", 20<<10) +
			" HTTP/1.1\r\nHost: a\r\n\r\n", 400, ""},
		{"proxy request", "GET http://other.example/healthz HTTP/1.1\r\nHost: a\r\n\r\n", 200, ""},
		{"proxy request without a path", "GET http://other.example HTTP/1.1\r\nHost: a\r\n\r\n", 404, ""},
		{"tunnel", "CONNECT other.example:443 HTTP/1.1\r\nHost: a\r\n\r\n", 404, ""},
		{"asterisk", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", 404, ""},
		{"options of everything", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 204, ""},
		{"HTTP/1.0", "GET /healthz HTTP/1.0\r\n\r\n", 200, ""},
		{"double slash", "GET //healthz HTTP/1.1\r\nHost: a\r\n\r\n", 404, ""},
		{"not UTF-8", "GET /\xff\xfe HTTP/1.1\r\nHost: a\r\n\r\n", 404, ""},
		{"body of a refused creation",
			"POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n", 401, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := raw(t, addr, "GET", tt.text)
			if a.status != tt.status || a.header.Get("X-Request-Id") == "" {
				t.Fatalf("got %d %v", a.status, a.header)
			}
			if a.status >= 400 {
				checkError(t, a)
			}
			if tt.message != "" && !strings.Contains(a.message(t), tt.message) {
				t.Errorf("got %s", a.body)
			}
		})
	}
}

// TestListener_rejected sends requests that net/http rejects before a handler runs.
func TestListener_rejected(t *testing.T) {
	t.Parallel()
	addr := newService(t, nil).listen(t)
	for _, tt := range []struct {
		name, text string
		status     int
	}{
		{"no HTTP", "hello\r\n\r\n", 400},
		{"no host", "GET / HTTP/1.1\r\n\r\n", 400},
		{"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
		{"wrong header", "GET / HTTP/1.1\r\nHost: a\r\nA b: c\r\n\r\n", 400},
		{"wrong escape in the path", "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"wrong length", "POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400},
		{"version 3", "GET / HTTP/3.0\r\nHost: a\r\n\r\n", 505},
		{"transfer encoding", "POST /plants HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
		{"large header", "GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", 431},
		{"expectation", "GET / HTTP/1.1\r\nHost: a\r\nExpect: cake\r\n\r\n", 417},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if a := raw(t, addr, "GET", tt.text); a.status != tt.status {
				t.Fatalf("got %d %v %s", a.status, a.header, a.body)
			}
		})
	}
}

// TestListener_forgedRejection checks that a body arrives unchanged that contains what net/http
// writes when it rejects a request, at every offset at which a write of the connection may begin.
func TestListener_forgedRejection(t *testing.T) {
	t.Parallel()
	const forged = "HTTP/1.1 400 x\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	body := strings.Repeat(forged, 200_000/len(forged))
	for _, size := range []int{1, 100, len(forged), 4096, 64 << 10, len(body)} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := connection.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for rest := body; rest != "" && r.Context().Err() == nil; {
				n, _ := io.WriteString(w, rest[:min(size, len(rest))])
				w.(http.Flusher).Flush() // the next write begins with the next piece
				rest = rest[n:]
			}
		}), slog.New(slog.DiscardHandler))
		go server.Serve(connection.Listener(l, 0))
		defer server.Close()
		for _, version := range []string{"1.0", "1.1"} { // with chunks, and without
			request := "GET / HTTP/" + version + "\r\nHost: a\r\nConnection: close\r\n\r\n"
			if a := raw(t, l.Addr().String(), "GET", request); a.status != 200 || a.body != body {
				t.Errorf("HTTP/%s, writes of %d bytes: status %d, %d bytes, or they differ; want %d", version, size,
					a.status, len(a.body), len(body))
			}
		}
	}
}

func TestServerRoundTrip(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	base := "http://" + s.listen(t)
	res, err := http.Get(base + "/api/v1/garden/catalog/data?per_page=100")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var body struct{ Data []map[string]string }
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil || len(body.Data) != 60 {
		t.Errorf("got %d records, %v", len(body.Data), err)
	}
	head, err := http.Head(base + "/api/v1/garden/catalog/data")
	if err != nil {
		t.Fatal(err)
	}
	head.Body.Close()
	if head.StatusCode != 200 || head.ContentLength <= 0 {
		t.Errorf("HEAD gives %d with length %d", head.StatusCode, head.ContentLength)
	}
}

// TestNewServer checks that there is a limit on everything that a client could delay, and that a
// query over its own limit still reaches the handler, which rejects it with a message.
func TestNewServer(t *testing.T) {
	t.Parallel()
	s := connection.NewServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	for name, limit := range map[string]int64{
		"ReadTimeout": int64(s.ReadTimeout), "WriteTimeout": int64(s.WriteTimeout), "IdleTimeout": int64(s.IdleTimeout),
		"MaxHeaderBytes": int64(s.MaxHeaderBytes),
	} {
		if limit <= 0 {
			t.Errorf("%s is not set", name)
		}
	}
	if s.MaxHeaderBytes < 2*query.MaxQueryBytes {
		t.Errorf("%d bytes of header leave no room for a query of more than %d", s.MaxHeaderBytes, query.MaxQueryBytes)
	}
}
