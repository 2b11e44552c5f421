package response

import "net/http"

// AllMethods lists the methods of all resources.
const AllMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

// Headers that scripts of other origins may send and read.
const (
	corsRequestHeaders = "Authorization, X-API-Key, Content-Type, Content-Digest, Content-Disposition, If-Match, " +
		"If-None-Match, " +
		"Idempotency-Key, If-Range, Prefer, Range, X-Requested-With, X-Request-Id, Mcp-Protocol-Version, " +
		"Mcp-Session-Id, Mcp-Method, Mcp-Name"
	corsExposedHeaders = "Accept-Ranges, Content-Length, Content-Range, ETag, Link, Location, Retry-After, " +
		"X-Total-Count, X-Dataset-Version, X-Request-Id"
)

// Options responds to OPTIONS. A CORS preflight permits any origin, because browsers send no
// cookies with such requests, and a key only if the script has it.
func (w *Writer) Options(r *http.Request, allow string) {
	w.Set("Allow", allow)
	if IsPreflight(r) {
		w.Set("Access-Control-Allow-Methods", allow)
		w.Set("Access-Control-Allow-Headers", corsRequestHeaders)
		w.Set("Access-Control-Max-Age", "86400") // seconds; many browsers use less
	}
	w.WriteHeader(http.StatusNoContent)
}

func IsPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}
