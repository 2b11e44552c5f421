package httpapi_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	fetches "herbarium/internal/fetch"
	"herbarium/internal/must"
)

// TestFetch publishes a dataset by a link, and follows what its source does.
func TestFetch(t *testing.T) {
	t.Parallel()
	content := "id,name\n1,Rose\n2,Fern\n3,Oak\n4,Elm\n"
	origin := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "hush" {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = io.WriteString(w, content)
	}))
	defer origin.Close()
	_, port, err := net.SplitHostPort(origin.Listener.Addr().String())
	must.NoError(t, err)
	hosts, err := fetches.ParseHosts([]string{"example.com:" + port, "127.0.0.1"})
	must.NoError(t, err)
	p := newPublishing(t, func(o *publishingOptions) {
		o.fetch = &fetches.ClientOptions{
			Hosts: hosts, TLS: origin.Client().Transport.(*http.Transport).TLSClientConfig,
			Credentials: map[string]fetches.Credentials{
				"crm": {Datasets: "shop/*", Host: "example.com:" + port, Header: "X-Key", Value: "hush"}},
			Lookup: func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			},
		}
	})
	want := func(what string, a checkedResponse, status int, texts ...string) {
		t.Helper()
		if a.status != status {
			t.Errorf("%s is %d %s; want %d", what, a.status, a.body, status)
		}
		for _, text := range texts {
			if !strings.Contains(a.body, text) {
				t.Errorf("%s lacks %q: %s", what, text, a.body)
			}
		}
		if strings.Contains(a.body, "hush") {
			t.Errorf("%s contains the credentials: %s", what, a.body)
		}
	}
	descriptor := func(path, refresh string) checkedResponse {
		t.Helper()
		return p.send(t, "PUT", "/descriptor",
			`{"resources": [{"path": "`+path+`", "herbarium": {"refresh": `+refresh+`}}]}`)
	}
	address := "https://example.com:" + port + "/prices.csv"
	want("an address without a scheme", descriptor("prices.csv", `"1h"`), 400, "refresh", "has no effect")
	want("a short period", descriptor(address, `"1s"`), 400, "less than a minute")
	want("a secret", descriptor(address+"?token=abc", `"1h"`), 400, "is a secret")
	want("another host", descriptor("https://example.org/a.csv", `"1h"`), 409, "fetch_hosts")
	want("a private host", descriptor("https://127.0.0.1:"+port+"/a.csv", `"1h"`), 409, "fetch_hosts")
	want("no credentials", descriptor(address, `"1h"`), 503, "status 403")
	want("unknown credentials", descriptor(address, `{"every": "1h", "credentials": "other"}`), 409, "no credentials")
	refresh := `{"every": "1h", "credentials": "crm"}`
	want("a new dataset", descriptor(address, refresh), 201, `"status":"published"`, `"records":4`)
	fetchNow := func() checkedResponse { return p.send(t, "POST", "/fetch", "") }
	want("the same file", fetchNow(), 200, `"status":"unchanged"`)

	content += "5,Ash\n"
	first := p.liveVersion(t)
	want("another file", fetchNow(), 200, `"status":"published"`, `"records":5`)
	second := p.liveVersion(t)
	for name, c := range map[string]struct {
		content string
		status  int
		want    string
	}{
		"a web page":   {"<!DOCTYPE html><title>Maintenance</title>", 422, "web page"},
		"few rows":     {"id,name\n1,Rose\n", 409, "more than half of the records are missing"},
		"other fields": {strings.Replace(content, "name", "title", 1), 409, "renamed"},
		"another format": {`[{"id":1,"name":"Rose"},{"id":2,"name":"Fern"},{"id":3,"name":"Oak"},{"id":4,"name":"Elm"},` +
			`{"id":5,"name":"Ash"},{"id":6,"name":"Yew"}]`, 409, "the file is json"},
		"nothing":        {"", 422, ""},
		"wrong encoding": {"\xff\xfei\x00d\x00,\x00n\x00a\x00m\x00e\x00\n\x001", 422, ""},
		"compressed":     {"\x1f\x8b\x08\x00\x00", 422, ""},
	} {
		before := content
		content = c.content
		a := fetchNow()
		want(name, a, c.status, c.want)
		if live := p.liveVersion(t); live != second {
			t.Errorf("%s: the live version is %s", name, live)
		}
		want("the state", p.send(t, "GET", "", ""), 200, `"error":`, `"failures":`, `"refresh":"1h"`)
		content = before
	}
	want("the file is back", fetchNow(), 200, `"status":"unchanged"`)
	if a := p.send(t, "GET", "", ""); strings.Contains(a.body, `"error"`) ||
		!strings.Contains(a.body, `"next_at"`) {
		t.Errorf("%s", a.body)
	}
	if a := p.send(t, "POST", "/rollback", `{"to": "`+first+`"}`); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	want("what was rolled back", fetchNow(), 200, `"status":"unchanged"`)
	if live := p.liveVersion(t); live != first {
		t.Errorf("the live version is %s instead of %s", live, first)
	}
	want("a file that is sent", p.put(t, "", content+"6,Yew\n"), 200, `"status":"published"`)
	want("the next fetch", fetchNow(), 200)

	want("no key", p.do(t, request("POST", pricesPath+"/fetch", "")), 401)
	if a := p.do(t, request("GET", pricesPath, "")); a.status != 200 || strings.Contains(a.body, `"fetch"`) ||
		strings.Contains(a.body, "example.com") || strings.Contains(a.body, `"refresh"`) {
		t.Errorf("readers see %s", a.body)
	}
	want("another dataset", p.do(t, request("POST", "/api/v1/shop/other/fetch", "", "X-API-Key: "+publisher)), 409)

	// Who may publish shop/prices makes the server fetch nothing into other datasets.
	const other = "/api/v1/shop/other"
	name := func(dataset string) string {
		return `{"name": "shop", "resources": [{"name": "` + dataset + `", "path": "` + address +
			`", "herbarium": {"refresh": ` + refresh + `}}]}`
	}
	want("the descriptor of another dataset",
		p.do(t, request("PUT", other+"/descriptor", name("other"), "X-API-Key: "+onePub)), 403)
	want("a fetch of another dataset", p.do(t, request("POST", other+"/fetch", "", "X-API-Key: "+onePub)), 403)
	want("the name of another dataset",
		p.do(t, request("PUT", pricesPath+"/descriptor", name("other"), "X-API-Key: "+onePub)), 200,
		`"dataset":"shop/prices"`)
	if a := p.get(t, other); a.status != 404 {
		t.Errorf("another dataset is %d %s", a.status, a.body)
	}
	want("a parameter", p.send(t, "POST", "/fetch?_force=true", ""), 400, "unknown parameter")
	content = "id,name\n1,Rose\n"
	want("few rows", fetchNow(), 409, "_allow_breaking=true")
	want("few rows with consent", p.send(t, "POST", "/fetch?_allow_breaking=true", ""), 200, `"records":1`)
}
