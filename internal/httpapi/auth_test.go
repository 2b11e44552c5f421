package httpapi_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/httpapi/publishing"
)

func TestLockedListing(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	const bare = `Bearer realm="herbarium"`
	const invalid = `Bearer error="invalid_token", error_description="there is no such key; 'keys create' makes one", realm="herbarium"`
	const scope = `Bearer error="insufficient_scope", scope="data:read:locked/staff", error_description="`
	tests := []struct {
		name, query string
		headers     []string
		status      int
		challenge   string // prefix of the challenge
	}{
		{"no key", "", nil, 401, bare},
		{"X-API-Key", "", []string{"X-API-Key: " + reader}, 200, ""},
		{"Authorization", "", []string{"Authorization: Bearer " + reader}, 200, ""},
		{"scheme in another case", "", []string{"Authorization: bEARER  " + reader}, 200, ""},
		{"api_key", "?api_key=" + reader, nil, 200, ""},
		{"api_key with an encoded name", "?api%5Fkey=" + reader, nil, 200, ""},
		{"key for the dataset", "", []string{"X-API-Key: " + oneReader}, 200, ""},
		{"key for the namespace", "", []string{"X-API-Key: " + herdReader}, 200, ""},
		{"key for another dataset", "", []string{"X-API-Key: " + elsewhere}, 403, scope},
		{"key for writing", "", []string{"Authorization: Bearer " + writer}, 403, scope},
		{"unknown key", "", []string{"X-API-Key: " + unknown}, 401, invalid},
		{"unknown key in the URL", "?api_key=" + unknown, nil, 401, invalid},
		{"nonsense", "", []string{"Authorization: Bearer x"}, 401, invalid},
		{"another scheme", "", []string{"Authorization: Digest " + reader}, 401, bare},
		{"Basic", "", []string{basic("", reader)}, 200, ""},
		{"Basic with a user name", "", []string{basic("ana", reader)}, 200, ""},
		{"Basic in another case", "", []string{strings.Replace(basic("ana", reader), "Basic", "bASIC", 1)}, 200, ""},
		{"Basic with blanks around the key", "", []string{basic("ana", " "+reader+" ")}, 200, ""},
		{"Basic with the key as user name", "", []string{basic(reader, "")}, 401, bare},
		{"Basic with two colons", "", []string{basic("a", "b:"+reader)}, 401, invalid},
		{"Basic with an unknown key", "", []string{basic("ana", unknown)}, 401, invalid},
		{"Basic with a key for another dataset", "", []string{basic("ana", elsewhere)}, 403, scope},
		{"Basic, not encoded", "", []string{"Authorization: Basic " + reader}, 401, bare},
		{"Basic without a password, key in the URL", "?api_key=" + reader, []string{basic("ana", "")}, 200, ""},
		{"malformed Basic, key in the URL", "?api_key=" + reader, []string{"Authorization: Basic abc"}, 200, ""},
		{"X-API-Key before Basic", "", []string{"X-API-Key: " + unknown, basic("ana", reader)}, 401, invalid},
		{"Basic before the URL", "?api_key=" + unknown, []string{basic("ana", reader)}, 200, ""},
		{"empty header, key in the URL", "?api_key=" + reader, []string{"X-API-Key: "}, 200, ""},
		{"empty keys", "?api_key=", []string{"X-API-Key: ", "Authorization: Bearer "}, 401, bare},
		{"X-API-Key comes first", "", []string{"X-API-Key: " + unknown, "Authorization: Bearer " + reader},
			401, invalid},
		{"Authorization comes second", "?api_key=" + unknown, []string{"Authorization: Bearer " + reader}, 200, ""},
		{"key before query", "?page=0", nil, 401, bare},
		{"key before malformed query", "?api_key=" + reader + "&x=%zz", nil, 400, ""},
		{"query after key", "?page=0", []string{"X-API-Key: " + reader}, 400, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := s.get(t, "/api/v1/locked/staff/data"+tt.query, tt.headers...)
			if a.status != tt.status {
				t.Fatalf("got %d %s", a.status, a.body)
			}
			got := a.header.Get("WWW-Authenticate")
			if !strings.HasPrefix(got, tt.challenge) || (got == "") != (tt.challenge == "") {
				t.Errorf("WWW-Authenticate is %s", got)
			}
			if tt.challenge == bare && got != bare {
				t.Errorf("the challenge says too much: %s", got)
			}
			if strings.Contains(a.body, "herb_") {
				t.Errorf("the answer repeats the key: %s", a.body)
			}
		})
	}
}

