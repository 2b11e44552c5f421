package app_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/must"
)

// blockedFile is a file whose first read reports that it began and waits.
type blockedFile struct {
	io.ReaderAt
	began   func()
	release <-chan struct{}
}

// ReadAt implements io.ReaderAt.
func (f blockedFile) ReadAt(p []byte, offset int64) (int, error) {
	f.began()
	<-f.release
	return f.ReaderAt.ReadAt(p, offset)
}

// TestServe_starting publishes a source that cannot be read for now. Meanwhile, probes are answered
// and other requests are rejected.
func TestServe_starting(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		catalog herb.Access
		step    string
	}{
		"public catalogue":  {herb.AccessOpen, "publishing shop/prices, source 1 of 1"},
		"private catalogue": {herb.AccessKey, "publishing sources"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := freeAddress(t)
			began, release := make(chan struct{}), make(chan struct{})
			const content = "code,price\n1,2\n"
			file := blockedFile{strings.NewReader(content), sync.OnceFunc(func() { close(began) }), release}
			found := descriptor.Set{Sources: []descriptor.Source{{
				Ref: herb.Ref{Namespace: "shop", Name: "prices"}, Path: "prices.csv", Format: "csv",
				Input: io.NewSectionReader(file, 0, int64(len(content))),
			}}}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			c := app.DefaultConfig()
			c.Addr, c.Data, c.Catalog = address, t.TempDir(), tt.catalog
			ready, ended := make(chan struct{}), make(chan error, 1)
			go func() {
				ended <- app.Serve(ctx, c, app.ServeOptions{
					Found: found, Log: slog.New(slog.DiscardHandler),
					Ready: func(net.Addr, []herb.Dataset, int) { close(ready) },
				})
			}()
			select {
			case <-began:
			case err := <-ended:
				t.Fatal(err)
			}
			want := map[string]string{
				"/healthz": `200 {"status":"ok"}`,
				"/readyz": "503 not ready: the server is starting: " + tt.step +
					"; retry later or use another node",
				"/api/v1/shop/prices/data": "503 the server is starting: " + tt.step + "; try again",
				"/":                        "503 the server is starting: " + tt.step + "; try again",
			}
			for path, want := range want {
				status, text, _ := strings.Cut(want, " ")
				if got := get(t, address, path); !strings.HasPrefix(got, status) || !strings.Contains(got, text) {
					t.Errorf("%s while the server starts: %s; want %s", path, got, want)
				}
			}
			close(release)
			select {
			case <-ready:
			case err := <-ended:
				t.Fatal(err)
			}
			for _, path := range []string{"/healthz", "/readyz", "/api/v1/shop/prices/data", "/"} {
				if got := get(t, address, path); !strings.HasPrefix(got, "200 ") {
					t.Errorf("%s of a server that is ready: %s", path, got)
				}
			}
			stop()
			must.NoError(t, <-ended)
		})
	}
}

// freeAddress returns an address that no program listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must.NoError(t, err)
	must.NoError(t, l.Close())
	return l.Addr().String()
}

// get returns the status and the body of a response.
func get(t *testing.T, address, path string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	must.NoError(t, err)
	res, err := http.DefaultClient.Do(r)
	must.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	must.NoError(t, err)
	return res.Status[:3] + " " + string(body)
}
