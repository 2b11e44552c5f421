//go:build unix

package blobs_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"herbarium/internal/blobs"
	"herbarium/internal/herb"
)

// TestOthers has servers in place of Google's and Azure's that do not do what they should, and what the emulators cannot do:
// Google's never refuses. The environment says where they are, so it does not run beside other tests.
func TestOthers(t *testing.T) {
	const secret = "bm90LXRoZS1zZWNyZXQ=" // Azure's are base64
	ended := make(chan struct{})
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{
			"forbidden",
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("x-ms-error-code", "AuthenticationFailed")
				w.WriteHeader(http.StatusForbidden)
				_, _ = io.WriteString(w, "{}") // the client has it or not
			},
			"refuses to",
		},
		{
			"without a bucket",
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("x-ms-error-code", "ContainerNotFound")
				w.WriteHeader(http.StatusNotFound)
			},
			"",
		},
		{"silent", func(http.ResponseWriter, *http.Request) { <-ended }, "has said nothing for 100ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // the client has said it or not
				c.answer(w, r)
			}))
			t.Cleanup(server.Close)
			if c.name == "silent" {
				t.Cleanup(func() { close(ended) })
			}
			host := strings.TrimPrefix(server.URL, "http://")
			t.Setenv("STORAGE_EMULATOR_HOST", host)
			t.Setenv("AZURE_STORAGE_ACCOUNT", "account")
			t.Setenv("AZURE_STORAGE_KEY", secret)
			for _, address := range []string{"gs://bucket/prefix", "azblob://bucket/prefix?protocol=http&domain=" + host} {
				b := open(t, address, blobs.Options{Stall: 100 * time.Millisecond})
				for name, err := range map[string]error{
					"Ping":   b.Ping(t.Context()),
					"Get":    b.Get(t.Context(), "a.segment", io.Discard),
					"Put":    b.Put(t.Context(), "a.segment", file(t, []byte("a")), nil),
					"Delete": b.Delete(t.Context(), "a.segment"),
				} {
					wantCode(t, err, herb.CodeUnavailable)
					if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
						t.Errorf("%s of %s: %v, want %q in it", name, address, err, c.want)
					}
				}
			}
		})
	}
}
