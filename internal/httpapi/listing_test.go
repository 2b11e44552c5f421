package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
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
		{"per_page over the maximum", "per_page=1000", "1",
			query.Meta{Total: 60, Page: 1, PerPage: 100, TotalPages: 1}},
		{"empty parameters", "page=&per_page=&sort=&order=&search=", "1",
			query.Meta{Total: 60, Page: 1, PerPage: 25, TotalPages: 3, HasNext: true}},
		{"sorted", "sort=price&order=desc&per_page=1", "7", query.Meta{Total: 60, Page: 1, PerPage: 1, TotalPages: 60,
			HasNext: true}},
		{"sorted by several fields", "sort=category,-price,-id&per_page=1", "56",
			query.Meta{Total: 60, Page: 1, PerPage: 1, TotalPages: 60, HasNext: true}},
		{"filtered", "category=fern&category=moss&per_page=50", "2",
			query.Meta{Total: 40, Page: 1, PerPage: 50, TotalPages: 1}},
		{"operator", "id[gt]=58", "59", query.Meta{Total: 2, Page: 1, PerPage: 25, TotalPages: 1}},
		{"searched", "search=everywhere+59", "59", query.Meta{Total: 1, Page: 1, PerPage: 25, TotalPages: 1}},
		{"nothing found", "category=cactus", "", query.Meta{Page: 1, PerPage: 25}},
		{"any key, even a wrong one", "api_key=" + unknown, "1",
			query.Meta{Total: 60, Page: 1, PerPage: 25, TotalPages: 3, HasNext: true}},
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
	s.checkRejections(t, []rejection{
		{"unknown dataset", "/api/v1/garden/catalogue/data", 404,
			`no such dataset "garden/catalogue"; GET /api/v1 lists`},
		{"unknown namespace", "/api/v1/xyzzy/quux/data", 404, `no such dataset "xyzzy/quux"; GET /api/v1 lists`},
		{"impossible name", "/api/v1/Garden/catalog/data", 404, "no such dataset"},
		{"key in place of a name", "/api/v1/garden/" + reader + "/data", 404, `"garden/REDACTED"`},
		{"slash in a segment", "/api/v1/garden%2Fcatalog/data/data", 404, "no such dataset"},
		{"dots", "/api/v1/%2e%2e/catalog/data", 404, "no such dataset"},
		{"dataset before query", "/api/v1/garden/nothing/data?page=0", 404, "no such dataset"},
		{"unknown parameter", "/api/v1/garden/catalog/data?categry=fern", 400, `did you mean "category"?`},
		{"unknown sort field", "/api/v1/garden/catalog/data?sort=prize", 400, `did you mean "price"?`},
		{"unknown field among several", "/api/v1/garden/catalog/data?sort=title,-prize", 400,
			`unknown sort field "prize"; did you mean "price"?`},
		{"several sort fields and an order", "/api/v1/garden/catalog/data?sort=title,price&order=desc", 400,
			"such as sort=-title,price"},
		{"wrong page", "/api/v1/garden/catalog/data?page=0", 400, "from 1"},
		{"wrong order", "/api/v1/garden/catalog/data?order=up", 400, "asc or desc"},
		{"malformed", "/api/v1/garden/catalog/data?title=%zz", 400, "malformed query"},
		{"too long", "/api/v1/garden/catalog/data?title=" + strings.Repeat("x", 8<<10), 400, "at most 8 KiB"},
		{"not filterable", "/api/v1/odd/a-b.c/data?quo%22te%3C=1", 400, "not filterable"},
	})
}

// TestListingLinks_query checks the query of the links: that of the request in its order, without
// the key, and the page last.
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
		{"a page in the middle of the query", "page=2&category=fern&per_page=5&title[ne]=%26%3E",
			`first=1 prev=1 next=3 last=4`},
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
				t.Errorf("%s in %s: HEAD gives %d and GET %d; headers (-GET +HEAD):\n%s", path, coding, head.status,
					get.status, diff)
			}
			if get.header.Get("Content-Length") == "" {
				t.Errorf("%s has no Content-Length", path)
			}
		}
	}
}

// ordered returns a service whose dataset news/items is listed newest first by default.
func ordered(t *testing.T) *service {
	return newService(t, func(o *httpapi.Options) {
		flags := herb.Field{Searchable: true, Filterable: true, Sortable: true}
		day, title := flags, flags
		day.Name, day.Type = "day", herb.TypeDate
		title.Name, title.Type, title.Weight = "title", herb.TypeText, 3
		o.Library.(*fakeLibrary).put(herb.Dataset{
			Ref: herb.Ref{Namespace: "news", Name: "items"}, Version: "v1", Published: published(),
			Fields:  []herb.Field{day, title},
			Details: herb.Details{Order: herb.Order{Field: "day", Desc: true}},
		}, []herb.Record{{"2024-01-02", "rose fern"}, {"2024-01-03", "moss"}, {"", "rose"}, {"2024-01-01", "fern"},
			{"2024-01-03", "rose moss fern"}})
	})
}

