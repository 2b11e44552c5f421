package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/httpapi"
)

// keptOpen sends one request after the other on a connection.
type keptOpen struct {
	net.Conn
	in *bufio.Reader
}

func dial(t *testing.T, addr string) *keptOpen {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &keptOpen{c, bufio.NewReader(c)}
}

func (c *keptOpen) ask(method, target string, headers ...string) (answer, error) {
	text := method + " " + target + " HTTP/1.1\r\nHost: a\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n"
	if _, err := io.WriteString(c, text); err != nil {
		return answer{}, err
	}
	res, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		return answer{}, err
	}
	body, err := io.ReadAll(res.Body)
	res.Header.Del("Date")
	return answer{res.StatusCode, res.Header, string(body)}, err
}

// TestAnswersAheadOfNetHTTP holds that an answer over our own connections is the one that net/http would have written:
// large, small and empty ones, one after the other on one connection.
func TestAnswersAheadOfNetHTTP(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) { o.Pages = pagesOf(homePage) })
	ours := dial(t, s.listen(t))
	plain := httptest.NewServer(s)
	t.Cleanup(plain.Close)
	theirs := dial(t, plain.Listener.Addr().String())
	const list = "/api/v1/garden/catalog/data"
	for _, tt := range []struct {
		method, target string
		headers        []string
	}{
		{"GET", list + "?per_page=100", nil},
		{"GET", list + "?per_page=1", nil},
		{"GET", list + "?page=9999", nil},
		{"HEAD", list, nil},
		{"GET", list, []string{"Accept-Encoding: gzip"}},
		{"GET", list + "?per_page=100", []string{"Accept-Encoding: zstd"}},
		{"GET", list, []string{"If-None-Match: *"}},
		{"GET", list + "?sort=nothing", nil},
		{"GET", "/api/v1/locked/staff/data", nil},
		{"GET", "/api/v1/locked/staff/data", []string{"X-API-Key: " + reader}},
		{"GET", list + "?api_key=" + reader, nil},
		{"GET", "/api/v1", nil},
		{"GET", "/openapi.json", nil},
		{"GET", "/", nil},
		{"GET", "/nothing", nil},
		{"OPTIONS", list, nil},
		{"DELETE", list, nil},
		{"GET", list, nil},
	} {
		headers := append(tt.headers, "X-Request-Id: same")
		got, err := ours.ask(tt.method, tt.target, headers...)
		if err != nil {
			t.Fatalf("%s %s: %v", tt.method, tt.target, err)
		}
		want, err := theirs.ask(tt.method, tt.target, headers...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(answer{})); diff != "" {
			t.Errorf("%s %s (-net/http +ours):\n%s", tt.method, tt.target, diff)
		}
	}
}

// TestConnectionsDoNotShare lets many clients ask for different things at once: what one gets must be its own, although
// buffers and responses are reused.
func TestConnectionsDoNotShare(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	addr := s.listen(t)
	target := func(client int) string {
		if client%5 == 0 {
			return fmt.Sprintf("/api/v1/garden/catalog/data?page=0&category=%d", client)
		}
		return fmt.Sprintf("/api/v1/garden/catalog/data?per_page=%d&page=%d", 1+client*7%60, 1+client%2)
	}
	alone := make([]answer, 8)
	for client := range alone {
		alone[client] = s.get(t, target(client))
		alone[client].header.Del("X-Request-Id")
	}
	// The server hangs up on who says nothing for ten seconds, so nothing slow may come between dialling and asking.
	var clients sync.WaitGroup
	for client, want := range alone {
		c := dial(t, addr)
		clients.Go(func() {
			for i := range 20 {
				id := fmt.Sprintf("%d-%d", client, i)
				got, err := c.ask("GET", target(client), "X-Request-Id: "+id)
				if err != nil {
					t.Errorf("%s: %v", id, err)
					return
				}
				if got.header.Get("X-Request-Id") != id {
					t.Errorf("%s got the id %q", id, got.header.Get("X-Request-Id"))
				}
				got.header.Del("X-Request-Id")
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(answer{})); diff != "" {
					t.Errorf("%s (-alone +among others):\n%s", id, diff)
				}
			}
		})
	}
	clients.Wait()
}

// TestAnswerToAClientThatLeft holds that an answer nobody takes ends the connection and nothing else.
func TestAnswerToAClientThatLeft(t *testing.T) {
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
	if a, err := dial(t, addr).ask("GET", "/api/v1/garden/catalog/data"); err != nil || a.status != 200 {
		t.Errorf("the next client gets %d, %v", a.status, err)
	}
}

// deadlines is a connection that notes what is set.
type deadlines struct {
	net.Conn
	set []time.Time
}

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

func (d *deadlines) Write(p []byte) (int, error) { return len(p), nil }

func (d *deadlines) Accept() (net.Conn, error) { return d, nil }
func (d *deadlines) Addr() net.Addr            { return nil }
func (d *deadlines) Close() error              { return nil }

func TestWriteDeadlines(t *testing.T) {
	t.Parallel()
	var under deadlines
	c, err := httpapi.Listener(&under, nil).Accept()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	var want []time.Time
	for _, step := range []struct {
		at    time.Time
		taken bool
	}{
		{time.Time{}, false}, // there is none to lift
		{start, true},
		{start.Add(500 * time.Millisecond), false},
		{start.Add(1200 * time.Millisecond), true},
		{time.Time{}, false}, // nothing is written before the next
		{start.Add(1300 * time.Millisecond), false},
		{start.Add(1100 * time.Millisecond), true}, // an earlier one counts at once
		{start.Add(time.Hour), true},
	} {
		if err := c.SetWriteDeadline(step.at); err != nil {
			t.Fatal(err)
		}
		if step.taken {
			want = append(want, step.at)
		}
	}
	for _, at := range []time.Time{{}, start} { // what is written without a deadline has none
		if err := c.SetWriteDeadline(at); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		want = append(want, at)
	}
	if diff := cmp.Diff(want, under.set); diff != "" {
		t.Errorf("deadlines (-want +set):\n%s", diff)
	}
}
