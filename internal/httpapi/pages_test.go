package httpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
)

// fakePages has one page at "/" and one that requires a key.
type fakePages struct {
	home func(*httpapi.Page, *http.Request) error
}

func pagesOf(home func(*httpapi.Page, *http.Request) error) fakePages { return fakePages{home} }

func (p fakePages) Handlers() map[string]httpapi.PageHandler {
	return map[string]httpapi.PageHandler{
		"GET /{$}": {Serve: p.home},
		"POST /datasets/{namespace}/{dataset}/key": {Serve: func(w *httpapi.Page, r *http.Request) error {
			w.Header().Set("Location", "/"+r.PathValue("dataset"))
			w.Header().Set("Set-Cookie", "key=1")
			w.WriteHeader(http.StatusSeeOther)
			return nil
		}},
	}
}

func (fakePages) Missing(*httpapi.Page, *http.Request) error {
	return herb.Errorf(herb.CodeNotFound, "there is no such page")
}

func (fakePages) Failure(w *httpapi.Page, _ *http.Request, status int, message string) error {
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	_, err := fmt.Fprintf(w, "<!DOCTYPE html><title>%d</title><p>%s", status, message)
	return err
}

func (fakePages) Key(r *http.Request) string {
	c, err := r.Cookie("key")
	if err != nil {
		return ""
	}
	return c.Value
}

func TestPagesAreNotDocumented(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) { o.Pages = pagesOf(homePage) })
	want := []string{
		"GET /datasets/{namespace}/{dataset}/aggregate.csv", "GET /datasets/{namespace}/{dataset}/changes.csv",
		"GET /datasets/{namespace}/{dataset}/changes.ndjson",
		"GET /datasets/{namespace}/{dataset}/data", "GET /datasets/{namespace}/{dataset}/data.csv",
		"GET /datasets/{namespace}/{dataset}/data.geojson",
		"GET /datasets/{namespace}/{dataset}/data.ndjson",
		"GET /datasets/{namespace}/{dataset}/data.parquet", "GET /datasets/{namespace}/{dataset}/data.xlsx",
		"GET /datasets/{namespace}/{dataset}/grid",
		"POST /datasets/{namespace}/{dataset}/key", "GET /",
	}
	if diff := cmp.Diff(want, s.PagePatterns()); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	doc := s.get(t, "/openapi.json").body
	for _, p := range want {
		if _, path, _ := strings.Cut(p, " "); strings.Contains(doc, `"`+path+`":{`) {
			t.Errorf("the document contains %s", path)
		}
	}
}

func TestPageAnswers(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) { o.Pages = pagesOf(homePage) })
	w := httptest.NewRecorder()
	s.ServeHTTP(w, request("POST", "/datasets/garden/catalog/key", ""))
	if h := w.Header(); w.Code != 303 || h.Get("Location") != "/catalog" || h.Get("Set-Cookie") != "key=1" {
		t.Errorf("a page that redirects gives %d %v", w.Code, h)
	}
}

// TestErrorPages checks which clients get errors as pages: browsers, on pages and on unknown paths.
func TestErrorPages(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) { o.Pages = pagesOf(homePage) })
	const browser = "text/html,application/xhtml+xml,*/*;q=0.8"
	tests := []struct {
		method, path, accept string
		status               int
		page                 bool
	}{
		{"GET", "/nothing", browser, 404, true},
		{"GET", "/nothing", "*/*", 404, false},
		{"GET", "/nothing", "", 404, false},
		{"PUT", "/", browser, 405, true},
		{"GET", "/datasets/garden/nothing/data", browser, 404, true},
		{"GET", "/datasets/garden/nothing/data", "*/*", 404, false},
		{"GET", "/api/v1/garden/nothing/data", browser, 404, false},
		{"GET", "/api/nothing", browser, 404, false},
		{"GET", "/plants", browser, 405, false},
		{"POST", "/plants", browser, 401, false},
	}
	for _, tt := range tests {
		r := request(tt.method, tt.path, "")
		if tt.accept != "" {
			r.Header.Set("Accept", tt.accept)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		header := w.Result().Header
		isPage := strings.HasPrefix(header.Get("Content-Type"), "text/html")
		if w.Code != tt.status || isPage != tt.page || header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s for %q: %d, %v", tt.method, tt.path, tt.accept, w.Code, header)
		}
		if isPage != (header.Get("Content-Security-Policy") != "") {
			t.Errorf("%s %s for %q: headers %v", tt.method, tt.path, tt.accept, header)
		}
	}
}

