package httpapi_test

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestAccept(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	const json, csv, ndjson = "application/json", "text/csv; charset=utf-8; header=present", "application/x-ndjson"
	tests := []struct{ accept, want string }{
		{"", json},
		{"*/*", json},
		{"application/json", json},
		{"application/*", json},
		{"text/csv", csv},
		{"TEXT/CSV", csv},
		{"text/csv; header=present", csv},
		{"text/csv;charset=utf-8;q=0.1", csv},
		{"application/x-ndjson", ndjson},
		{"text/csv, application/x-ndjson", csv},
		{"text/csv;q=0.5, application/x-ndjson", ndjson},
		{"text/csv, */*", csv},
		{"text/csv, */*;q=0.8", csv},
		{"text/csv;q=0.5, */*", json},
		{"application/x-ndjson, application/*", ndjson},
		{"application/x-ndjson;q=0.9, application/*", json},
		{"text/csv;q=0.9, application/*;q=0.5, */*", csv},
		{"text/csv, application/json", json},
		{"application/json, text/csv", json},
		{"application/json;q=0.9, text/csv", csv},
		{"application/json;q=0, text/csv;q=0.1", csv},
		{"text/csv;q=0", json},
		{"text/csv;q=0, */*;q=0", json},
		{"text/csv;q=x", json},
		{"text/*", json},
		{"text/html", json},
		{"image/png", json},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", json},
		{"text/csvx", json},
		{",;,", json},
	}
	for _, tt := range tests {
		t.Run(tt.accept, func(t *testing.T) {
			t.Parallel()
			a := s.get(t, "/api/v1/garden/catalog/data", "Accept: "+tt.accept)
			if got := a.header.Get("Content-Type"); a.status != 200 || got != tt.want {
				t.Errorf("%d with Content-Type %q, want %q", a.status, got, tt.want)
			}
			if got := a.header.Get("Vary"); got != "Accept, Accept-Encoding" {
				t.Errorf("Vary is %q", got)
			}
		})
	}
	a := s.get(t, "/api/v1/garden/catalog/data", "Accept: image/png", "Accept: text/csv")
	if got := a.header.Get("Content-Type"); got != csv {
		t.Errorf("in a second header: %q", got)
	}
}

func TestAcceptEncoding(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	const path = "/api/v1/garden/catalog/data"
	plain := s.get(t, path).body
	tests := []struct{ accept, want string }{
		{"", ""},
		{"gzip", "gzip"},
		{"GZIP", "gzip"},
		{"x-gzip", "gzip"},
		{"zstd", "zstd"},
		{"gzip, deflate, br, zstd", "zstd"},
		{"zstd, gzip", "zstd"},
		{"gzip;q=1.0, zstd;q=0.5", "gzip"},
		{"gzip; q=0.5 , zstd ;q=0.8", "zstd"},
		{"zstd;q=0, gzip", "gzip"},
		{"zstd;q=0.000, gzip;q=0", ""},
		{"br, deflate", ""},
		{"*", "zstd"},
		{"*;q=0", ""},
		{"gzip, *;q=0", "gzip"},
		{"zstd;q=0, *", "gzip"},
		{"identity", ""},
		{"identity;q=1, gzip;q=0.5", ""},
		{"identity;q=0.5, gzip;q=0.5", "gzip"},
		{"identity;q=0, gzip;q=0.1", "gzip"},
		{"identity;q=0", ""},
		{"gzip;q=x", ""},
		{"gzip;q=NaN", ""},
		{"gzip;q=2", ""},
		{",,;", ""},
	}
	for _, tt := range tests {
		t.Run(tt.accept, func(t *testing.T) {
			t.Parallel()
			a := s.get(t, path, "Accept-Encoding: "+tt.accept)
			if got := a.header.Get("Content-Encoding"); got != tt.want {
				t.Errorf("Content-Encoding is %q, want %q", got, tt.want)
			}
			if a.body != plain {
				t.Error("the body is another")
			}
			if got := a.header.Get("Vary"); got != "Accept, Accept-Encoding" {
				t.Errorf("Vary is %q", got)
			}
		})
	}
	t.Run("two headers", func(t *testing.T) {
		t.Parallel()
		if got := s.get(t, path, "Accept-Encoding: br",
			"Accept-Encoding: gzip").header.Get("Content-Encoding"); got != "gzip" {
			t.Errorf("Content-Encoding is %q", got)
		}
	})
}

func TestCompress_smallBodies(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	if a := s.get(t, "/healthz", "Accept-Encoding: gzip"); a.header.Get("Content-Encoding") != "" {
		t.Error("a small body was compressed")
	}
	if a := s.get(t, "/nothing", "Accept-Encoding: gzip"); a.header.Get("Content-Encoding") != "gzip" {
		t.Error("a large error was not compressed")
	}
}

func TestCompressedLength(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for _, coding := range []string{"gzip", "zstd", "identity"} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, request("GET", "/api/v1/garden/catalog/data", "", "Accept-Encoding: "+coding))
		if got := w.Header().Get("Content-Length"); got != strconv.Itoa(w.Body.Len()) {
			t.Errorf("%s: Content-Length is %s, the body has %d bytes", coding, got, w.Body.Len())
		}
	}
}

// TestCompress_concurrent sends different requests concurrently, because buffers and encoders are
// shared.
func TestCompress_concurrent(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			coding := []string{"gzip", "zstd", "identity"}[i%3]
			for n := range 20 {
				id := strconv.Itoa(i*7%60 + n%3 + 1)
				w := httptest.NewRecorder()
				s.ServeHTTP(w, request("GET", "/api/v1/garden/catalog/data?id="+id, "", "Accept-Encoding: "+coding))
				if body := unpack(t, w); !strings.HasPrefix(body, `{"data":[{"id":"`+id+`",`) ||
					!strings.HasSuffix(body, "}}") {
					t.Errorf("asked for %s, got %s", id, body)
				}
			}
		})
	}
	wg.Wait()
}
