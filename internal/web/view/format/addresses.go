package format

import (
	"net/url"
	"strings"
)

// IsWebAddress reports whether a value may become the target of a link: an http or https URL
// without user information, which is used to deceive.
func IsWebAddress(s string) bool {
	const maxAddress = 2000
	if !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") || len(s) > maxAddress ||
		strings.ContainsAny(s, " \"<>\\^`{|}") {
		return false
	}
	u, err := url.Parse(s) // rejects control characters
	return err == nil && u.Host != "" && u.User == nil
}

// WebAddress returns a web address, or an empty string for anything else.
func WebAddress(s string) string {
	if IsWebAddress(s) {
		return s
	}
	return ""
}
