package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"herbarium/internal/admission"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
)

// lanes returns a controller with the same few slots in every lane and without queues.
func lanes(t *testing.T, slots int, rejected func(admission.Lane, admission.Reason)) *admission.Controller {
	t.Helper()
	var l admission.Limits
	for i := range l {
		l[i] = admission.Limit{Slots: slots, RetryAfter: time.Duration(i+1) * time.Second}
	}
	c, err := admission.New(admission.Options{Limits: l, Rejected: rejected})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTooManyListings(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) { o.Admission = lanes(t, 2, nil) })
	entered, leave := make(chan struct{}), make(chan struct{})
	s.library.listing = func() { entered <- struct{}{}; <-leave }
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, request("GET", catalogData, ""))
			if w.Code != 200 {
				t.Errorf("a request within the limit gets %d", w.Code)
			}
		})
		<-entered
	}
	a := s.get(t, catalogData)
	if a.status != 503 || a.header.Get("Retry-After") != "1" || !strings.Contains(a.message(t), "lane cheap") {
		t.Errorf("a request over the limit gets %d, Retry-After %q: %s", a.status, a.header.Get("Retry-After"), a.body)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if a := s.get(t, path); a.status != 200 {
			t.Errorf("%s gives %d under load", path, a.status)
		}
	}
	if a := s.create(t, `{"id":1,"name":"Rose"}`); a.status != 200 {
		t.Errorf("a creation gets %d while the listings are full", a.status)
	}
	close(leave)
	wg.Wait()
	s.library.listing = nil
	if a := s.get(t, catalogData); a.status != 200 {
		t.Errorf("after the load: %d", a.status)
	}
}

func TestTooManyCreations(t *testing.T) {
	t.Parallel()
	c := lanes(t, 1, nil)
	s := newService(t, func(o *httpapi.Options) { o.Admission = c })
	s.plants.mu.Lock() // the first creation waits
	first := make(chan checkedResponse)
	go func() { first <- s.create(t, `{"id":1,"name":"Rose"}`) }()
	for c.InFlight(admission.Write) == 0 {
		runtime.Gosched()
	}
	if a := s.create(t, `{"id":2,"name":"Rose"}`); a.status != 503 || a.header.Get("Retry-After") == "" ||
		!strings.Contains(a.message(t), "lane write") {
		t.Errorf("a creation over the limit gets %d, Retry-After %q: %s", a.status, a.header.Get("Retry-After"), a.body)
	}
	s.plants.mu.Unlock()
	if a := <-first; a.status != 200 {
		t.Errorf("the first creation gets %d", a.status)
	}
}

