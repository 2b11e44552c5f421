package httpapi

import (
	"net/http"
	"strings"
)

// sharesWithOrigins reports whether scripts of other origins may read a path with any of our headers. The plant store is
// excluded, so that a browser cannot be used to write with a user's key.
func sharesWithOrigins(path string) bool {
	return strings.HasPrefix(path, "/api/") || path == "/openapi.json"
}

// preflight sets the headers of a CORS preflight response. The origin header is already set.
func preflight(h http.Header, r *http.Request) {
	if !sharesWithOrigins(r.URL.Path) || r.Header.Get("Access-Control-Request-Method") == "" {
		return
	}
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
	h.Set("Access-Control-Allow-Headers", "Authorization, X-API-Key, If-None-Match, Content-Type, X-Request-Id")
	h.Set("Access-Control-Max-Age", "86400") // seconds; many browsers use less
}
