package httpapi

import (
	"net/url"
	"strings"

	"herbarium/internal/access"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

const (
	redacted       = "REDACTED"
	malformedQuery = "MALFORMED" // logged for a query of which nobody can tell where its secrets are
	maxLogged      = 2048        // bytes of a path or a query in the log
)

// redactQuery returns a raw query fit for the log: names as they were written, values that are or may be secrets hidden.
func redactQuery(raw string) string {
	if raw == "" {
		return ""
	}
	var b strings.Builder
	b.Grow(len(raw))
	for piece := range strings.SplitSeq(raw, "&") {
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		rawName, rawValue, assigned := strings.Cut(piece, "=")
		name, err := url.QueryUnescape(rawName)
		value, err2 := url.QueryUnescape(rawValue)
		if err != nil || err2 != nil {
			return malformedQuery
		}
		switch {
		case strings.Contains(name, access.Prefix) && len(name) >= minSecret:
			b.WriteString(redacted)
		case assigned && (isSecretName(name) || strings.Contains(value, access.Prefix)):
			b.WriteString(rawName + "=" + redacted)
		default:
			b.WriteString(piece)
		}
	}
	return shorten(b.String())
}

// isSecretName reports whether a parameter of that name holds, or was meant to hold, a secret.
func isSecretName(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"key", "token", "secret", "password", "auth"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	if !strings.HasPrefix(name, query.ParamAPIKey[:1]) {
		return false
	}
	_, slip := text.Closest(name, []string{query.ParamAPIKey})
	return slip
}

// minSecret is the length from which something that begins like a key is taken for one: a dataset may well be named
// herb_garden.
const minSecret = len(access.Prefix) + 16

// redactText hides keys of ours in a text that should have none: a path, an error, what a panic said.
func redactText(s string) string {
	if !strings.Contains(s, access.Prefix) {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, access.Prefix)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		end := i + len(access.Prefix)
		for end < len(s) && isKeyByte(s[end]) {
			end++
		}
		b.WriteString(s[:i])
		if end-i >= minSecret {
			b.WriteString(redacted)
		} else {
			b.WriteString(s[i:end])
		}
		s = s[end:]
	}
}

// isKeyByte reports whether a key may contain c.
func isKeyByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// shorten cuts what is too long for a log line.
func shorten(s string) string {
	if len(s) <= maxLogged {
		return s
	}
	return s[:maxLogged] + "…"
}
