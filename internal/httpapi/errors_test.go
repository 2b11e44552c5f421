package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
)

func homePage(w *httpapi.Page, _ *http.Request) error {
	_, err := w.Write([]byte("<!DOCTYPE html><title>Home</title>" + strings.Repeat("<p>page</p>", 20)))
	return err
}

func TestUnknownPaths(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	tests := []struct{ path, message string }{
		{"/", "valid paths: DELETE /api/v1"},
		{"/nothing", `no such path "/nothing"; valid paths: DELETE /api/v1/{namespace}/{dataset}, DELETE /api/v1/{namespace}/{dataset}/versions/{version}, `},
		{"/plants/", `did you mean "/plants"?`},
		{"/plants/1", "POST /plants"},
		{"/api", "GET /api/v1,"},
		{"/api/v1/", `did you mean "/api/v1"?`},
		{"/api/v1/garden", "GET /openapi.json"},
		{"/api/v1/garden/catalog/", `did you mean "/api/v1/garden/catalog"?`},
		{"/api/v1/garden/catalog/date", "no such path"},
		{"/api/v1//garden/catalog/data", `did you mean "/api/v1/garden/catalog/data"?`},
		{"//plants", `did you mean "/plants"?`},
		{"//", "no such path"},
		{"/api/v1/./garden/catalog", `did you mean "/api/v1/garden/catalog"?`},
		{"/api/../plants", `did you mean "/plants"?`},
		{"/api/v2/garden/catalog/data", "no such path"},
		{"/" + writer, `no such path "/REDACTED"`},
		{"/%ff%00", `no such path "/\xff\x00"`},
		{"/" + strings.Repeat("x", 5000), "xxx…"},
	}
	for _, tt := range tests {
		for _, method := range []string{"GET", "POST", "OPTIONS"} {
			a := s.do(t, request(method, "http://example.com"+tt.path, ""))
			if a.status != 404 || !strings.Contains(a.message(t), tt.message) {
				t.Errorf("%s %.100s gives %d %.300s", method, tt.path, a.status, a.body)
			}
		}
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) { o.Pages = pagesOf(homePage) })
	for path, allow := range map[string]string{
		"/":                           "GET, HEAD, OPTIONS",
		"/plants":                     "POST, OPTIONS",
		"/api/v1":                     "GET, HEAD, OPTIONS",
		"/api/v1/garden/catalog":      "GET, HEAD, DELETE, OPTIONS",
		"/api/v1/garden/catalog/data": "GET, HEAD, OPTIONS",
		"/api/v1/shop/prices/source":  "PUT, POST, PATCH, GET, HEAD, OPTIONS",
		"/openapi.json":               "GET, HEAD, OPTIONS",
		"/healthz":                    "GET, HEAD, OPTIONS",
		"/readyz":                     "GET, HEAD, OPTIONS",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "QUERY", "CONNECT"} {
			a := s.do(t, request(method, path, ""))
			if strings.Contains(allow+",", method+",") {
				if a.status == 405 {
					t.Errorf("%s %s is rejected", method, path)
				}
				continue
			}
			if a.status != 405 || a.header.Get("Allow") != allow {
				t.Errorf("%s %s gives %d, Allow %q", method, path, a.status, a.header.Get("Allow"))
			}
			if method != "HEAD" && a.message(t) != method+" is not allowed on "+path+"; allowed: "+allow {
				t.Errorf("%s %s gives %s", method, path, a.body)
			}
		}
		a := s.do(t, request("OPTIONS", path, ""))
		if a.status != 204 || a.header.Get("Allow") != allow {
			t.Errorf("OPTIONS %s gives %d, Allow %q", path, a.status, a.header.Get("Allow"))
		}
	}
}

// TestFaults makes each dependency fail in each way and checks the response.
func TestFaults(t *testing.T) {
	t.Parallel()
	const inside = "disk at /var/secret is broken"
	errs := []struct {
		name    string
		err     error
		status  int
		message string
	}{
		{"plain", errors.New(inside), 500, "internal error, logged with request ID"},
		{"internal", herb.Wrap(herb.CodeInternal, errors.New(inside), "%s", inside), 500, "internal error"},
		{"unknown code", &herb.Error{Code: "odd", Message: inside}, 500, "internal error"},
		{"unavailable", herb.Wrap(herb.CodeUnavailable, errors.New(inside), "the store is away"), 503,
			"the store is away"},
		{"wrapped", fmt.Errorf("listing: %w", herb.Wrap(herb.CodeUnavailable, errors.New(inside), "away")),
			503, "away"},
		{"cancelled", fmt.Errorf("%s: %w", inside, context.Canceled), 503, "try again"},
		{"too late", fmt.Errorf("%s: %w", inside, context.DeadlineExceeded), 503, "try again"},
	}
	list := func() *http.Request { return request("GET", "/api/v1/locked/staff/data", "", "X-API-Key: "+reader) }
	places := []struct {
		name    string
		spoil   func(*service, error)
		request func() *http.Request
	}{
		{"verifier of a listing", func(s *service, err error) { s.keys.Err = err }, list},
		{"verifier of a creation", func(s *service, err error) { s.keys.Err = err },
			func() *http.Request { return creation(`{"id":1,"name":"Rose"}`) }},
		{"acquire", func(s *service, err error) { s.library.acquireErr = err }, list},
		{"list", func(s *service, err error) { s.library.listErr = err }, list},
		{"create", func(s *service, err error) { s.plants.err = err },
			func() *http.Request { return creation(`{"id":1,"name":"Rose"}`) }},
		{"outcome", func(s *service, err error) { s.plants.outcomeErr = err },
			func() *http.Request { return creation(`{"id":1,"name":"Rose"}`) }},
		{"datasets of the catalogue", func(s *service, err error) { s.library.datasetsErr = err },
			func() *http.Request { return request("GET", "/api/v1", "") }},
		{"datasets of the document", func(s *service, err error) { s.library.datasetsErr = err },
			func() *http.Request { return request("GET", "/openapi.json", "") }},
		{"description", func(s *service, err error) { s.library.acquireErr = err },
			func() *http.Request { return request("GET", "/api/v1/store/plants", "") }},
	}
	for _, p := range places {
		for _, e := range errs {
			t.Run(p.name+" "+e.name, func(t *testing.T) {
				t.Parallel()
				s := newService(t, nil)
				p.spoil(s, e.err)
				a := s.do(t, p.request())
				if a.status != e.status || !strings.Contains(a.message(t), e.message) ||
					strings.Contains(a.body, "/var") {
					t.Errorf("got %d %s", a.status, a.body)
				}
				if (a.header.Get("Retry-After") == "1") != (e.status == 503) {
					t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
				}
				for _, name := range []string{"Etag", "Link"} {
					if a.header.Get(name) != "" {
						t.Errorf("a failure has %s", name)
					}
				}
				if log := s.log.String(); !strings.Contains(log, a.header.Get("X-Request-Id")) ||
					!strings.Contains(log, e.err.Error()) {
					t.Errorf("the log lacks the cause:\n%s", log)
				}
			})
		}
	}
}

