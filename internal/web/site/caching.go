package site

import (
	"net/http"

	"herbarium/internal/etag"
)

// Tag returns the entity tag of a page that depends on parts besides the templates and assets.
func (p *Site) Tag(parts ...string) string {
	return etag.New(p.Opts.Version, append([]string{p.assets().folder}, parts...)...)
}

// MatchTag sets the entity tag of a response. It responds with 304 if the client has that response,
// and reports whether it did.
func MatchTag(w http.ResponseWriter, r *http.Request, tag string) bool {
	w.Header().Set("Etag", tag)
	if !etag.Match(r.Header, tag) {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// CachedBody returns the body with an entity tag from the cache of the server, or makes and adds
// it. An empty tag is not cached.
func CachedBody(w http.ResponseWriter, tag string, make func() ([]byte, error)) ([]byte, error) {
	cache, ok := w.(interface {
		CachedBody(tag string) []byte
		CacheBody(tag string, body []byte)
	})
	if !ok || tag == "" {
		return make()
	}
	if body := cache.CachedBody(tag); body != nil {
		return body, nil
	}
	body, err := make()
	if err == nil {
		cache.CacheBody(tag, body)
	}
	return body, err
}

// WriteShared writes a body that never changes. The server does not copy it, if it can do without.
func WriteShared(w http.ResponseWriter, body []byte) {
	if sharing, ok := w.(interface{ WriteShared(body []byte) }); ok {
		sharing.WriteShared(body)
		return
	}
	_, _ = w.Write(body) // a writer in memory
}
