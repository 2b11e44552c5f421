// Package floor responds to every request with the same bytes, as an upper bound for the throughput of a Go server.
package floor

import (
	"bytes"
	"net/http"
	"strconv"
)

// New returns a handler that writes a body of a given size.
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
