package httpapi_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/httpapi"
	"herbarium/internal/query"
)

func TestListing(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	a := s.get(t, "/api/v1/locked/staff/data?per_page=2", "X-API-Key: "+reader)
	const want = `{"data":[{"name":"Ana"},{"name":"Bo"}],"meta":{"total":3,"page":1,"per_page":2,"total_pages":2,"has_next":true,"has_prev":false}}`
	if a.status != 200 || a.body != want {
		t.Errorf("got %d %s", a.status, a.body)
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type is %q", got)
	}
}

func TestListingQueries(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	const path = "/api/v1/garden/catalog/data"
	tests := []struct {
		name, query string
		first       string // id of the first record
		meta        query.Meta
	}{
		{"plain", "", "1", query.Meta{Total: 60, Page: 1, PerPage: 25, TotalPages: 3, HasNext: true}},
		{"last page", "page=3", "51", query.Meta{Total: 60, Page: 3, PerPage: 25, TotalPages: 3, HasPrev: true}},
		{"past the end", "page=9", "", query.Meta{Total: 60, Page: 9, PerPage: 25, TotalPages: 3, HasPrev: true}},
		{"per_page over the maximum", "per_page=1000", "1", query.Meta{Total: 60, Page: 1, PerPage: 100, TotalPages: 1}},
		{"empty parameters", "page=&per_page=&sort=&order=&search=", "1", query.Meta{Total: 60, Page: 1, PerPage: 25, TotalPages: 3, HasNext: true}},
		{"sorted", "sort=price&order=desc&per_page=1", "7", query.Meta{Total: 60, Page: 1, PerPage: 1, TotalPages: 60, HasNext: true}},
		{"sorted by several fields", "sort=category,-price,-id&per_page=1", "56", query.Meta{Total: 60, Page: 1, PerPage: 1, TotalPages: 60, HasNext: true}},
		{"filtered", "category=fern&category=moss&per_page=50", "2", query.Meta{Total: 40, Page: 1, PerPage: 50, TotalPages: 1}},
		{"operator", "id[gt]=58", "59", query.Meta{Total: 2, Page: 1, PerPage: 25, TotalPages: 1}},
		{"searched", "search=everywhere+59", "59", query.Meta{Total: 1, Page: 1, PerPage: 25, TotalPages: 1}},
		{"nothing found", "category=cactus", "", query.Meta{Page: 1, PerPage: 25}},
		{"any key, even a wrong one", "api_key=" + unknown, "1", query.Meta{Total: 60, Page: 1, PerPage: 25, TotalPages: 3, HasNext: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := s.get(t, path+"?"+tt.query)
			if a.status != 200 {
				t.Fatalf("got %d %s", a.status, a.body)
			}
			data, meta := a.listing(t)
			if diff := cmp.Diff(tt.meta, meta); diff != "" {
				t.Errorf("meta (-want +got):\n%s", diff)
			}
			first := ""
			if len(data) > 0 {
				first = data[0]["id"]
			}
			if first != tt.first {
				t.Errorf("the first record is %q, want %q", first, tt.first)
			}
			if len(data) == 0 && !strings.HasPrefix(a.body, `{"data":[],`) {
				t.Errorf("no records are written as %s", a.body)
			}
		})
	}
}

func TestListing_invalid(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	tests := []struct {
		name, target string
		status       int
		message      string // part of the message
	}{
		{"unknown dataset", "/api/v1/garden/catalogue/data", 404, `there is no dataset "garden/catalogue"; GET /api/v1 lists`},
		{"unknown namespace", "/api/v1/xyzzy/quux/data", 404, `there is no dataset "xyzzy/quux"; GET /api/v1 lists`},
		{"impossible name", "/api/v1/Garden/catalog/data", 404, "no dataset"},
		{"key in place of a name", "/api/v1/garden/" + reader + "/data", 404, `"garden/REDACTED"`},
		{"slash in a segment", "/api/v1/garden%2Fcatalog/data/data", 404, "no dataset"},
		{"dots", "/api/v1/%2e%2e/catalog/data", 404, "no dataset"},
		{"dataset before query", "/api/v1/garden/nothing/data?page=0", 404, "no dataset"},
		{"unknown parameter", "/api/v1/garden/catalog/data?categry=fern", 400, `did you mean "category"?`},
		{"unknown sort field", "/api/v1/garden/catalog/data?sort=prize", 400, `did you mean "price"?`},
		{"unknown field among several", "/api/v1/garden/catalog/data?sort=title,-prize", 400, `unknown sort field "prize"; did you mean "price"?`},
		{"several sort fields and an order", "/api/v1/garden/catalog/data?sort=title,price&order=desc", 400, "such as sort=-title,price"},
		{"wrong page", "/api/v1/garden/catalog/data?page=0", 400, "from 1"},
		{"wrong order", "/api/v1/garden/catalog/data?order=up", 400, "asc or desc"},
		{"malformed", "/api/v1/garden/catalog/data?title=%zz", 400, "malformed query"},
		{"too long", "/api/v1/garden/catalog/data?title=" + strings.Repeat("x", 8<<10), 400, "at most 8192"},
		{"not filterable", "/api/v1/odd/a-b.c/data?quo%22te%3C=1", 400, "not filterable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := s.get(t, tt.target)
			if a.status != tt.status || !strings.Contains(a.message(t), tt.message) {
				t.Errorf("got %d %s", a.status, a.body)
			}
			if got := a.header.Get("Cache-Control"); got != "no-store" {
				t.Errorf("Cache-Control is %q", got)
			}
		})
	}
}

