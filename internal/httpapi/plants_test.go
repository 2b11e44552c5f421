package httpapi_test

import (
	"crypto/sha256"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/plants"
	"herbarium/internal/store"
)

// create sends a valid request to create a plant.
func (s *service) create(t *testing.T, body string, headers ...string) checkedResponse {
	t.Helper()
	return s.do(t, creation(body, headers...))
}

func creation(body string, headers ...string) *http.Request {
	r := request("POST", "/plants", body, "Authorization: Bearer "+writer)
	if !strings.HasPrefix(strings.Join(headers, ""), "Content-Type") {
		headers = append(headers, "Content-Type: application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	return r
}

func TestCreatePlant(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, body, want string }{
		{"with a tag", `{"id":1,"name":"Rose","tag":"shrub"}`, `{"name":"Rose","tag":"shrub"}`},
		{"without a tag", `{"id":2,"name":"Rose"}`, `{"name":"Rose"}`},
		{"with an empty tag", `{"id":3,"name":"Rose","tag":""}`, `{"name":"Rose","tag":""}`},
		{"not escaped for HTML", `{"id":4,"name":"<b>&amp;</b>"}`, `{"name":"<b>&amp;</b>"}`},
		{"beyond ASCII", `{"id":5,"name":"Çiçek 🌱"}`, `{"name":"Çiçek 🌱"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, nil)
			a := s.create(t, tt.body)
			if a.status != 200 || a.body != tt.want {
				t.Errorf("got %d %s", a.status, a.body)
			}
			if got := a.header.Get("Cache-Control"); got != "no-store" {
				t.Errorf("Cache-Control is %q", got)
			}
			if _, ok := a.header["Idempotency-Replayed"]; ok {
				t.Error("the first response is marked as a replay")
			}
			if _, meta := s.get(t, "/api/v1/store/plants/data").listing(t); meta.Total != 1 {
				t.Errorf("%d plants are listed", meta.Total)
			}
		})
	}
}

func TestCreatePlant_invalid(t *testing.T) {
	t.Parallel()
	const plant = `{"id":1,"name":"Rose"}`
	tests := []struct {
		name, body, header, message string
	}{
		{"no content type", plant, "Content-Type-Options: x", "not 0 times; send Content-Type: application/json"},
		{"another content type", plant, "Content-Type: text/plain", "text/plain"},
		{"a form", plant, "Content-Type: application/x-www-form-urlencoded", "application/json"},
		{"another charset", plant, "Content-Type: application/json; charset=latin1", "latin1"},
		{"malformed content type", plant, "Content-Type: application/json; charset", "application/json"},
		{"compressed", plant, "Content-Encoding: gzip", "gzip"},
		{"not JSON", `{"id":1`, "X-A: b", ""},
		{"empty", "", "X-A: b", ""},
		{"incomplete", `{"name":"Rose"}`, "X-A: b", ""},
		{"too large", `{"id":1,"name":"Rose","x":"` + strings.Repeat("x", plants.MaxBody) + `"}`, "X-A: b",
			"larger than 1 MiB"},
		{"empty idempotency key", plant, "Idempotency-Key: ", "1 to 255"},
		{"empty quoted idempotency key", plant, `Idempotency-Key: ""`, "1 to 255"},
		{"long idempotency key", plant, "Idempotency-Key: " + strings.Repeat("k", 256), "1 to 255"},
		{"idempotency key with a space", plant, "Idempotency-Key: a b", "1 to 255"},
		{"non-ASCII idempotency key", plant, "Idempotency-Key: é", "1 to 255"},
		{"unterminated idempotency key", plant, `Idempotency-Key: "a`, "1 to 255"},
		{"trailing data after the idempotency key", plant, `Idempotency-Key: "a"b`, "1 to 255"},
		{"invalid escape in the idempotency key", plant, `Idempotency-Key: "a\b"`, "1 to 255"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, nil)
			a := s.create(t, tt.body, tt.header)
			if a.status != 400 || !strings.Contains(a.message(t), tt.message) {
				t.Errorf("got %d %.300s", a.status, a.body)
			}
			if len(s.plants.records) != 0 {
				t.Error("a plant was created")
			}
		})
	}
	t.Run("too large without saying so", func(t *testing.T) {
		t.Parallel()
		s := newService(t, nil)
		r := creation(`{"id":1,"name":"Rose","x":"` + strings.Repeat("x", plants.MaxBody) + `"}`)
		r.ContentLength = -1
		if a := s.do(t, r); a.status != 400 || a.header.Get("Connection") != "close" {
			t.Errorf("got %d %s", a.status, a.body)
		}
	})
	t.Run("too large and not read", func(t *testing.T) {
		t.Parallel()
		s := newService(t, nil)
		r, body := creation("{}"), &countingBody{}
		r.Body, r.ContentLength = body, plants.MaxBody+1
		if a := s.do(t, r); a.status != 400 || body.reads > 0 {
			t.Errorf("got %d after %d reads", a.status, body.reads)
		}
	})
	t.Run("two idempotency keys", func(t *testing.T) {
		t.Parallel()
		s := newService(t, nil)
		if a := s.create(t, plant, "Content-Type: application/json", "Idempotency-Key: a",
			"Idempotency-Key: a"); a.status != 400 {
			t.Errorf("got %d %s", a.status, a.body)
		}
	})
	t.Run("two content types", func(t *testing.T) {
		t.Parallel()
		s := newService(t, nil)
		if a := s.create(t, plant, "Content-Type: application/json",
			"Content-Type: application/json"); a.status != 400 {
			t.Errorf("got %d %s", a.status, a.body)
		}
	})
}

func TestCreatePlant_valid(t *testing.T) {
	t.Parallel()
	for _, header := range []string{
		"Content-Type: application/json; charset=utf-8", `Content-Type: Application/JSON;charset="UTF-8"`,
		"Content-Type: application/json; profile=x", "Content-Encoding: identity",
	} {
		s := newService(t, nil)
		if a := s.create(t, `{"id":1,"name":"Rose"}`, header); a.status != 200 {
			t.Errorf("%s gives %d %s", header, a.status, a.body)
		}
	}
}

func TestCreatePlant_duplicate(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	const body = `{"id":1,"name":"Rose"}`
	first := s.create(t, body, `Idempotency-Key: "a\"\\b"`)
	second := s.create(t, body, `Idempotency-Key: a"\b`)
	if first.status != 200 || second.status != 200 || first.body != second.body {
		t.Errorf("got %d %s and %d %s", first.status, first.body, second.status, second.body)
	}
	if got := second.header.Get("Idempotency-Replayed"); got != "true" {
		t.Errorf("Idempotency-Replayed is %q", got)
	}
	want := store.Creation{
		Plant:          herb.NewPlant{ID: 1, Plant: herb.Plant{Name: "Rose"}},
		IdempotencyKey: &store.IdempotencyKey{Credential: "writer0000", Key: `a"\b`, Body: sha256.Sum256([]byte(body))},
	}
	if diff := cmp.Diff(want, s.plants.lastCreation()); diff != "" {
		t.Errorf("creation (-want +got):\n%s", diff)
	}
}

// TestIdempotencyKey_documents checks that all documents make the same promise about idempotency
// keys.
func TestIdempotencyKey_documents(t *testing.T) {
	t.Parallel()
	for file, wants := range map[string][]string{
		"../../docs/api.md":            {"1 to 255 visible ASCII", "for at least 24 hours"},
		"testdata/golden/openapi.json": {`"maxLength": 255`, "for at least 24 hours"},
	} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		i := strings.Index(text, "Idempotency-Key")
		text = strings.Join(strings.Fields(text[i:i+700]), " ")
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q about the Idempotency-Key: %s", file, want, text)
			}
		}
	}
}
