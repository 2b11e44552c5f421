package httpapi

import (
	"net/http"
	"strings"
)

// CORS permissions: scripts of other origins may read open data with any of our headers. The plant store is excluded,
// so that a browser cannot be used to write with a user's key.
const (
	allOrigins     = "*"
	exposedHeaders = "ETag, Link, Retry-After, X-Request-Id, X-Total-Count"
	allowedMethods = "GET, HEAD, OPTIONS"
	allowedHeaders = "Authorization, X-API-Key, If-None-Match, Content-Type, X-Request-Id"
	preflightAge   = "86400" // maximum cache time of preflight responses in seconds; many browsers use less
)

// sharesWithOrigins reports whether scripts of any origin may read a path.
func sharesWithOrigins(path string) bool {
	return strings.HasPrefix(path, "/api/") || path == "/openapi.json"
}

// preflight sets the headers of a CORS preflight response. The origin header is already set.
func preflight(h http.Header, r *http.Request) {
	if !sharesWithOrigins(r.URL.Path) || r.Header.Get("Access-Control-Request-Method") == "" {
		return
	}
	h.Set("Access-Control-Allow-Methods", allowedMethods)
	h.Set("Access-Control-Allow-Headers", allowedHeaders)
	h.Set("Access-Control-Max-Age", preflightAge)
}