// TestListingLinks_query checks the query of the links: that of the request in its order, without the key, and the page last.
func TestListingLinks_query(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for raw, want := range map[string]string{
		"":                               "page=1",
		"page=1":                         "page=1",
		"title=a&page=1&title=b":         "title=a&title=b&page=1",
		"api_key=secret&sort=id":         "sort=id&page=1",
		"%61pi_key=secret":               "page=1",
		"title=%C3%A9+x&&price[gte]=%31": "title=%C3%A9+x&price%5Bgte%5D=1&page=1",
		"search":                         "search=&page=1",
	} {
		link := s.get(t, catalogData+"?"+raw).header.Get("Link")
		if first, _, _ := strings.Cut(link, ", "); first != "<"+catalogData+"?"+want+`>; rel="first"` {
			t.Errorf("%s links to %s", raw, link)
		}
	}
}

func TestListingLinks(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	tests := []struct{ name, query, want string }{
		{"first page", "", `first=1 next=2 last=3`},
		{"middle", "page=2&sort=title", `first=1 prev=1 next=3 last=3`},
		{"last", "page=3", `first=1 prev=2 last=3`},
		{"just past the end", "page=4", `first=1 prev=3 last=3`},
		{"far past the end", "page=900", `first=1 prev=3 last=3`},
		{"only page", "per_page=100", `first=1 last=1`},
		{"nothing", "category=none", `first=1 last=1`},
		{"a page in the middle of the query", "page=2&category=fern&per_page=5&title[ne]=%26%3E", `first=1 prev=1 next=3 last=4`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := s.get(t, "/api/v1/garden/catalog/data?"+tt.query+"&api_key="+reader)
			var got []string
			for link := range strings.SplitSeq(a.header.Get("Link"), ", ") {
				ref, rel, ok := strings.Cut(link, `>; rel="`)
				u, err := url.Parse(strings.TrimPrefix(ref, "<"))
				if !ok || err != nil || u.Path != "/api/v1/garden/catalog/data" {
					t.Fatalf("Link is %q", a.header.Get("Link"))
				}
				q := u.Query()
				got = append(got, strings.TrimSuffix(rel, `"`)+"="+q.Get("page"))
				want, _ := url.ParseQuery(tt.query)
				for _, p := range []string{"page", "api_key"} {
					q.Del(p)
					want.Del(p)
				}
				if diff := cmp.Diff(want, q); diff != "" {
					t.Errorf("another query (-want +got):\n%s", diff)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %v, want %s", got, tt.want)
			}
			if strings.Contains(a.header.Get("Link"), "herb_") {
				t.Error("the key is in the links")
			}
		})
	}
}

func TestListing_duringPublish(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	// A version published during a listing must not affect it.
	s.library.listing = func() {
		d, records := staff()
		d.Version = "v2"
		s.library.put(d, records[:1])
	}
	a := s.get(t, "/api/v1/locked/staff/data", "X-API-Key: "+reader)
	if data, meta := a.listing(t); len(data) != 3 || meta.Total != 3 {
		t.Errorf("got %s", a.body)
	}
	if _, meta := s.get(t, "/api/v1/locked/staff/data", "X-API-Key: "+reader).listing(t); meta.Total != 1 {
		t.Errorf("the next listing has %d records", meta.Total)
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) { o.Pages = pagesOf(homePage) })
	for _, path := range []string{
		"/", "/api/v1", "/api/v1/garden/catalog", "/api/v1/garden/catalog/data", "/openapi.json", "/healthz", "/readyz",
		"/api/v1/garden/nothing/data", "/nothing",
	} {
		for _, coding := range []string{"identity", "gzip", "zstd"} {
			get := s.get(t, path, "Accept-Encoding: "+coding, "X-Request-Id: same")
			head := s.do(t, request("HEAD", path, "", "Accept-Encoding: "+coding, "X-Request-Id: same"))
			if diff := cmp.Diff(get.header, head.header); diff != "" || get.status != head.status {
				t.Errorf("%s in %s: HEAD gives %d and GET %d; headers (-GET +HEAD):\n%s", path, coding, head.status, get.status, diff)
			}
			if get.header.Get("Content-Length") == "" {
				t.Errorf("%s has no Content-Length", path)
			}
		}
	}
}
