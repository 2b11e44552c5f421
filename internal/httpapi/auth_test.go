package httpapi_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
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
		{"another scheme", "", []string{"Authorization: Basic " + reader}, 401, bare},
		{"another scheme, key in the URL", "?api_key=" + reader, []string{"Authorization: Basic abc"}, 200, ""},
		{"empty header, key in the URL", "?api_key=" + reader, []string{"X-API-Key: "}, 200, ""},
		{"empty keys", "?api_key=", []string{"X-API-Key: ", "Authorization: Bearer "}, 401, bare},
		{"X-API-Key comes first", "", []string{"X-API-Key: " + unknown, "Authorization: Bearer " + reader}, 401, invalid},
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

func TestListing_openIgnoresKeys(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for _, headers := range [][]string{{}, {"X-API-Key: " + unknown}, {"Authorization: Bearer " + elsewhere}, {"Authorization: Basic x"}} {
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
		{"another scheme", []string{"Authorization: Basic " + writer}, "/plants", 401, bare},
		{"no scheme", []string{"Authorization: " + writer}, "/plants", 401, bare},
		{"key header", []string{"X-API-Key: " + writer}, "/plants", 401, bare},
		{"key in the URL", nil, "/plants?api_key=" + writer, 401, bare},
		{"unknown", []string{"Authorization: Bearer " + unknown}, "/plants", 401, `Bearer error="invalid_token", `},
		{"wrong scope", []string{"Authorization: Bearer " + reader}, "/plants", 403, `Bearer error="insufficient_scope", scope="plants:write", `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request("POST", tt.target, `{"id":1,"name":"Rose"}`, append(tt.headers, "Content-Type: application/json")...)
			body := &countingBody{}
			r.Body = body
			a := s.do(t, r)
			if a.status != tt.status || !strings.HasPrefix(a.header.Get("WWW-Authenticate"), tt.challenge) {
				t.Errorf("got %d, %s", a.status, a.header.Get("WWW-Authenticate"))
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
