package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"herbarium/internal/herb"
)

// entityTag makes the tag of a representation from what decides its content. It is weak: the same content may come in
// several encodings.
func (a *API) entityTag(parts ...string) string {
	sum := sha256.Sum256([]byte(a.opts.Version + "\x00" + strings.Join(parts, "\x00")))
	const tagBytes = 15 // 120 bits, which base64 writes without padding
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum[:tagBytes]) + `"`
}

// notModified answers that the client has what it asks for; false if it has not.
func (w *response) notModified(r *http.Request, tag string) bool {
	w.Header().Set("ETag", tag)
	if !matchesTag(r.Header["If-None-Match"], tag) {
		return false
	}
	w.varyByEncoding()
	w.WriteHeader(http.StatusNotModified)
	return true
}

// matchesTag reports whether an If-None-Match header names a tag, by weak comparison. From where it cannot be read it
// names none.
func matchesTag(headers []string, tag string) bool {
	tag = strings.TrimPrefix(tag, "W/")
	for _, s := range headers {
		if strings.Trim(s, " \t") == "*" {
			return true
		}
		for {
			s = strings.TrimLeft(s, " \t,")
			opaque, ok := strings.CutPrefix(strings.TrimPrefix(s, "W/"), `"`)
			if !ok {
				break
			}
			value, rest, ok := strings.Cut(opaque, `"`)
			if !ok {
				break
			}
			if value == tag[1:len(tag)-1] {
				return true
			}
			s = rest
		}
	}
	return false
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
