package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"herbarium/internal/httpapi/gate"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
)

// gatePages has a page of each dataset that shows what the gate decided.
type gatePages struct{ fakePages }

func (p gatePages) Handlers() map[string]httpapi.PageHandler {
	show := func(w *httpapi.Page, r *http.Request, v gate.DatasetView) error {
		if w.Visitor().ID != "" {
			w.Header().Set("X-Visitor", w.Visitor().ID)
		}
		denied := ""
		if v.Denied != nil {
			denied = herb.MessageOf(v.Denied)
		}
		_, err := fmt.Fprintf(w, "%s live=%s pinned=%s query=%s denied=%s access=%s", v.Version, v.Live, v.Pinned,
			v.Query.Encode(), denied, v.Access)
		if v.Query.Get("fail") != "" {
			err = v.Denied
		}
		return err
	}
	return map[string]httpapi.PageHandler{"GET /datasets/{namespace}/{dataset}": {ServeDataset: show}}
}

// TestGate checks what a listing and a page of the same URL get: the version, the access and the
// caching. The live versions of garden/catalog and locked/staff are open and require a key; v0 of
// each is the other way round.
func TestGate(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) { o.Pages = gatePages{pagesOf(homePage)} })
	for _, fixture := range []func() (herb.Dataset, []herb.Record){catalog, staff} {
		d, records := fixture()
		d.Version = d.Name + "0"
		if d.Access == herb.AccessKey {
			d.Access = herb.AccessOpen
		} else {
			d.Access = herb.AccessKey
		}
		s.library.Keep(d, records)
	}
	const (
		page   = "/datasets/"
		noKey  = "requires a key; open its page and enter one"
		scope  = "the key is valid, but not for this dataset"
		shared = "no-cache"
		secret = "private, no-cache"
	)
	for _, tt := range []struct {
		target, key string
		listing     int    // status
		body        string // part of the page
		denied      string
		caching     string // of the page
	}{
		{"garden/catalog", "", 200, "v1 live=v1 pinned= query= ", "", shared},
		{"garden/catalog?page=2", unknown, 200, "v1 live=v1 pinned= query=page=2 ", "", shared},
		{"garden/catalog?page=2&_version=catalog0", reader, 200, "catalog0 live=v1 pinned=catalog0 query=page=2 ",
			"", secret},
		{"garden/catalog?_version=catalog0", "", 401, "catalog0 live=v1 pinned=catalog0 query= ", noKey, secret},
		{"garden/catalog?_version=catalog0", oneReader, 403, "catalog0 live=v1 pinned=catalog0 query= ", scope, secret},
		{"locked/staff", oneReader, 200, "v1 live=v1 pinned= query= ", "", secret},
		{"locked/staff", "", 401, "v1 live=v1 pinned= query= ", noKey, secret},
		{"locked/staff", elsewhere, 403, "v1 live=v1 pinned= query= ", scope, secret},
		{"locked/staff?_version=staff0", oneReader, 200, "staff0 live=v1 pinned=staff0 query= ", "", secret},
		{"locked/staff?_version=staff0", "", 401, "v1 live=v1 pinned=staff0 query= ", noKey, secret},
		{"locked/staff?_version=nothing", "", 401, "v1 live=v1 pinned=nothing query= ", noKey, secret},
	} {
		path, query, _ := strings.Cut(tt.target, "?")
		var listing, browser []string
		if tt.key != "" {
			listing, browser = []string{"X-API-Key: " + tt.key}, []string{"Cookie: key=" + tt.key}
		}
		a := s.get(t, "/api/v1/"+path+"/data?"+query, listing...)
		version, _, _ := strings.Cut(tt.body, " ")
		if a.status != tt.listing || a.status == 200 && a.header.Get("X-Dataset-Version") != version {
			t.Errorf("listing of %s with key %q: %d, %v", tt.target, tt.key, a.status, a.header)
		}
		if a.status != 200 && strings.Contains(a.header.Get("Www-Authenticate"), "error=") != (tt.key != "") {
			t.Errorf("listing of %s with key %q: challenge %q", tt.target, tt.key, a.header.Get("Www-Authenticate"))
		}
		b := s.get(t, page+tt.target, browser...)
		if b.status != 200 || !strings.HasPrefix(b.body, tt.body) || !strings.Contains(b.body, tt.denied+" access=") ||
			tt.denied == "" && !strings.Contains(b.body, "denied= ") {
			t.Errorf("page of %s with key %q: %d %s", tt.target, tt.key, b.status, b.body)
		}
		vary := "Accept-Encoding"
		if tt.caching == secret {
			vary = "Cookie, Accept, Accept-Encoding"
		}
		if h := b.header; h.Get("Cache-Control") != tt.caching || h.Get("Vary") != vary ||
			h.Get("Www-Authenticate") != "" {
			t.Errorf("page of %s with key %q: %v", tt.target, tt.key, h)
		}
		if valid := tt.key != "" && tt.key != unknown; (b.header.Get("X-Visitor") != "") != valid {
			t.Errorf("page of %s with key %q: visitor %q", tt.target, tt.key, b.header.Get("X-Visitor"))
		}
	}
	for target, status := range map[string]int{
		"garden/nothing": 404, "Not%20a%20name/x": 404, "garden/catalog?_version=gone": 410,
		"garden/catalog?_version=a&_version=b": 400,
		"locked/staff?_version=a&_version=b":   400, "locked/staff?fail=1": 401,
	} {
		if a := s.get(t, page+target); a.status != status || a.header.Get("Cache-Control") != "no-store" ||
			a.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("page of %s: %d %v, want %d", target, a.status, a.header, status)
		}
	}
}
