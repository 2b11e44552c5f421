//go:build linux

package systemtest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// forged is what net/http writes when it rejects a request that it cannot parse.
const forged = "HTTP/1.1 400 x\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// TestForgedResponses sends what looks like the start of a response, as a value of an export and as
// the search of a page, such that some writes of the connection begin with it. It must arrive as a
// part of the body.
func TestForgedResponses(t *testing.T) {
	t.Parallel()
	const header = "text\r\n\""   // of an export
	const written = 64<<10 + 4087 // bytes of an export before one of the writes
	want := strings.Repeat("x", (written-len(header))%len(forged)) + strings.Repeat(forged, 300_000/len(forged))
	file := header + want + "\"\r\n"
	n := start(t, config{args: []string{write(t, file, t.TempDir(), "garden", "forged.csv")}})
	if r := n.expect(http.StatusOK, "/api/v1/garden/forged/data.csv", "Accept-Encoding",
		"identity"); !strings.Contains(r.Body, want) {
		t.Errorf("the export has %d bytes, and the value is not among them as it was published", len(r.Body))
	}
	for i := range len(forged) {
		search := strings.Repeat("x", i) + strings.Repeat(forged, 40)
		r := n.expect(http.StatusOK, "/?search="+url.QueryEscape(search), "Accept-Encoding", "identity")
		if got := r.Header.Get("Content-Length"); got != fmt.Sprint(len(r.Body)) ||
			!strings.HasSuffix(strings.TrimSpace(r.Body), "</html>") {
			t.Fatalf("the page after %d letters has %d bytes of %s", i, len(r.Body), got)
		}
	}
}
