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
	buf := a.buffers.get()
	defer a.buffers.put(buf)
	b := append(*buf, a.opts.Version...)
	for _, p := range parts {
		b = append(b, 0)
		b = append(b, p...)
	}
	*buf = b
	sum := sha256.Sum256(b)
	const tagBytes = 15 // 120 bits, which base64 writes without padding
	tag := append(make([]byte, 0, 32), `W/"`...)
	tag = base64.RawURLEncoding.AppendEncode(tag, sum[:tagBytes])
	return string(append(tag, '"'))
}

// notModified answers that the client has what it asks for; false if it has not.
func (w *response) notModified(r *http.Request, tag string) bool {
	w.set("Etag", tag)
	if !matchesTag(r.Header["If-None-Match"], tag) {
		return false
	}
	varyByEncoding(w.Header())
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
var (
	cachePublic  = []string{"public, no-cache"}
	cachePrivate = []string{"private, no-cache"}
	cacheNever   = []string{"private, no-store"}
	noReferrer   = []string{"no-referrer"}
)

// setCaching says who may keep a copy. A URL with a key in it must leave no trace anywhere.
func setCaching(h http.Header, r *http.Request, access herb.Access) {
	switch _, keyed := keyInQuery(r.URL.RawQuery); {
	case keyed:
		h["Cache-Control"] = cacheNever
		h["Referrer-Policy"] = noReferrer
	case access == herb.AccessKey:
		h["Cache-Control"] = cachePrivate
	default:
		h["Cache-Control"] = cachePublic
	}
}
