package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"herbarium/internal/access"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/web"
)

const locked = "/datasets/locked/staff"

// post submits a form as a browser does. more are names and values of headers.
func (s *site) post(t *testing.T, path string, form url.Values, more ...string) reply {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://herbarium.test"+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Origin", "http://herbarium.test")
	for i := 0; i+1 < len(more); i += 2 {
		r.Header.Set(more[i], more[i+1])
	}
	return s.do(t, r)
}

// TestErrors_json checks that clients that do not accept HTML get an Error body from pages, too.
func TestErrors_json(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for path, want := range map[string]string{
		locked:                                `{"error":401,"message":"dataset locked/staff requires a key; `,
		locked + "/files/x.png":               `{"error":401,"message":"dataset locked/staff requires a key; `,
		"/datasets/garden/catalog?page=0":     `{"error":400,"message":"page is`,
		"/datasets/garden/catalog/map?page=0": `{"error":404,"message":"`,
		"/datasets/garden/nothing":            `{"error":404,"message":"`,
		"/?page=0":                            `{"error":400,"message":"page is`,
	} {
		for _, accept := range []string{"*/*", "application/json"} {
			a := s.get(t, path, "Accept", accept)
			if a.header.Get("Content-Type") != "application/json" || !strings.HasPrefix(a.body, want) {
				t.Errorf("%s for %s: %d %v %.200s", path, accept, a.status, a.header, a.body)
			}
			if (a.status == 401) != strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("%s: %v", path, a.header)
			}
		}
	}
	a := s.post(t, locked+"/key", url.Values{"key": {"herb_unknown"}}, "Accept", "*/*")
	if a.status != 401 || !strings.HasPrefix(a.body, `{"error":401,"message":"`) {
		t.Errorf("unknown key: %d %.200s", a.status, a.body)
	}
}

// TestKey enters a key, uses it and deletes it.
func TestKey(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	a := s.get(t, locked+"?room=7")
	if a.status != 401 || !strings.Contains(a.header.Get("WWW-Authenticate"), "Bearer") ||
		a.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("without a key: %d %v", a.status, a.header)
	}
	if strings.Contains(a.body, "Secretive") {
		t.Fatal("the page shows values to everyone")
	}
	if len(all(parse(t, a.body), has("role", "alert"))) != 0 {
		t.Error("the form reports an error before a key was entered")
	}
	form := one(t, one(t, parse(t, a.body), tag("main", "")), tag("form", ""))
	back := attr(all(form, tag("input", ""))[0], "value")
	if attr(form, "method") != "post" || attr(form, "action") != locked+"/key" || back != "room=7" {
		t.Errorf("the form is %v, back to %q", form.Attr, back)
	}
	a = s.post(t, locked+"/key", url.Values{"key": {" " + staffKey + " "}, "back": {back}})
	if a.status != 303 || a.header.Get("Location") != locked+"?room=7" {
		t.Fatalf("with the key: %d %v", a.status, a.header)
	}
	cookie := a.header.Get("Set-Cookie")
	if want := "herbarium_key=" + staffKey + "; Path=" + locked + "; HttpOnly; SameSite=Strict"; cookie != want {
		t.Errorf("the cookie is %s", cookie)
	}
	kept := "herbarium_key=" + staffKey
	for _, path := range []string{locked + "?room=7", locked + "/data", locked + "/data.csv",
		locked + "/facets?_facet=name"} {
		if a := s.get(t, path, "Cookie", kept); a.status != 200 || !strings.Contains(a.header.Get("Vary"), "Cookie") ||
			!strings.Contains(a.header.Get("Cache-Control"), "private") {
			t.Errorf("%s with the cookie: %d %v", path, a.status, a.header)
		}
	}
	if a := s.get(t, locked, "Cookie", kept); !strings.Contains(a.body, "Secretive Ana") ||
		strings.Contains(a.body, staffKey) {
		t.Error("the page lacks the records, or shows the key")
	}
	for _, path := range []string{locked + "/about", locked + "/api", locked + "/versions"} {
		if a := s.get(t, path); a.status != 200 || strings.Contains(a.body, "Secretive") {
			t.Errorf("%s without a key: %d, and it shows values", path, a.status)
		}
		if a := s.get(t, path, "Cookie", kept); !strings.Contains(a.body, "Secretive") {
			t.Errorf("%s with the key shows no values", path)
		}
	}
	a = s.post(t, locked+"/key/forget", nil)
	if a.status != 303 || !strings.Contains(a.header.Get("Set-Cookie"), "herbarium_key=; Path="+locked+"; Max-Age=0") {
		t.Errorf("deleting the key: %d %v", a.status, a.header)
	}
}

