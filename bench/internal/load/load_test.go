package load_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herbarium/bench/internal/load"
)

func serve(t *testing.T, h http.HandlerFunc) (addr string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func TestRun_count(t *testing.T) {
	t.Parallel()
	var (
		asked atomic.Int64
		mu    sync.Mutex
		conns = map[string]bool{}
	)
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		mu.Lock()
		conns[r.RemoteAddr] = true
		mu.Unlock()
		if r.RequestURI != "/a?b=c" || r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("request for %s with %v", r.RequestURI, r.Header)
		}
		_, _ = io.WriteString(w, "seventeen letters")
	})
	r, err := load.Run(t.Context(), load.Options{Addrs: []string{addr}, Target: "/a?b=c", Encoding: "gzip", Conns: 4,
		Requests: 100, Duration: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if r.Requests() != 100 || asked.Load() != 100 || r.Bytes != 1700 || r.Rate() <= 0 || r.Latency.Quantile(0.5) <= 0 {
		t.Errorf("%d requests, %d seen, %d bytes, %v/s", r.Requests(), asked.Load(), r.Bytes, r.Rate())
	}
	if len(conns) > 4 {
		t.Errorf("%d connections; want at most 4, kept alive", len(conns))
	}
}

// TestRun_post checks that bodies are sent with the key, and that each worker rotates over the
// servers.
func TestRun_post(t *testing.T) {
	t.Parallel()
	var (
		made  atomic.Int64
		asked [3]atomic.Int64
		seen  sync.Map
		addrs []string
	)
	for i := range asked {
		addrs = append(addrs, serve(t, func(w http.ResponseWriter, r *http.Request) {
			asked[i].Add(1)
			body, err := io.ReadAll(r.Body)
			_, twice := seen.LoadOrStore(string(body), true)
			if err != nil || twice || r.Method != http.MethodPost || r.Header.Get("Authorization") != "Bearer secret" ||
				r.Header.Get("Content-Type") != "application/json" || !strings.HasPrefix(string(body), `{"id":`) {
				t.Errorf("%s %v %q, twice: %v, %v", r.Method, r.Header, body, twice, err)
			}
			_, _ = io.WriteString(w, "ok")
		}))
	}
	r, err := load.Run(t.Context(), load.Options{
		Addrs: addrs, Target: "/plants", Key: "secret", Conns: 1, Requests: 30, Duration: time.Minute,
		Body: func() []byte { return fmt.Appendf(nil, `{"id":%d}`, made.Add(1)) },
	})
	if err != nil || r.Requests() != 30 {
		t.Fatalf("%d requests, %v", r.Requests(), err)
	}
	for i := range asked {
		if n := asked[i].Load(); n != 10 {
			t.Errorf("server %d was asked %d times, want 10", i, n)
		}
	}
}

// TestClient checks that connections are reused by the next run, and that Warm uses each of them
// once.
func TestClient(t *testing.T) {
	t.Parallel()
	var (
		mu    sync.Mutex
		conns = map[string]int{}
		addrs []string
	)
	for range 2 {
		addrs = append(addrs, serve(t, func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			conns[r.RemoteAddr]++
			mu.Unlock()
			_, _ = io.WriteString(w, "x")
		}))
	}
	c, err := load.Open(t.Context(), load.Options{Addrs: addrs, Target: "/", Conns: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	for conn, n := range conns {
		if n != 1 {
			t.Errorf("%s was used %d times", conn, n)
		}
	}
	if r, err := c.Run(t.Context(), 0); err != nil || r.Requests() != 3 || len(conns) != 6 {
		t.Errorf("%d requests over %d connections, %v; want 3 over 6", r.Requests(), len(conns), err)
	}
}

func TestRun_time(t *testing.T) {
	t.Parallel()
	addr := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") })
	r, err := load.Run(t.Context(), load.Options{Addrs: []string{addr}, Target: "/"})
	if err != nil || r.Requests() != 1 {
		t.Errorf("in no time: %d requests, %v; want 1", r.Requests(), err)
	}
	r, err = load.Run(t.Context(), load.Options{Addrs: []string{addr}, Target: "/", Duration: 20 * time.Millisecond})
	if err != nil || r.Requests() < 1 || r.Elapsed < 20*time.Millisecond {
		t.Errorf("%d requests in %v, %v", r.Requests(), r.Elapsed, err)
	}
}

func TestRun_fails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"status": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such thing", 404) },
			"404 Not Found: no such thing"},
		"length": {func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() }, "no Content-Length"},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "short")
		}, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load.Run(t.Context(), load.Options{Addrs: []string{serve(t, c.handler)}, Target: "/x", Conns: 2,
				Duration: time.Minute})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v; want %q in it", err, c.want)
			}
		})
	}
}

// TestRun_canceled checks that a run ends when its context does, even if the server does not
// respond.
func TestRun_canceled(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	addr := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-asked
		cancel()
	}()
	if _, err := load.Run(ctx, load.Options{Addrs: []string{addr}, Target: "/", Duration: time.Minute}); err == nil {
		t.Error("there is no error")
	}
}

func TestLatencies_Quantile(t *testing.T) {
	t.Parallel()
	var l load.Latencies
	if got := l.Quantile(0.5); got != 0 {
		t.Errorf("quantile of nothing: %v", got)
	}
	for i := range 1000 {
		l = append(l, time.Duration(1000-i))
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.001: 1, 0.5: 500, 0.9995: 1000, 0.99: 990, 1: 1000} {
		if got := l.Quantile(q); got != want {
			t.Errorf("quantile %v is %d; want %d", q, got, want)
		}
	}
}
