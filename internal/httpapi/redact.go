package httpapi

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"herbarium/internal/access"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

const (
	redacted       = "REDACTED"
	malformedQuery = "MALFORMED" // logged if the secrets in a query cannot be located
	maxLogged      = 2048        // maximum characters of a path or query in the log
	maxShown       = 200         // maximum characters of client input in a message
)

// redactQuery returns a raw query for the log: names as written, and values that are or may be secrets redacted.
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
	return herb.Clip(b.String(), maxLogged)
}

// isSecretName reports whether a parameter with this name, or a likely typo of it, contains a secret.
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
	_, typo := text.Closest(name, []string{query.ParamAPIKey})
	return typo
}

// minSecret is the minimum length of text with the prefix of a key to be treated as one: a dataset may be named
// herb_garden.
const minSecret = len(access.Prefix) + 16

// keyPattern matches keys.
var keyPattern = regexp.MustCompile(fmt.Sprintf("%s[a-zA-Z0-9_]{%d,}", access.Prefix, minSecret-len(access.Prefix)))

// redactText redacts keys in a text that should not contain any: a path, an error, a panic value.
func redactText(s string) string {
	if !strings.Contains(s, access.Prefix) {
		return s
	}
	return keyPattern.ReplaceAllLiteralString(s, redacted)
}