// TestHalfSentBodies checks that clients that stop in the middle of a body do not occupy a slot of
// any lane.
func TestHalfSentBodies(t *testing.T) {
	t.Parallel()
	c := lanes(t, 1, nil)
	s := newService(t, func(o *httpapi.Options) { o.Admission, o.Pages = c, pagesOf(homePage) })
	addr := s.listen(t)
	for _, head := range []string{
		"POST /datasets/garden/catalog/key HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n",
		"POST /plants HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer " + writer + "\r\n",
	} {
		for range 8 {
			half := dial(t, addr)
			if _, err := io.WriteString(half,
				head+"Host: a\r\nExpect: 100-continue\r\nContent-Length: 40\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			// The server requests the body when it starts to read it.
			if line, err := half.in.ReadString('\n'); err != nil || !strings.Contains(line, "100") {
				t.Fatalf("got %q, %v", line, err)
			}
			if _, err := io.WriteString(half, "key="); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, l := range admission.Lanes() {
		if n := c.InFlight(l); n != 0 {
			t.Errorf("%d slots of lane %s are taken", n, l)
		}
	}
	if a := s.get(t, catalogData); a.status != 200 {
		t.Errorf("a listing gets %d", a.status)
	}
	if a := s.create(t, `{"id":1,"name":"Rose"}`); a.status != 200 {
		t.Errorf("a creation gets %d", a.status)
	}
}

// TestSlowReaders has clients that request exports and pages and do not read them.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	c := lanes(t, 1, nil)
	s := newService(t, func(o *httpapi.Options) { o.Admission, o.Pages = c, pagesOf(homePage) })
	begun := make(chan struct{})
	s.library.stream = func(ctx context.Context) query.Stream {
		return rows(ctx, -1, func(i int) error {
			if i == 100_000 { // far more than the kernel buffers
				close(begun)
				<-ctx.Done()
			}
			return nil
		})
	}
	slow := dial(t, s.listen(t))
	if _, err := io.WriteString(slow, "GET "+catalogData+
		" HTTP/1.1\r\nHost: a\r\nAccept: text/csv\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, slow.in) }()
	<-begun
	a := s.get(t, catalogData, "Accept: text/csv")
	if a.status != 503 || a.header.Get("Retry-After") != "3" || !strings.Contains(a.message(t), "lane bulk") {
		t.Errorf("a second export gets %d, Retry-After %q: %s", a.status, a.header.Get("Retry-After"), a.body)
	}
	if a := s.get(t, catalogData); a.status != 200 {
		t.Errorf("a listing gets %d", a.status)
	}
}

// TestRequestDeadline checks the response to a request that exceeds its deadline.
func TestRequestDeadline(t *testing.T) {
	t.Parallel()
	untilDone := func(ctx context.Context) error {
		<-ctx.Done()
		return fmt.Errorf("segment: %w", ctx.Err())
	}
	for _, tt := range []struct {
		name   string
		accept string
		lane   admission.Lane
	}{
		{"listing", "application/json", admission.Cheap},
		{"export before its first byte", "text/csv", admission.Bulk},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			type rejection struct {
				admission.Lane
				admission.Reason
			}
			var rejected []rejection
			s := newService(t, func(o *httpapi.Options) {
				o.RequestTimeout = 10 * time.Millisecond
				o.Admission = lanes(t, 1, func(l admission.Lane, r admission.Reason) {
					rejected = append(rejected, rejection{l, r})
				})
			})
			s.library.query = untilDone
			s.library.stream = func(ctx context.Context) query.Stream {
				return rows(ctx, 10, func(int) error { return untilDone(ctx) })
			}
			a := s.get(t, catalogData, "Accept: "+tt.accept)
			if a.status != 503 || a.header.Get("Retry-After") == "" || !strings.Contains(a.message(t), "10ms") {
				t.Errorf("got %d, Retry-After %q: %s", a.status, a.header.Get("Retry-After"), a.body)
			}
			if len(rejected) != 1 || rejected[0] != (rejection{tt.lane, admission.ReasonDeadline}) {
				t.Errorf("reported %v", rejected)
			}
		})
	}
}

// TestWaiting checks that a request that waits for work in the background holds no slot, and that
// this time does not count towards its limit.
func TestWaiting(t *testing.T) {
	t.Parallel()
	for _, accept := range []string{"application/json", "text/csv"} {
		t.Run(accept, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := lanes(t, 1, nil)
				s := newService(t, func(o *httpapi.Options) { o.Admission, o.RequestTimeout = c, 5*time.Second })
				done, finished := make(chan struct{}), make(chan *httptest.ResponseRecorder, 1)
				wait := func(ctx context.Context) error {
					if err := query.Wait(ctx, 20*time.Second, done); err != nil {
						return err
					}
					return ctx.Err()
				}
				s.library.query = wait
				s.library.stream = func(ctx context.Context) query.Stream {
					if err := wait(ctx); err != nil {
						t.Error(err)
					}
					return rows(ctx, 1, func(int) error { return nil })
				}
				go func() {
					w := httptest.NewRecorder()
					s.ServeHTTP(w, request("GET", catalogData, "", "Accept: "+accept))
					finished <- w
				}()
				time.Sleep(19 * time.Second)
				for _, l := range admission.Lanes() {
					if n := c.InFlight(l); n != 0 {
						t.Errorf("%d slots of lane %s are taken", n, l)
					}
				}
				close(done)
				if w := <-finished; w.Code != 200 {
					t.Errorf("got %d: %s", w.Code, w.Body)
				}
			})
		})
	}
}

// TestExportHasNoDeadline checks that the request deadline does not apply to an export that has
// started.
func TestExportHasNoDeadline(t *testing.T) {
	t.Parallel()
	s := newWatched(t, 0)
	s.library.stream = func(ctx context.Context) query.Stream {
		return rows(ctx, 2_000, func(int) error {
			if at, ok := ctx.Deadline(); ok {
				return fmt.Errorf("the export must end at %s", at)
			}
			return nil
		})
	}
	res, err := fetch(t, "http://"+s.listenAs(t, s), func(body io.Reader) error {
		_, err := io.Copy(io.Discard, body)
		return err
	})
	if err != nil || res.Trailer.Get("X-Content-Rows") != "2000" {
		t.Errorf("%v, %v", err, res)
	}
}

// TestClientDisconnects checks that a query stops when its client disconnects, and that this is not
// logged as an error.
func TestClientDisconnects(t *testing.T) {
	t.Parallel()
	s := newWatched(t, 0)
	begun := make(chan struct{})
	s.library.query = func(ctx context.Context) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	}
	c := dial(t, s.listenAs(t, s))
	if _, err := io.WriteString(c, "GET "+catalogData+" HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-begun
	c.Close()
	if x := <-s.ended; x.Status != 0 {
		t.Errorf("observed %+v", x)
	}
	if log := s.log.String(); strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("the log has an error:\n%s", log)
	}
}

// TestPagesUseLanes checks that an HTML page takes a slot, too.
func TestPagesUseLanes(t *testing.T) {
	t.Parallel()
	c := lanes(t, 1, nil)
	during := -1
	s := newService(t, func(o *httpapi.Options) {
		o.Admission = c
		o.Pages = pagesOf(func(*httpapi.Page, *http.Request) error {
			during = c.InFlight(admission.Cheap)
			return nil
		})
	})
	if a := s.get(t, "/"); a.status != 200 || during != 1 || c.InFlight(admission.Cheap) != 0 {
		t.Errorf("got %d; %d slots while the page was made, %d afterwards", a.status, during,
			c.InFlight(admission.Cheap))
	}
}
