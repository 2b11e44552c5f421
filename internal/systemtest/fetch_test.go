//go:build linux

package systemtest

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"herbarium/internal/programtest"
)

// TestFetch has a server fetch hostile files, and kills it while it fetches: the live version
// stays.
func TestFetch(t *testing.T) {
	t.Parallel()
	var content atomic.Value
	content.Store("id,price\n1,2\n2,3\n")
	fetching, release := make(chan struct{}, 1), make(chan struct{})
	origin := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := content.Load().(string)
		if text == "" { // the rest never arrives
			_, _ = io.WriteString(w, "id,price\n")
			_ = http.NewResponseController(w).Flush()
			fetching <- struct{}{}
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		_, _ = io.WriteString(w, text)
	}))
	defer origin.Close()
	defer close(release)
	host := strings.TrimPrefix(origin.URL, "https://")
	certificate := write(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: origin.Certificate().Raw})), t.TempDir(), "origin.pem")
	settings := config{settings: []string{"HERBARIUM_FETCH_HOSTS=" + host + ",127.0.0.1",
		"SSL_CERT_FILE=" + certificate}}
	n := start(t, settings)
	key := publishKey(t, n.data, "shop/prices")
	const path = "/api/v1/shop/prices"
	send := func(n *node, method, path, body string) programtest.Response {
		t.Helper()
		r, err := n.request(method, path, body, "X-API-Key", key)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := send(n, http.MethodPut, path+"/descriptor",
		`{"resources": [{"path": "`+origin.URL+`/prices.csv", "herbarium": {"refresh": "manual"}}]}`)
	if r.Status != http.StatusCreated {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	before := n.expect(http.StatusOK, path+"/data").Body
	for name, file := range hostileFiles(t) {
		content.Store(file)
		if r := send(n, http.MethodPost, path+"/fetch", ""); r.Status != http.StatusUnprocessableEntity &&
			r.Status != http.StatusConflict {
			t.Errorf("%s gives %d %.300s", name, r.Status, r.Body)
		}
		if now := n.expect(http.StatusOK, path+"/data").Body; now != before {
			t.Fatalf("%s: the live version is %s", name, now)
		}
	}
	content.Store("")
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = n.request(http.MethodPost, path+"/fetch", "", "X-API-Key", key) // the server dies
	}()
	<-fetching
	n.Kill()
	<-done
	settings.data = n.data
	n = start(t, settings)
	if now := n.expect(http.StatusOK, path+"/data").Body; now != before {
		t.Errorf("after the crash, the live version is %s", now)
	}
	if r := send(n, http.MethodGet, path, ""); r.Status != http.StatusOK ||
		!strings.Contains(r.Body, `"running":true`) {
		t.Errorf("%d %s", r.Status, r.Body) // another server may fetch when the claim expires
	}
	if left := leftovers(t, n.data); left != nil {
		t.Errorf("files are left: %v", left)
	}
}
