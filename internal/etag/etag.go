// Package etag computes and compares HTTP entity tags.
package etag

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
)

// New returns the entity tag of a representation that is determined by the version of the program,
// or of its responses, and by parts. The tag is weak, because the same content is sent with
// different content encodings.
func New(version string, parts ...string) string {
	const tagBytes = 15 // 120 bits, which base64 encodes without padding
	b := append(make([]byte, 0, 256), version...)
	for _, p := range parts {
		b = append(b, 0)
		b = append(b, p...)
	}
	sum := sha256.Sum256(b)
	b = base64.RawURLEncoding.AppendEncode(append(b[:0], `W/"`...), sum[:tagBytes])
	return string(append(b, '"'))
}

// OfContent returns the entity tag of a representation with this content. Unlike New, it does not
// copy it.
func OfContent(version string, content []byte) string {
	sum := sha256.Sum256(content)
	return New(version, string(sum[:]))
}

// Match reports whether the If-None-Match header of a request names a tag, by weak comparison. The
// rest of a header value after a syntax error is ignored.
func Match(h http.Header, tag string) bool {
	opaque := strings.Trim(strings.TrimPrefix(tag, "W/"), `"`)
	for _, s := range h["If-None-Match"] {
		if strings.Trim(s, " \t") == "*" {
			return true
		}
		for {
			s = strings.TrimPrefix(strings.TrimLeft(s, " \t,"), "W/")
			quoted, ok := strings.CutPrefix(s, `"`)
			if !ok {
				break
			}
			value, rest, ok := strings.Cut(quoted, `"`)
			if !ok {
				break
			}
			if value == opaque {
				return true
			}
			s = rest
		}
	}
	return false
}
