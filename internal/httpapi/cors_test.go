package httpapi_test

import (
	"testing"
)

// exposed is the headers that scripts of other origins may read.
const exposed = "Accept-Ranges, Content-Length, Content-Range, ETag, Link, Location, Retry-After, X-Total-Count, " +
	"X-Dataset-Version, X-Request-Id"

func TestPreflight(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	tests := []struct{ path, methods string }{
		{"/api/v1", "GET, HEAD, OPTIONS"},
		{"/api/v1/garden/catalog", "GET, HEAD, DELETE, OPTIONS"},
		{"/api/v1/garden/catalog/data", "GET, HEAD, OPTIONS"},
		{"/api/v1/garden/catalog/data.csv", "GET, HEAD, OPTIONS"},
		{"/api/v1/garden/catalog/data.parquet", "GET, HEAD, OPTIONS"},
		{"/api/v1/no/dataset/data?page=0", "GET, HEAD, OPTIONS"},
		{"/openapi.json", "GET, HEAD, OPTIONS"},
		{"/schemas/datapackage.json", "GET, HEAD, OPTIONS"},
		{"/healthz", "GET, HEAD, OPTIONS"},
		{"/plants", "POST, OPTIONS"},
		{"/nothing", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"},
		{"/api/v1//garden/catalog", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"},
	}
	for _, tt := range tests {
		for _, method := range []string{"GET", "HEAD", "DELETE"} {
			a := s.do(t, request("OPTIONS", tt.path, "", "Origin: https://example.org",
				"Access-Control-Request-Method: "+method,
				"Access-Control-Request-Headers: authorization,x-api-key"))
			if a.status != 204 {
				t.Errorf("%s gives %d", tt.path, a.status)
			}
			for name, want := range map[string]string{
				"Access-Control-Allow-Origin":  "*",
				"Access-Control-Allow-Methods": tt.methods,
				"Access-Control-Allow-Headers": "Authorization, X-API-Key, Content-Type, Content-Digest, " +
					"Content-Disposition, If-Match, If-None-Match, Idempotency-Key, If-Range, Prefer, Range, " +
					"X-Requested-With, X-Request-Id, Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name",
				"Access-Control-Max-Age":           "86400",
				"Access-Control-Expose-Headers":    exposed,
				"Access-Control-Allow-Credentials": "",
			} {
				if got := a.header.Get(name); got != want {
					t.Errorf("%s: %s is %q, want %q", tt.path, name, got, want)
				}
			}
		}
	}
}

func TestOptions_withoutPreflight(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	a := s.do(t, request("OPTIONS", "/api/v1/garden/catalog/data", ""))
	if a.status != 204 || a.header.Get("Access-Control-Allow-Methods") != "" ||
		a.header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("got %d %v", a.status, a.header)
	}
}

// TestPreflight_errors checks that scripts can read error responses.
func TestPreflight_errors(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for _, path := range []string{
		"/api/v1/garden/catalog/data?page=0", "/api/v1/locked/staff/data", "/api/v1/no/thing/data", "/api/nothing",
		"/api/v1//x", "/nothing", "/plants",
	} {
		h := s.get(t, path, "Origin: https://example.org").header
		if h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Expose-Headers") != exposed {
			t.Errorf("%s has %v", path, h)
		}
	}
}
