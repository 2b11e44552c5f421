package httpapi_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"herbarium/internal/herb"
)

// TestCompressedBodiesAreCached changes records without changing the version, which no library
// does, to see which responses come from the cache.
func TestCompressedBodiesAreCached(t *testing.T) {
	t.Parallel()
	const path = "/api/v1/garden/catalog/data?sort=title"
	for _, coding := range []string{"gzip", "zstd"} {
		s := newService(t, nil)
		accept := "Accept-Encoding: " + coding
		before := s.get(t, path, accept).body
		d, records := catalog()
		for _, rec := range records {
			rec[1] = "Changed"
		}
		s.library.put(d, records)
		if got := s.get(t, path, accept).body; got != before {
			t.Errorf("%s: a body was not cached", coding)
		}
		if got := s.get(t, path).body; got == before {
			t.Errorf("%s: an uncompressed body was cached", coding)
		}
		if got := s.get(t, path, "Accept-Encoding: gzip;q=0.1, zstd;q=0.2, "+coding+";q=0").body; got == before {
			t.Errorf("%s: another coding has the same body", coding)
		}
		d.Version = "v2"
		s.library.put(d, records[:30])
		if _, meta := s.get(t, path, accept).listing(t); meta.Total != 30 {
			t.Errorf("%s: a new version lists %d records", coding, meta.Total)
		}
	}
}

// repeated sends a request twice, so that the last response comes from the cache if it may.
func (s *service) repeated(t *testing.T, method, target string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	s.ServeHTTP(httptest.NewRecorder(), request(method, target, "", headers...))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, request(method, target, "", headers...))
	return w
}

func TestCachedBody_headers(t *testing.T) {
	t.Parallel()
	const path, accept = "/api/v1/garden/catalog/data", "Accept-Encoding: gzip"
	s := newService(t, nil)
	first := s.get(t, path, accept)
	cached := s.repeated(t, "GET", path, accept)
	head := s.repeated(t, "HEAD", path, accept)
	for _, name := range []string{"Content-Encoding", "Content-Length", "Content-Type", "Etag", "Vary", "Link",
		"Cache-Control"} {
		want := first.header.Get(name)
		if cached.Header().Get(name) != want || head.Header().Get(name) != want || want == "" {
			t.Errorf("%s is %q, then %q, and %q for HEAD", name, want, cached.Header().Get(name),
				head.Header().Get(name))
		}
	}
	if unpack(t, cached) != first.body || head.Body.Len() != 0 {
		t.Error("the body is another")
	}
	if w := s.repeated(t, "GET", path, accept, "If-None-Match: "+first.header.Get("Etag")); w.Code != 304 ||
		w.Body.Len() != 0 {
		t.Errorf("got %d with %d bytes", w.Code, w.Body.Len())
	}
}

// TestCachedBody_otherDataset lists datasets with the same version and query.
func TestCachedBody_otherDataset(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	d, records := catalog()
	d.Ref, d.Access = herb.Ref{Namespace: "locked", Name: "catalog"}, herb.AccessKey
	s.library.put(d, records[:20])
	const accept = "Accept-Encoding: gzip"
	if w := s.repeated(t, "GET", "/api/v1/locked/catalog/data", accept, "X-API-Key: "+reader); w.Code != 200 {
		t.Fatal(w.Code)
	}
	if w := s.repeated(t, "GET", "/api/v1/locked/catalog/data", accept); w.Code != 401 {
		t.Errorf("without a key: %d", w.Code)
	}
	for range 3 {
		if _, meta := s.get(t, "/api/v1/garden/catalog/data", accept).listing(t); meta.Total != 60 {
			t.Fatalf("the body of another dataset: %d records", meta.Total)
		}
	}
}

// TestCachedBody_mutable lists plants, which may change between the reading of their version and of
// their records.
func TestCachedBody_mutable(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for i := range 9 {
		s.create(t, `{"id":`+string(rune('1'+i))+`,"name":"Rosa canina"}`)
	}
	const path, accept = "/api/v1/store/plants/data", "Accept-Encoding: gzip"
	s.repeated(t, "GET", path, accept)
	s.plants.records[0][1] = "Rosa gallica"
	if data, _ := s.get(t, path, accept).listing(t); data[0]["name"] != "Rosa gallica" {
		t.Errorf("got %v", data[0])
	}
}

// TestCachedBody_errors checks that an error after the entity tag was computed is not cached.
func TestCachedBody_errors(t *testing.T) {
	t.Parallel()
	const path, accept = "/api/v1/garden/catalog/data", "Accept-Encoding: gzip"
	s := newService(t, nil)
	// long enough to be compressed
	s.library.listErr = herb.Errorf(herb.CodeUnavailable, "%s", strings.Repeat("down ", 50))
	if w := s.repeated(t, "GET", path, accept); w.Code != 503 || w.Header().Get("Content-Encoding") != "gzip" {
		t.Fatal(w.Code, w.Header())
	}
	s.library.listErr = nil
	for range 3 {
		if a := s.get(t, path, accept); a.status != 200 {
			t.Errorf("got %d", a.status)
		} else if _, meta := a.listing(t); meta.Total != 60 {
			t.Errorf("got %s", a.body)
		}
	}
}
