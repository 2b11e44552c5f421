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
	w.headers.set("Etag", tag)
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
	switch _, keyed := keyInQuery(r.URL.RawQuery); {
	case keyed:
		w.headers.set("Cache-Control", cacheNever)
		w.headers.set("Referrer-Policy", "no-referrer")
	case access == herb.AccessKey:
		w.headers.set("Cache-Control", cachePrivate)
	default:
		w.headers.set("Cache-Control", cachePublic)
	}
}
