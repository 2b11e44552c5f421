// Package floor answers everything with the same bytes: no server in Go can be faster, because none can do less.
package floor

import (
	"bytes"
	"net/http"
	"strconv"
)

// New returns a handler that writes a body of that size.
func New(size int) http.Handler {
	body := bytes.Repeat([]byte{'x'}, size)
	length := []string{strconv.Itoa(size)}
	contentType := []string{"application/json"}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h["Content-Type"] = contentType
		h["Content-Length"] = length
		_, _ = w.Write(body)
	})
}