func TestListing_datasetOrder(t *testing.T) {
	t.Parallel()
	s := ordered(t)
	for _, tt := range []struct{ name, query, want string }{
		{"newest first", "", "moss, rose moss fern, rose fern, fern, rose"},
		{"order alone has no effect", "order=asc", "moss, rose moss fern, rose fern, fern, rose"},
		{"with a filter", "title[ne]=moss", "rose moss fern, rose fern, fern, rose"},
		{"pages", "page=2&per_page=2", "rose fern, fern"},
		{"sorted otherwise", "sort=title", "fern, moss, rose, rose fern, rose moss fern"},
		{"sorted by the same field upwards", "sort=day", "fern, rose fern, moss, rose moss fern, rose"},
		{"best matches first", "search=rose", "rose, rose fern, rose moss fern"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got struct {
				Data []struct{ Title string }
			}
			if err := json.Unmarshal([]byte(ordered(t).get(t, "/api/v1/news/items/data?"+tt.query).body),
				&got); err != nil {
				t.Fatal(err)
			}
			var titles []string
			for _, r := range got.Data {
				titles = append(titles, r.Title)
			}
			if diff := cmp.Diff(tt.want, strings.Join(titles, ", ")); diff != "" {
				t.Errorf("titles (-want +got):\n%s", diff)
			}
		})
	}
	tag := func(q url.Values) string { return s.get(t, "/api/v1/news/items/data?"+q.Encode()).header.Get("ETag") }
	if tag(nil) == tag(url.Values{"sort": {"day"}}) {
		t.Error("another order has the same entity tag")
	}
}

// pageOf returns an API whose only page has some records of the given size.
func pageOf(t *testing.T, records, size int) *httpapi.API {
	t.Helper()
	d := herb.Dataset{
		Ref: herb.Ref{Namespace: "garden", Name: "large"}, Version: "v1", Access: herb.AccessOpen, Records: records,
		Fields: []herb.Field{{Name: "text", Type: herb.TypeText}},
	}
	rec := []byte(`{"text":"` + strings.Repeat("x", size) + `"}`)
	page := query.Page{Total: records}
	for range records {
		page.Records = append(page.Records, rec)
	}
	api, err := httpapi.New(options(t, &preparedLibrary{d, page}))
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// TestLargePages checks streamed and buffered pages on both sides of the size limit.
func TestLargePages(t *testing.T) {
	t.Parallel()
	const target = "/api/v1/garden/large/data?per_page=3"
	for _, size := range []int{100, 80 << 10, 90 << 10, 1 << 20} {
		api := pageOf(t, 3, size)
		rec := `{"text":"` + strings.Repeat("x", size) + `"}`
		want := `{"data":[` + rec + "," + rec + "," + rec +
			`],"meta":{"total":3,"page":1,"per_page":3,"total_pages":1,"has_next":false,"has_prev":false}}`
		for _, coding := range []string{"identity", "gzip", "zstd"} {
			get := httptest.NewRecorder()
			api.ServeHTTP(get, request("GET", target, "", "Accept-Encoding: "+coding, "X-Request-Id: same"))
			length := get.Header().Get("Content-Length")
			if length != "" && length != strconv.Itoa(get.Body.Len()) || coding == "identity" && length == "" {
				t.Errorf("%d %s: Content-Length is %q of %d bytes", size, coding, length, get.Body.Len())
			}
			head := httptest.NewRecorder()
			api.ServeHTTP(head, request("HEAD", target, "", "Accept-Encoding: "+coding, "X-Request-Id: same"))
			if diff := cmp.Diff(get.Header(), head.Header()); diff != "" || head.Body.Len() > 0 {
				t.Errorf("%d %s (-GET +HEAD):\n%s", size, coding, diff)
			}
			for _, name := range []string{"Etag", "Link", "Vary", "Cache-Control", "Content-Type"} {
				if get.Header().Get(name) == "" {
					t.Errorf("%d %s: no %s", size, coding, name)
				}
			}
			if got := unpack(t, get); got != want {
				t.Errorf("%d %s: the body has %d bytes, want %d", size, coding, len(got), len(want))
			}
		}
	}
}

// TestLargePages_memory sends a page of 100 MiB with little memory. It is not parallel, because
// allocations of other tests would count.
func TestLargePages_memory(t *testing.T) {
	api := pageOf(t, 100, 1<<20)
	for _, coding := range []string{"identity", "gzip", "zstd"} {
		send := func() {
			api.ServeHTTP(&nullWriter{http.Header{}}, request("GET", "/api/v1/garden/large/data?per_page=100", "",
				"Accept-Encoding: "+coding))
		}
		send() // creates the encoders
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		send()
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
			t.Errorf("%s: a page of 100 MiB allocates %d MiB", coding, used>>20)
		}
	}
}