func TestKey_rejected(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, tt := range []struct {
		name, key string
		status    int
		more      []string
	}{
		{"unknown", "herb_nothing", 401, nil},
		{"empty", "  ", 401, nil},
		{"of another dataset", otherKey, 403, nil},
		{"sent by another site", staffKey, 403, []string{"Origin", "https://evil.example"}},
		{"sent by another site, newer browser", staffKey, 403, []string{"Sec-Fetch-Site", "cross-site"}},
		{"sent by a sandbox", staffKey, 403, []string{"Origin", "null"}},
	} {
		a := s.post(t, locked+"/key", url.Values{"key": {tt.key}}, tt.more...)
		if a.status != tt.status || a.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %v", tt.name, a.status, a.header)
		}
		if strings.TrimSpace(tt.key) != "" && strings.Contains(a.body, tt.key) {
			t.Errorf("%s: the page repeats the key", tt.name)
		}
	}
	for _, key := range []string{"herb_nothing", otherKey} {
		if a := s.get(t, locked, "Cookie", "herbarium_key="+key); a.status != 401 && a.status != 403 ||
			strings.Contains(a.body, "Secretive") {
			t.Errorf("a cookie with %s: %d", key, a.status)
		}
	}
	if a := s.post(t, locked+"/key/forget", nil, "Sec-Fetch-Site", "cross-site"); a.status != 403 {
		t.Errorf("another site can delete the key: %d", a.status)
	}
	if a := s.post(t, locked+"/key", url.Values{"key": {strings.Repeat("x", 40_000)}}); a.status != 400 {
		t.Errorf("a giant form gives %d", a.status)
	}
}

func TestKey_back(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, back := range []string{"//evil.example", "https://evil.example/", "\r\nSet-Cookie: a=b", "%zz", "/../../x"} {
		a := s.post(t, locked+"/key", url.Values{"key": {staffKey}, "back": {back}})
		if to := a.header.Get("Location"); a.status != 303 || to != locked && !strings.HasPrefix(to, locked+"?") ||
			strings.ContainsAny(to, "\r\n") {
			t.Errorf("%q leads to %q", back, to)
		}
	}
}

func TestKey_public(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *web.Options, _ *apitest.Library) { o.PublicURL = "https://example.org/open" })
	a := s.post(t, locked+"/key", url.Values{"key": {staffKey}}, "Origin", "https://example.org")
	want := "herbarium_key=" + staffKey + "; Path=/open" + locked + "; HttpOnly; Secure; SameSite=Strict"
	if a.status != 303 || a.header.Get("Set-Cookie") != want || a.header.Get("Location") != "/open"+locked {
		t.Errorf("got %d %v", a.status, a.header)
	}
}

// TestSiteKey enters a key for all pages and deletes it.
func TestSiteKey(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	if a := s.get(t, "/key"); a.status != 200 || !strings.Contains(a.body, `action="/key"`) {
		t.Errorf("the form: %d", a.status)
	}
	for key, status := range map[string]int{"": 401, "herb_nothing": 401, staffKey: 303} {
		a := s.post(t, "/key", url.Values{"key": {key}})
		want := ""
		if status == 303 {
			want = "herbarium_key=" + staffKey + "; Path=/; HttpOnly; SameSite=Strict"
		}
		if a.status != status || a.header.Get("Set-Cookie") != want {
			t.Errorf("%q: %d %v", key, a.status, a.header)
		}
	}
	if a := s.post(t, "/key", url.Values{"key": {staffKey}}, "Origin", "https://evil.example"); a.status != 403 {
		t.Errorf("another site can set the key: %d", a.status)
	}
	for _, path := range []string{"/key/forget", locked + "/key/forget"} {
		a := s.post(t, path, nil)
		cookies := strings.Join(a.header.Values("Set-Cookie"), "\n")
		if a.status != 303 || !strings.Contains(cookies, "herbarium_key=; Path=/; Max-Age=0") {
			t.Errorf("%s: %d %s", path, a.status, cookies)
		}
	}
}

// TestMisplacedKey sends a key in the URL of a page. The page, its links and redirects do not
// repeat it.
func TestMisplacedKey(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	secret, _ := access.Mint("test", nil, time.Now(), time.Time{})
	for _, path := range []string{
		"/?search=" + secret, "/?namespace=" + secret, "/datasets/" + secret, "/datasets/garden/catalog?title=" +
			secret, "/datasets/garden/catalog?search=" + secret,
		"/datasets/locked/staff?name=" + secret, "/datasets/garden/catalog/data?title=" + secret,
		"/datasets/garden/catalog/facets?_facet=title&_values=" + secret,
		"/datasets/garden/catalog/about?x=" + secret, "/datasets/garden/catalog?api_key=" + secret, "/" + secret,
		"/datasets/garden/catalog/changes?api_key=" + secret, "/datasets/garden/catalog/history?id=1&api_key=" + secret,
		"/datasets/garden/catalog/map?api_key=" + secret,
	} {
		if a := s.get(t, path); strings.Contains(a.body+fmt.Sprint(a.header), secret[16:]) ||
			a.status == http.StatusOK {
			t.Errorf("%s repeats the key: %d %v %s", path, a.status, a.header, a.body)
		}
	}
}
