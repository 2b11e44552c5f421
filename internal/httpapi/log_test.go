package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"herbarium/internal/httpapi/response"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/access"
	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
)

func TestLogLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testLogLine)
}

func testLogLine(t *testing.T) {
	var seen []response.Observation
	s := newService(t, func(o *httpapi.Options) {
		o.Observe = func(x response.Observation) { seen = append(seen, x) }
	})
	s.library.listing = func() { time.Sleep(3 * time.Millisecond) } // of a fake clock
	w := httptest.NewRecorder()
	s.ServeHTTP(w, request("GET", "/api/v1/garden/catalog/data?sort=title&api_key="+reader, "",
		"X-Request-Id: abc.DEF~1_2-3"))
	var line map[string]any
	if err := json.Unmarshal([]byte(s.log.String()), &line); err != nil {
		t.Fatalf("%v in %s", err, s.log)
	}
	delete(line, "time")
	want := map[string]any{
		"level": "INFO", "msg": "request", "method": "GET", "path": "/api/v1/garden/catalog/data",
		"query": "sort=title&api_key=REDACTED", "status": 200.0, "bytes": float64(w.Body.Len()), "duration_ms": 3.0,
		"client":     "192.0.2.1",
		"request_id": "abc.DEF~1_2-3", "route": "/api/v1/{namespace}/{dataset}/data",
	}
	if diff := cmp.Diff(want, line); diff != "" {
		t.Errorf("log line (-want +got):\n%s", diff)
	}
	s.ServeHTTP(httptest.NewRecorder(), request("BREW", "/nothing", ""))
	wantSeen := []response.Observation{
		{Method: "GET", Route: "/api/v1/{namespace}/{dataset}/data", Status: 200, Bytes: int64(w.Body.Len()),
			Took: 3 * time.Millisecond},
		{Method: "OTHER", Status: 404, Bytes: seen[1].Bytes},
	}
	if diff := cmp.Diff(wantSeen, seen); diff != "" {
		t.Errorf("observations (-want +got):\n%s", diff)
	}
}

// TestLogLine_key logs the ID of a key, in whichever way it is sent, and whether it was verified.
// It logs the client that a trusted proxy names, which is also the one whose invalid keys are
// counted.
func TestLogLine_key(t *testing.T) {
	t.Parallel()
	secret, key := access.Mint("test", nil, published(), time.Time{})
	bad, badKey := access.Mint("revoked", nil, published(), time.Time{})
	const locked, open = "/api/v1/locked/staff/data", "/api/v1/garden/catalog/data"
	for _, tc := range []struct {
		path     string
		header   []string
		id       any
		verified any
	}{
		{locked, nil, nil, nil},
		{locked, []string{"X-API-Key: " + secret}, key.ID, true},
		{locked, []string{"Authorization: Bearer " + secret}, key.ID, true},
		{locked + "?api_key=" + secret, nil, key.ID, true},
		{locked, []string{basic("ana", secret)}, key.ID, true},
		{locked, []string{basic("ana", bad)}, badKey.ID, false},
		{locked, []string{"X-API-Key: " + bad}, badKey.ID, false},
		{locked, []string{"X-API-Key: " + secret[:len(secret)-1]}, nil, nil},
		{open, []string{"X-API-Key: " + secret}, key.ID, false},
		{"/datasets/locked/staff/data", []string{"Cookie: key=" + secret}, key.ID, true},
		{"/page/verify", []string{"Cookie: key=" + secret}, key.ID, true},
	} {
		var clients []admission.Client
		s := newService(t, func(o *httpapi.Options) {
			o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
			o.Keys = verifyFunc(func(_ context.Context, got string, client admission.Client) (herb.Principal, error) {
				clients = append(clients, client)
				if got != secret {
					return herb.Principal{}, herb.Errorf(herb.CodeUnauthenticated, "no such key")
				}
				return herb.Principal{ID: key.ID, Scopes: herb.AllScopes()}, nil
			})
			o.Pages = &verifyingPages{}
		})
		s.get(t, tc.path, append(tc.header, "X-Forwarded-For: 203.0.113.9, 198.51.100.7")...)
		var line map[string]any
		if err := json.Unmarshal([]byte(s.log.String()), &line); err != nil {
			t.Fatalf("%v in %s", err, s.log)
		}
		if line["key_id"] != tc.id || line["key_verified"] != tc.verified || line["client"] != "198.51.100.7" ||
			strings.Contains(s.log.String(), secret[16:]) {
			t.Errorf("%s %q: want key %v, verified %v; got %s", tc.path, tc.header, tc.id, tc.verified, s.log)
		}
		if len(clients) > 1 || len(clients) == 1 &&
			clients[0] != admission.ClientOf(netip.MustParseAddr("198.51.100.7")) {
			t.Errorf("%s %q: verified for %v", tc.path, tc.header, clients)
		}
	}
}

