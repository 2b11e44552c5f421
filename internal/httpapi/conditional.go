package httpapi

import (
	"net/http"

	"herbarium/internal/etag"
	"herbarium/internal/herb"
)

// entityTag returns the entity tag of a representation that depends on parts and the program version.
func (a *API) entityTag(parts ...string) string {
	return etag.New(a.opts.Version, parts...)
}

// notModified sends 304 if If-None-Match contains the tag, and reports whether it did.
func (w *response) notModified(r *http.Request, tag string) bool {
	w.Header().Set("ETag", tag)
	if !etag.Match(r.Header, tag) {
		return false
	}
	w.setDefaultVary()
	w.WriteHeader(http.StatusNotModified)
	return true
}

// setCaching sets Cache-Control: caches must revalidate. Responses to URLs that contain a key are not stored.
func (w *response) setCaching(r *http.Request, access herb.Access) {
	h := w.Header()
	switch _, keyed := keyInQuery(r.URL.RawQuery); {
	case keyed:
		h.Set("Cache-Control", "private, no-store")
		h.Set("Referrer-Policy", "no-referrer")
	case access == herb.AccessKey:
		h.Set("Cache-Control", "private, no-cache")
	default:
		h.Set("Cache-Control", "public, no-cache")
	}
}