func TestUnknownDataset_catalogueUnavailable(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	s.library.datasetsErr = errors.New("away")
	if a := s.get(t, "/api/v1/no/thing/data"); a.status != 404 || !strings.Contains(a.message(t), "GET /api/v1 lists") {
		t.Errorf("got %d %s", a.status, a.body)
	}
}

func TestDuplicatePlant(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	s.plants.outcomeErr = herb.Invalidf("there is a plant with id 1 already; choose another id")
	if a := s.create(t, `{"id":1,"name":"Rose"}`); a.status != 400 ||
		!strings.Contains(a.message(t), "choose another") {
		t.Errorf("got %d %s", a.status, a.body)
	}
}

func TestPanic(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	s.library.listPanic = "nil map with " + reader
	a := s.get(t, "/api/v1/garden/catalog/data")
	if a.status != 500 || strings.Contains(a.body, "nil map") || a.header.Get("Etag") != "" {
		t.Errorf("got %d %s %v", a.status, a.body, a.header)
	}
	log := s.log.String()
	for _, want := range []string{"nil map with REDACTED", "fakeEngine", a.header.Get("X-Request-Id"), `"status":500`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	s.library.listPanic = nil
	if a := s.get(t, "/api/v1/garden/catalog/data"); a.status != 200 {
		t.Errorf("after a panic: %d", a.status)
	}
}

func TestPanic_afterHeader(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		handler http.Handler
	}{
		{"asked for", newService(t, func(o *httpapi.Options) {
			o.Pages = pagesOf(func(*httpapi.Page, *http.Request) error { panic(http.ErrAbortHandler) })
		})},
		{"half an answer", brokenWriter{newService(t, nil)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(tt.handler)
			defer server.Close()
			res, err := http.Get(server.URL)
			if err == nil {
				res.Body.Close()
				t.Errorf("got an answer: %d", res.StatusCode)
			}
		})
	}
}

// brokenWriter panics at the first write of a body.
type brokenWriter struct{ next http.Handler }

func (b brokenWriter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.next.ServeHTTP(panicWriter{w}, r)
}

type panicWriter struct{ http.ResponseWriter }

func (panicWriter) Write([]byte) (int, error) { panic("broken") }

func TestService(t *testing.T) {
	t.Parallel()
	var health httpapi.Health
	s := newService(t, func(o *httpapi.Options) {
		o.Health = func() httpapi.Health { return health }
		o.Pages = pagesOf(homePage)
	})
	if a := s.get(t, "/healthz"); a.status != 200 || a.body != `{"status":"ok"}` {
		t.Errorf("/healthz gives %d %s", a.status, a.body)
	}
	if a := s.get(t, "/readyz"); a.status != 200 || a.body != `{"status":"ready"}` {
		t.Errorf("/readyz gives %d %s", a.status, a.body)
	}
	health.Dependencies = map[string]string{"database": "it does not answer", "object store": ""}
	if a := s.get(t, "/readyz"); a.status != 200 ||
		a.body != `{"status":"degraded","parts":{"database":"it does not answer","object store":"ok"}}` {
		t.Errorf("/readyz without a database gives %d %s", a.status, a.body)
	}
	health.NotReady = "the server is stopping"
	if a := s.get(t, "/readyz"); a.status != 503 || !strings.Contains(a.body, health.NotReady) {
		t.Errorf("/readyz of a server that stops gives %d %s", a.status, a.body)
	}
	if a := s.get(t, "/"); a.status != 200 || a.header.Get("Content-Type") != "text/html; charset=utf-8" ||
		!strings.Contains(a.body, "<title>") {
		t.Errorf("/ gives %d %v", a.status, a.header)
	}
}

func TestHomeFails(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) {
		o.Pages = pagesOf(func(w *httpapi.Page, _ *http.Request) error {
			_, _ = w.Write([]byte("half a page"))
			return errors.New("broken")
		})
	})
	if a := s.get(t, "/"); a.status != 500 || strings.Contains(a.body, "half") {
		t.Errorf("got %d %s", a.status, a.body)
	}
}

func TestNew_missingOptions(t *testing.T) {
	t.Parallel()
	if _, err := httpapi.New(httpapi.Options{}); err == nil {
		t.Error("New accepts missing dependencies")
	}
}
