package httpapi

import (
	"net/http"
	"strings"
)

// What scripts of other origins may do: read open data with any of our headers. The plants are not for them: a browser
// must not be made to write with someone's token.
const (
	allOrigins     = "*"
	exposedHeaders = "ETag, Link, Retry-After, X-Request-Id, X-Total-Count"
	allowedMethods = "GET, HEAD, OPTIONS"
	allowedHeaders = "Authorization, X-API-Key, If-None-Match, Content-Type, X-Request-Id"
	preflightAge   = "86400" // seconds that a browser may remember the answer; many stop sooner
)

// sharesWithOrigins reports whether what is at a path may be read by scripts of any origin.
func sharesWithOrigins(path string) bool {
	return strings.HasPrefix(path, "/api/") || path == "/openapi.json"
}

// preflight tells a browser what the request it has in mind may carry. The origin is allowed already.
func preflight(h http.Header, r *http.Request) {
	if !sharesWithOrigins(r.URL.Path) || r.Header.Get("Access-Control-Request-Method") == "" {
		return
	}
	h.Set("Access-Control-Allow-Methods", allowedMethods)
	h.Set("Access-Control-Allow-Headers", allowedHeaders)
	h.Set("Access-Control-Max-Age", preflightAge)
}
