package httpapi_test

import (
	"testing"
)

func TestPreflight(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	tests := []struct {
		path   string
		status int
		shared bool
	}{
		{"/api/v1", 204, true},
		{"/api/v1/garden/catalog", 204, true},
		{"/api/v1/garden/catalog/data", 204, true},
		{"/api/v1/no/dataset/data?page=0", 204, true},
		{"/openapi.json", 204, true},
		{"/plants", 204, false},
		{"/healthz", 204, false},
	}
	for _, tt := range tests {
		for _, method := range []string{"GET", "HEAD", "DELETE"} {
			a := s.do(t, request("OPTIONS", tt.path, "", "Origin: https://example.org", "Access-Control-Request-Method: "+method,
				"Access-Control-Request-Headers: authorization,x-api-key"))
			want := map[string]string{}
			if tt.shared {
				want = map[string]string{
					"Access-Control-Allow-Origin":   "*",
					"Access-Control-Allow-Methods":  "GET, HEAD, OPTIONS",
					"Access-Control-Allow-Headers":  "Authorization, X-API-Key, If-None-Match, Content-Type, X-Request-Id",
					"Access-Control-Max-Age":        "86400",
					"Access-Control-Expose-Headers": "ETag, Link, Retry-After, X-Request-Id, X-Total-Count",
				}
			}
			if a.status != tt.status {
				t.Errorf("%s gives %d", tt.path, a.status)
			}
			for _, name := range []string{"Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers",
				"Access-Control-Max-Age", "Access-Control-Expose-Headers", "Access-Control-Allow-Credentials"} {
				if got := a.header.Get(name); got != want[name] {
					t.Errorf("%s: %s is %q, want %q", tt.path, name, got, want[name])
				}
			}
		}
	}
}

func TestOptions_withoutPreflight(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	a := s.do(t, request("OPTIONS", "/api/v1/garden/catalog/data", ""))
	if a.status != 204 || a.header.Get("Access-Control-Allow-Methods") != "" || a.header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("got %d %v", a.status, a.header)
	}
}

// TestPreflight_errors checks that scripts can read error responses.
func TestPreflight_errors(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for _, path := range []string{
		"/api/v1/garden/catalog/data?page=0", "/api/v1/locked/staff/data", "/api/v1/no/thing/data", "/api/nothing", "/api/v1//x",
	} {
		h := s.get(t, path, "Origin: https://example.org").header
		if h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Expose-Headers") != "ETag, Link, Retry-After, X-Request-Id, X-Total-Count" {
			t.Errorf("%s has %v", path, h)
		}
	}
}
