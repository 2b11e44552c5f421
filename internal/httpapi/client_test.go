package httpapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"herbarium/internal/export"
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// logBuffer collects a log.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logBuffer) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// checkedResponse is a response that has been validated against the OpenAPI document.
type checkedResponse struct {
	status int
	header http.Header
	body   string // decompressed
}

// message returns the message of an Error body.
func (a checkedResponse) message(t *testing.T) string {
	t.Helper()
	var e struct{ Message string }
	if err := json.Unmarshal([]byte(a.body), &e); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	return e.Message
}

// listing parses the body of a listing.
func (a checkedResponse) listing(t *testing.T) (data []map[string]string, meta query.Meta) {
	t.Helper()
	var l struct {
		Data []map[string]string
		Meta query.Meta
	}
	if err := json.Unmarshal([]byte(a.body), &l); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	return l.Data, l.Meta
}

// request returns a request; headers have the form "Name: value".
func request(method, target, body string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body == "" {
		r.Body, r.ContentLength = http.NoBody, 0
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	return r
}

// get sends a GET.
func (s *service) get(t *testing.T, target string, headers ...string) checkedResponse {
	t.Helper()
	return s.do(t, request("GET", target, "", headers...))
}

// do sends a request and validates the response against the OpenAPI document served by the service.
func (s *service) do(t *testing.T, r *http.Request) checkedResponse {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	a := checkedResponse{w.Code, w.Header(), unpack(t, w)}
	s.check(t, r, a)
	return a
}

func unpack(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var from io.Reader = w.Body
	var err error
	switch w.Header().Get("Content-Encoding") {
	case "gzip":
		if w.Body.Len() > 0 {
			from, err = gzip.NewReader(w.Body)
		}
	case "zstd":
		from, err = zstd.NewReader(w.Body)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// check checks what all responses have in common.
func (s *service) check(t *testing.T, r *http.Request, a checkedResponse) {
	t.Helper()
	if a.header.Get("X-Request-Id") == "" {
		t.Error("a response without X-Request-Id")
	}
	if got := a.header.Get("Access-Control-Allow-Origin"); got != "*" {
		t.Errorf("Access-Control-Allow-Origin of %s is %q", r.URL.Path, got)
	}
	if r.Method == "HEAD" || a.status == 304 || a.status == 204 {
		if a.body != "" {
			t.Errorf("%d to %s has a body: %q", a.status, r.Method, a.body)
		}
	}
	if a.status >= 400 && r.Method != "HEAD" {
		checkError(t, a)
	}
	if a.status >= 300 && a.status != 304 && a.status < 400 {
		t.Errorf("a redirect to %q", a.header.Get("Location"))
	}
	if r.Method != "HEAD" && r.Method != "OPTIONS" {
		s.validate(t, r, a)
	}
}

// checkError validates an Error body against its schema and status.
func checkError(t *testing.T, a checkedResponse) {
	t.Helper()
	var e map[string]any
	if err := json.Unmarshal([]byte(a.body), &e); err != nil {
		t.Errorf("the body of %d is not JSON: %q", a.status, a.body)
		return
	}
	message, _ := e["message"].(string)
	members := 2
	if e["requires"] != nil { // of a rejected rollback
		members++
	}
	if e["dataset"] != nil { // the result of a publish, which the document describes
		members = len(e)
	}
	if len(e) != members || e["error"] != float64(a.status) || message == "" {
		t.Errorf("the body of %d is %s", a.status, a.body)
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type of %d is %q", a.status, got)
	}
}

// documents caches parsed OpenAPI documents by their content.
var documents struct {
	sync.Mutex
	parsed map[string]*apiDocument
}

// openAPI returns the OpenAPI document of the service, without injected failures.
func (s *service) openAPI(t testing.TB) string {
	t.Helper()
	puts := s.library.puts.Load()
	if s.documentPuts == puts {
		return s.document
	}
	healthy := newService(t, nil)
	healthy.library.Views = s.library.Views
	w := httptest.NewRecorder()
	healthy.ServeHTTP(w, httptest.NewRequest("GET", "/openapi.json", nil))
	if w.Code != 200 {
		t.Fatalf("the OpenAPI document answers %d", w.Code)
	}
	s.document, s.documentPuts = w.Body.String(), puts
	return s.document
}

// parsedOpenAPI returns the parsed OpenAPI document of the service.
func (s *service) parsedOpenAPI(t *testing.T) *apiDocument {
	t.Helper()
	body := s.openAPI(t)
	documents.Lock()
	defer documents.Unlock()
	d, ok := documents.parsed[body]
	if !ok {
		d = newAPIDocument(t, []byte(body))
		if documents.parsed == nil {
			documents.parsed = map[string]*apiDocument{}
		}
		documents.parsed[body] = d
	}
	return d
}

// typedOpenAPI returns the parsed OpenAPI document of typed JSON.
func (s *service) typedOpenAPI(t *testing.T) *apiDocument {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/openapi.json?_typed=true", nil))
	return newAPIDocument(t, w.Body.Bytes())
}

// validate validates a response against the OpenAPI document. Other paths than those of its
// operations only have errors.
func (s *service) validate(t *testing.T, r *http.Request, a checkedResponse) {
	t.Helper()
	d := s.parsedOpenAPI(t)
	if r.URL.Query().Get(query.ParamTyped) == "true" && a.status == 200 {
		d = s.typedOpenAPI(t)
	}
	if _, ok := d.operation(r); !ok || path.Clean(r.URL.Path) != r.URL.Path {
		return
	}
	if a.status == 200 {
		if err := d.checkRequired(r); err != nil {
			t.Errorf("%s %s violates the OpenAPI document: %v", r.Method, r.URL, err)
		}
	}
	if params := r.URL.Query(); a.status == 200 && (params.Has(query.ParamFields) || params.Has(query.ParamVersion)) {
		return // the document says that records then have other members
	}
	for _, f := range export.Formats() {
		if a.status == 200 && strings.HasPrefix(a.header.Get("Content-Type"), f.MediaType()) &&
			strings.HasSuffix(r.URL.Path, "/data") {
			r = r.Clone(r.Context()) // documented as an operation of its own
			r.URL.Path += "." + string(f)
		}
	}
	if err := d.checkResponse(r, a.status, a.header, a.body); err != nil {
		t.Errorf("%s %s %d violates the OpenAPI document: %v", r.Method, r.URL, a.status, err)
	}
}

// checkHeaders checks headers in the form "Name: value".
func (a checkedResponse) checkHeaders(t *testing.T, headers ...string) {
	t.Helper()
	for _, h := range headers {
		name, want, _ := strings.Cut(h, ": ")
		if got := a.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// rejection is a request that is rejected with a status, and a part of the message.
type rejection struct {
	name, target string // without a name, the target is the name
	status       int
	message      string
}

func (s *service) checkRejections(t *testing.T, rejections []rejection) {
	t.Helper()
	for _, tt := range rejections {
		if tt.name == "" {
			tt.name = tt.target
		}
		t.Run(tt.name, func(t *testing.T) {
			a := s.get(t, tt.target)
			if a.status != tt.status || !strings.Contains(a.message(t), tt.message) {
				t.Errorf("got %d %s", a.status, a.body)
			}
			a.checkHeaders(t, "Cache-Control: no-store")
		})
	}
}

// checkUnavailable checks the response to a query that cannot be evaluated now.
func (s *service) checkUnavailable(t *testing.T, target string) {
	t.Helper()
	s.library.listErr = herb.Errorf(herb.CodeUnavailable, "away")
	if a := s.get(t, target); a.status != 503 {
		t.Errorf("%s: %d %s", target, a.status, a.body)
	}
}

// checkExample sends the request of the example below a heading of docs/api.md, and compares the
// response with it.
func (s *service) checkExample(t *testing.T, heading string) checkedResponse {
	t.Helper()
	doc, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(doc), "## "+heading)
	m := regexp.MustCompile("(?s)GET (/api/v1/\\S+)\n.*?```json\n(.*?)```").FindStringSubmatch(section)
	if m == nil {
		t.Fatalf("docs/api.md has no example below %q", heading)
	}
	a := s.get(t, m[1])
	var got, want any
	if err := errors.Join(json.Unmarshal([]byte(m[2]), &want), json.Unmarshal([]byte(a.body), &got)); err != nil {
		t.Fatalf("%v: %d %s", err, a.status, a.body)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the example (-docs +got):\n%s\n%s", diff, a.body)
	}
	return a
}