// TestErrorPages_written checks that the error of a handler determines the status, and that a page
// about it is sent unless writing it may have failed.
func TestErrorPages_written(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err    error
		status int
		body   string // part of it
	}{
		{herb.Invalidf("a is invalid"), 400, "<p>form with a"},
		{herb.Errorf(herb.CodeUnauthenticated, "no key"), 401, "<p>form with a"},
		{errors.New("template failed"), 500, "<title>500</title>"},
	} {
		s := newService(t, func(o *httpapi.Options) {
			o.Pages = pagesOf(func(w *httpapi.Page, _ *http.Request) error {
				w.Header().Set("Cache-Control", "no-cache")
				_, _ = io.WriteString(w, "<p>form with a")
				return tt.err
			})
		})
		w := httptest.NewRecorder()
		s.ServeHTTP(w, request("GET", "/", "", "Accept: text/html"))
		body, h := w.Body.String(), w.Header()
		if w.Code != tt.status || !strings.Contains(body, tt.body) || w.Code == 500 && strings.Contains(body, "form") ||
			h.Get("Cache-Control") != "no-store" || (w.Code == 401) != (h.Get("WWW-Authenticate") != "") {
			t.Errorf("%v: %d %v %s", tt.err, w.Code, h, body)
		}
		if a := s.get(t, "/"); a.status != tt.status || !strings.HasPrefix(a.body, `{"error":`) {
			t.Errorf("%v without HTML: %d %s", tt.err, a.status, a.body)
		}
	}
}

// TestErrorPages_disabled checks that browsers get errors as JSON from a server without pages.
func TestErrorPages_disabled(t *testing.T) {
	t.Parallel()
	a := newService(t, nil).get(t, "/nothing", "Accept: text/html")
	if a.status != 404 || a.message(t) == "" {
		t.Errorf("got %d %s", a.status, a.body)
	}
}

// TestPageData checks that the records of a page are those of the listing, for the key stored in
// the browser.
func TestPageData(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) { o.Pages = pagesOf(homePage) })
	open := s.get(t, "/datasets/garden/catalog/data?sort=price&page=2")
	if want := s.get(t, "/api/v1/garden/catalog/data?sort=price&page=2"); open.status != 200 || open.body != want.body {
		t.Errorf("got %d %.100s", open.status, open.body)
	}
	if open.header.Get("Access-Control-Allow-Origin") != "*" ||
		open.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Error("scripts of other origins may read what a cookie opens")
	}
	keyed := func(path, cookie string) checkedResponse {
		r := request("GET", path, "")
		if cookie != "" {
			r.Header.Set("Cookie", "key="+cookie)
		}
		return s.do(t, r)
	}
	for _, path := range []string{"/datasets/locked/staff/data", "/datasets/locked/staff/data.csv?page=2&per_page=1"} {
		if a := keyed(path, ""); a.status != 401 {
			t.Errorf("%s without a key: %d", path, a.status)
		}
		if a := keyed(path, elsewhere); a.status != 403 {
			t.Errorf("%s with the key of another dataset: %d", path, a.status)
		}
		a := keyed(path, oneReader)
		if a.status != 200 || !strings.Contains(a.header.Get("Vary"), "Cookie") ||
			!strings.Contains(a.header.Get("Cache-Control"), "private") {
			t.Errorf("%s with the key: %d %v", path, a.status, a.header)
		}
	}
	if a := keyed("/api/v1/locked/staff/data", oneReader); a.status != 401 {
		t.Errorf("a cookie opens the API: %d", a.status)
	}
	if a := s.get(t, "/datasets/locked/staff/data?api_key="+oneReader); a.status != 400 {
		t.Errorf("a key in the address of a page: %d", a.status)
	}
}

func TestBasePath(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) {
		o.Pages, o.PublicURL = pagesOf(homePage), "https://example.org/plants/data/"
	})
	s.library.put(stock())
	for _, prefix := range []string{"", "/plants/data"} { // the proxy removes the path, or not
		w := httptest.NewRecorder()
		s.ServeHTTP(w, request("GET", prefix+"/api/v1/garden/catalog/data?per_page=1", ""))
		link := w.Header().Get("Link")
		if want := "</plants/data/api/v1/garden/catalog/data?per_page=1&page=1>"; w.Code != 200 ||
			!strings.HasPrefix(link, want) {
			t.Errorf("below %q: %d, Link %s", prefix, w.Code, link)
		}
		if a := s.get(t, prefix+"/api/v1/shop/stock/data/a%2Fb/1"); a.status != 200 {
			t.Errorf("below %q: a key with a slash gives %s", prefix, a.body)
		}
		if a := s.get(t, prefix+"/"); a.status != 200 {
			t.Errorf("below %q: the front page gives %d", prefix, a.status)
		}
	}
	if a := s.get(t, "/plants/data"); a.status != 200 {
		t.Errorf("the address itself gives %d", a.status)
	}
	if a := s.get(t, "/plants/database"); a.status != 404 {
		t.Errorf("a path with the same prefix has status %d", a.status)
	}
	var d struct{ Links map[string]string }
	if err := json.Unmarshal([]byte(s.get(t, "/api/v1/garden/catalog").body), &d); err != nil {
		t.Fatal(err)
	}
	if got := d.Links["data"]; got != "/plants/data/api/v1/garden/catalog/data" {
		t.Errorf("the descriptor links to %s", got)
	}
	if doc := s.get(t, "/openapi.json").body; !strings.Contains(doc, `"url":"https://example.org/plants/data"`) {
		t.Error("the document does not name the public address")
	}
	malformed := options(t, s.library)
	malformed.PublicURL = "http://["
	if _, err := httpapi.New(malformed); err == nil {
		t.Error("a malformed URL is accepted")
	}
}