type verifyFunc func(ctx context.Context, secret string, client admission.Client) (herb.Principal, error)

func (f verifyFunc) Verify(ctx context.Context, secret string, client admission.Client) (herb.Principal, error) {
	return f(ctx, secret, client)
}

// verifyingPages has a page that verifies the key in the cookie twice.
type verifyingPages struct{}

func (p *verifyingPages) Handlers() map[string]httpapi.PageHandler {
	return map[string]httpapi.PageHandler{
		"GET /page/verify": {Serve: func(w *httpapi.Page, r *http.Request) error {
			_, err := w.VerifyKey(p.Key(r))
			_, again := w.VerifyKey(p.Key(r))
			return errors.Join(err, again)
		}},
	}
}

func (p *verifyingPages) Missing(*httpapi.Page, *http.Request) error {
	return herb.Errorf(herb.CodeNotFound, "there is no such page")
}

func (p *verifyingPages) Failure(*httpapi.Page, *http.Request, int, string) error { return nil }

func (p *verifyingPages) Key(r *http.Request) string {
	c, err := r.Cookie("key")
	if err != nil {
		return ""
	}
	return c.Value
}

func TestLogLevels(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	s.library.datasetsErr = errors.New("broken")
	for path, level := range map[string]string{
		"/healthz": "DEBUG", "/api/v1/garden/catalog/data": "INFO", "/nothing": "INFO", "/api/v1": "ERROR",
	} {
		s.get(t, path)
		if !strings.Contains(s.log.String(), `"level":"`+level+`","msg":"request","method":"GET","path":"`+path+`"`) {
			t.Errorf("%s is not logged at level %s:\n%s", path, level, s.log)
		}
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	long := strings.Repeat("x", 128)
	for _, id := range []string{"a", "A-b_c.d~9", long} {
		if got := s.get(t, "/healthz", "X-Request-Id: "+id).header.Get("X-Request-Id"); got != id {
			t.Errorf("%q became %q", id, got)
		}
	}
	fresh := map[string]bool{}
	for _, id := range []string{"", "a b", "é", long + "x", `a"b`, "a/b", reader, "x" + reader} {
		got := s.get(t, "/healthz", "X-Request-Id: "+id).header.Get("X-Request-Id")
		if got == id || got == "" || fresh[got] {
			t.Errorf("%q became %q", id, got)
		}
		fresh[got] = true
		if !strings.Contains(s.log.String(), got) {
			t.Errorf("%q is not in the log", got)
		}
	}
	if got := s.get(t, "/healthz", "X-Request-Id: a", "X-Request-Id: b").header["X-Request-Id"]; len(got) != 1 ||
		got[0] == "a" {
		t.Errorf("two ids became %q", got)
	}
}

// TestLog_secretsRedacted puts secrets wherever a careless client might, and searches log and
// responses for them.
func TestLog_secretsRedacted(t *testing.T) {
	t.Parallel()
	const plain = "correct-horse-battery" // a key chosen by the operator has no recognizable prefix
	const list = "/api/v1/locked/staff/data"
	s := newService(t, nil)
	s.library.listErr = errors.New("cannot list for " + reader)
	for _, tt := range []struct {
		target  string
		headers []string
	}{
		{list, []string{"X-API-Key: " + reader}},
		{list, []string{"Authorization: Bearer " + plain, "Cookie: session=" + plain}},
		{list, []string{"Authorization: Basic " + plain, "Proxy-Authorization: " + plain,
			"Referer: https://x/?api_key=" + plain}},
		{list, []string{basic("ana", plain)}},
		{list + "?title=" + url.QueryEscape(basic("ana", reader)), nil},
		{"/" + url.PathEscape(basic("ana", reader)), nil},
		{list + "?api_key=" + reader, nil},
		{list + "?api_key=" + plain, nil},
		{list + "?api%5Fkey=" + plain, nil},
		{list + "?%61pi_key=" + plain + "&page=2", nil},
		{list + "?API_KEY=" + plain, nil},
		{list + "?apikey=" + plain, nil},
		{list + "?apikye=" + plain, nil},
		{list + "?api_ky=" + plain, nil},
		{list + "?api%255Fkey=" + plain, nil},
		{list + "?access_token=" + plain + "&Password=" + plain + "&client_secret=" + plain + "&auth=" + plain, nil},
		{list + "?title=" + reader, nil},
		{list + "?title=%68erb_reader0000_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", nil},
		{list + "?title=Bearer+" + reader, nil},
		{list + "?" + reader, nil},
		{list + "?" + reader + "=1", nil},
		{list + "?x=%zz&api_key=" + plain, nil},
		{list + "?api_key=" + plain + "%zz", nil},
		{list + "?page=1;api_key=" + plain, nil},
		{list + "?title=https%3A%2F%2Fexample.org%2F%3Fpage%3D1%26api_key%3D" + plain, nil},
		{"/nothing?api_key=" + plain, nil},
		{"/plants?api_key=" + plain, nil},
		{"/" + reader, nil},
		{"/api/v1/locked/" + reader + "/data", nil},
		{"/healthz", []string{"X-Request-Id: " + reader}},
	} {
		s.get(t, tt.target, tt.headers...)
	}
	s.do(t, request(reader, "/healthz", ""))
	s.do(t, creation(`{"id":1,"name":"x"}`, "Content-Type: "+reader))
	log := s.log.String()
	encoded := strings.TrimPrefix(basic("ana", reader), "Authorization: Basic ")
	for _, secret := range []string{plain, reader[10:], writer[10:], "ABCDEFGHIJ", encoded[:20], encoded[20:]} {
		if i := strings.Index(log, secret); i >= 0 {
			t.Errorf("%q is in the log: %s", secret, log[max(i-200, 0):i+len(secret)])
		}
	}
	for _, want := range []string{
		`"query":"api_key=REDACTED"`, `"query":"api%5Fkey=REDACTED"`, `"query":"MALFORMED"`, `"path":"/REDACTED"`,
		"cannot list for REDACTED",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s", want)
		}
	}
}

func TestLog_othersNotRedacted(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	s.get(t, "/api/v1/garden/catalog/data?title=a%26b;c=d&category=fern&page=2&sort=price")
	s.get(t, "/api/v1/garden/herb_garden/data")
	for _, want := range []string{`"query":"title=a%26b;c=d&category=fern&page=2&sort=price"`,
		`"path":"/api/v1/garden/herb_garden/data"`} {
		// The log is JSON, which escapes &.
		if !strings.Contains(strings.ReplaceAll(s.log.String(), `\u0026`, "&"), want) {
			t.Errorf("the log lacks %s:\n%s", want, s.log)
		}
	}
}

func TestLog_truncated(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	s.get(t, "/"+strings.Repeat("p", 30000)+"?title="+strings.Repeat("q", 30000))
	if n := len(s.log.String()); n > 6000 {
		t.Errorf("a log line has %d bytes", n)
	}
}
