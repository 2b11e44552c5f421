//go:build linux

package systemtest

import (
	"net/http"
	"strings"
	"testing"

	"herbarium/internal/programtest"
)

// TestFetch has a server fetch hostile files, and kills it while it fetches: the live version
// stays.
func TestFetch(t *testing.T) {
	t.Parallel()
	origin := newFetchOrigin(t)
	origin.content.Store("id,price\n1,2\n2,3\n")
	settings := config{settings: origin.settings(t)}
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
		origin.content.Store(file)
		if r := send(n, http.MethodPost, path+"/fetch", ""); r.Status != http.StatusUnprocessableEntity &&
			r.Status != http.StatusConflict {
			t.Errorf("%s gives %d %.300s", name, r.Status, r.Body)
		}
		if now := n.expect(http.StatusOK, path+"/data").Body; now != before {
			t.Fatalf("%s: the live version is %s", name, now)
		}
	}
	held := &heldResponse{9, make(chan struct{}), nil} // the rest never arrives
	origin.content.Store("id,price\n1,3\n")
	origin.held.Store(held)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = n.request(http.MethodPost, path+"/fetch", "", "X-API-Key", key) // the server dies
	}()
	<-held.arrived
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
