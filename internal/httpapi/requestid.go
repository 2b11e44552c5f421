package httpapi

import (
	"crypto/rand"
	"net/http"
	"strings"

	"herbarium/internal/access"
)

const maxRequestID = 128

// requestID returns the ID in the request header if it is valid, or else a new one.
func requestID(h http.Header) string {
	if ids := h["X-Request-Id"]; len(ids) == 1 && isRequestID(ids[0]) {
		return ids[0]
	}
	return rand.Text()
}

// isRequestID reports whether s is safe in headers and logs. A misplaced key is not.
func isRequestID(s string) bool {
	if s == "" || len(s) > maxRequestID || strings.Contains(s, access.Prefix) {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && !('0' <= c && c <= '9') && !strings.ContainsRune("._~-", rune(c)) {
			return false
		}
	}
	return true
}
