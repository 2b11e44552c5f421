package web

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"herbarium/internal/herb"
)

// sum returns a hash of what a shell puts around the records, so that it tells one theme, origin and program from another.
func (s *shell) sum(version string) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(version + "\x00" + s.key + "\x00" + string(s.chooser)))
	for _, pieces := range [][]piece{s.frame.pieces, s.call.pieces, {s.filters}} {
		for _, p := range pieces {
			h.Write(p.plain)
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// unchanged sets the tag of the page that a query leads to, and reports whether the browser has that page already: then 304 is
// the answer. What a key has opened has no tag.
func unchanged(w http.ResponseWriter, r *http.Request, sh *shell, d *herb.Dataset) bool {
	if d.Access == herb.AccessKey {
		return false
	}
	sum := sha256.Sum256(append(sh.hash[:len(sh.hash):len(sh.hash)], r.URL.RawQuery...))
	const tagBytes = 15 // 120 bits, which base64 writes without padding
	opaque := `"` + base64.RawURLEncoding.EncodeToString(sum[:tagBytes]) + `"`
	w.Header().Set("Etag", "W/"+opaque)
	for _, header := range r.Header["If-None-Match"] {
		for tag := range strings.SplitSeq(header, ",") {
			if strings.TrimPrefix(strings.Trim(tag, " \t"), "W/") == opaque {
				w.WriteHeader(http.StatusNotModified)
				return true
			}
		}
	}
	return false
}
