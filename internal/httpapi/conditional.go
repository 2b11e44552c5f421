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

// Cache-Control values. All require revalidation.
const (
	cachePublic  = "public, no-cache"
	cachePrivate = "private, no-cache"
	cacheNever   = "private, no-store"
)

// setCaching sets Cache-Control. Responses to URLs that contain a key are not stored.
func (w *response) setCaching(r *http.Request, access herb.Access) {
	h := w.Header()
	switch _, keyed := keyInQuery(r.URL.RawQuery); {
	case keyed:
		h.Set("Cache-Control", cacheNever)
		h.Set("Referrer-Policy", "no-referrer")
	case access == herb.AccessKey:
		h.Set("Cache-Control", cachePrivate)
	default:
		h.Set("Cache-Control", cachePublic)
	}
}
