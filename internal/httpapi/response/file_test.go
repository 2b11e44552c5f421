package response

import (
	"net/http/httptest"
	"testing"
)

// TestWithoutEmptyRanges checks that ranges of the last 0 bytes are unsatisfiable (RFC 9110,
// section 14.1.2).
func TestWithoutEmptyRanges(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"":                    "",
		"bytes=0-3":           "bytes=0-3",
		"bytes=-5":            "bytes=-5",
		"bytes=-50":           "bytes=-50",
		"bytes=-0":            "bytes=10-",
		"bytes= -00 ":         "bytes=10-",
		"bytes=-0,-0":         "bytes=10-",
		"bytes=-0, 0-3, -000": "bytes= 0-3",
		"bytes=-":             "bytes=-",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Range", header)
		if got := withoutEmptyRanges(r, 10).Header.Get("Range"); got != want {
			t.Errorf("%q becomes %q, want %q", header, got, want)
		}
		if got := r.Header.Get("Range"); got != header {
			t.Errorf("the header of the request has changed from %q to %q", header, got)
		}
	}
}
