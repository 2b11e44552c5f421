package httpapi

import (
	"net/http"

	"herbarium/internal/etag"
	"herbarium/internal/herb"
)

// entityTag returns the tag of a representation that is determined by parts and the version of the program.
func (a *API) entityTag(parts ...string) string {
	return etag.New(a.opts.Version, parts...)
}

// notModified answers that the client has what it asks for; false if it has not.
func (w *response) notModified(r *http.Request, tag string) bool {
	w.Header().Set("ETag", tag)
	if !etag.Match(r.Header, tag) {
		return false
	}
	w.varyByEncoding()
	w.WriteHeader(http.StatusNotModified)
	return true
}

// Who may keep a copy of an answer. All must ask whether it is still right.
const (
	cachePublic  = "public, no-cache"
	cachePrivate = "private, no-cache"
	cacheNever   = "private, no-store"
)

// setCaching says who may keep a copy. A URL with a key in it must leave no trace anywhere.
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