// basic returns the header with credentials of HTTP Basic.
func basic(user, password string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// TestBasicChallenge checks that programs are asked for a password, and browsers are not: they
// would show a dialog.
func TestBasicChallenge(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) {
		o.Pages = &verifyingPages{}
		o.Publishing = &publishing.Services{}
	})
	const challenge = `Basic realm="herbarium"`
	const listing = "/api/v1/locked/staff/data"
	for _, tt := range []struct {
		name, target string
		headers      []string
		asks         bool
	}{
		{"program", listing, nil, true},
		{"Excel", listing, []string{
			"User-Agent: Microsoft.Data.Mashup (https://go.microsoft.com/fwlink/?LinkID=304225)"}, true},
		{"Excel, from the web", listing, []string{"User-Agent: Mozilla/4.0 (compatible; ms-office; MSOffice 16)"},
			true},
		{"wget", listing, []string{"User-Agent: Wget/1.21.3", "Accept: */*"}, true},
		{"wrong password", listing, []string{basic("ana", unknown)}, true},
		{"export", listing + ".csv", nil, true},
		{"kept file", "/api/v1/locked/staff/source", nil, true},
		{"key without the scope", listing, []string{basic("ana", elsewhere)}, false},
		{"browser", listing, []string{"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36",
			"Accept: text/html"}, false},
		{"script of a browser", listing, []string{"Sec-Fetch-Mode: cors"}, false},
		{"script of another site", listing, []string{"Origin: https://example.org"}, false},
		{"page", "/page/verify", nil, false},
		{"listing of a page", "/datasets/locked/staff/data", nil, false},
	} {
		a := s.get(t, tt.target, tt.headers...)
		got := a.header["Www-Authenticate"]
		if asks := slices.Contains(got, challenge); asks != tt.asks || a.status != 401 && a.status != 403 ||
			!strings.HasPrefix(got[0], "Bearer ") {
			t.Errorf("%s: %d with the challenges %q", tt.name, a.status, got)
		}
	}
}

// TestPublish_basicFromAnotherSite checks that no form of another site publishes with the password
// that a browser knows.
func TestPublish_basicFromAnotherSite(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) { o.Publishing = &publishing.Services{} })
	const target = "/api/v1/shop/prices/source"
	for _, tt := range []struct {
		key, site string
		status    int
	}{
		{basic("ana", publisher), "cross-site", 401},
		{basic("ana", publisher), "same-origin", 400},
		{basic("ana", publisher), "", 400},
		{"Authorization: Bearer " + publisher, "cross-site", 400},
		{"X-API-Key: " + publisher, "cross-site", 400},
	} {
		headers := []string{tt.key, "Content-Type: text/plain"}
		if tt.site != "" {
			headers = append(headers, "Sec-Fetch-Site: "+tt.site)
		}
		if a := s.do(t, request("POST", target, "a,b\n", headers...)); a.status != tt.status {
			t.Errorf("%s from %q: got %d %s", tt.key[:22], tt.site, a.status, a.body)
		}
	}
}

func TestListing_openIgnoresKeys(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for _, headers := range [][]string{{}, {"X-API-Key: " + unknown}, {"Authorization: Bearer " + elsewhere},
		{"Authorization: Basic x"}} {
		if a := s.get(t, "/api/v1/garden/catalog/data", headers...); a.status != 200 {
			t.Errorf("%v gives %d", headers, a.status)
		}
	}
	if n := s.keys.Asked.Load(); n != 0 {
		t.Errorf("%d keys were verified", n)
	}
}

func TestDescriptor_open(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	if a := s.get(t, "/api/v1/locked/staff"); a.status != 200 || !strings.Contains(a.body, `"access":"key"`) {
		t.Errorf("got %d %s", a.status, a.body)
	}
}

func TestCreatePlant_authorization(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	const bare = `Bearer realm="herbarium"`
	tests := []struct {
		name      string
		headers   []string
		target    string
		status    int
		challenge string
	}{
		{"nothing", nil, "/plants", 401, bare},
		{"another scheme", []string{"Authorization: Digest " + writer}, "/plants", 401, bare},
		{"Basic", []string{basic("ana", writer)}, "/plants", 401, bare},
		{"no scheme", []string{"Authorization: " + writer}, "/plants", 401, bare},
		{"key header", []string{"X-API-Key: " + writer}, "/plants", 401, bare},
		{"key in the URL", nil, "/plants?api_key=" + writer, 401, bare},
		{"unknown", []string{"Authorization: Bearer " + unknown}, "/plants", 401, `Bearer error="invalid_token", `},
		{"wrong scope", []string{"Authorization: Bearer " + reader}, "/plants", 403,
			`Bearer error="insufficient_scope", scope="plants:write", `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request("POST", tt.target, `{"id":1,"name":"Rose"}`,
				append(tt.headers, "Content-Type: application/json")...)
			body := &countingBody{}
			r.Body = body
			a := s.do(t, r)
			if challenges := a.header["Www-Authenticate"]; a.status != tt.status || len(challenges) != 1 ||
				!strings.HasPrefix(challenges[0], tt.challenge) {
				t.Errorf("got %d, %q", a.status, challenges)
			}
			if body.reads > 0 {
				t.Error("the body was read")
			}
		})
	}
	if n := len(s.plants.records); n != 0 {
		t.Errorf("%d plants were created", n)
	}
}

// countingBody counts reads.
type countingBody struct{ reads int }

func (b *countingBody) Read([]byte) (int, error) { b.reads++; return 0, herb.Invalidf("read") }
func (b *countingBody) Close() error             { return nil }
