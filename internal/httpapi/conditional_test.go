package httpapi_test

import (
	"testing"

	"herbarium/internal/httpapi"
)

func TestConditionalListing(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	const path = "/api/v1/garden/catalog/data?sort=title&category=fern"
	tag := s.get(t, path).header.Get("Etag")
	tests := []struct {
		name    string
		headers []string
		status  int
	}{
		{"the same tag", []string{"If-None-Match: " + tag}, 304},
		{"strong form of it", []string{"If-None-Match: " + tag[2:]}, 304},
		{"in a list", []string{`If-None-Match: "a,b", W/"c" ,` + tag}, 304},
		{"in a second header", []string{`If-None-Match: "x"`, "If-None-Match: " + tag}, 304},
		{"anything", []string{"If-None-Match: *"}, 304},
		{"another tag", []string{`If-None-Match: W/"other"`}, 200},
		{"part of the tag", []string{`If-None-Match: ` + tag[:len(tag)-2] + `"`}, 200},
		{"without quotes", []string{`If-None-Match: ` + tag[3:len(tag)-1]}, 200},
		{"tag within quotes", []string{`If-None-Match: "x` + tag[3:]}, 200},
		{"unfinished", []string{`If-None-Match: "`}, 200},
		{"empty", []string{"If-None-Match: "}, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, method := range []string{"GET", "HEAD"} {
				before := s.library.listed.Load()
				a := s.do(t, request(method, path, "", tt.headers...))
				if a.status != tt.status {
					t.Errorf("%s gives %d", method, a.status)
				}
				if a.header.Get("Etag") != tag || a.header.Get("Cache-Control") != "public, no-cache" ||
					a.header.Get("Vary") != "Accept, Accept-Encoding" {
					t.Errorf("%s has headers %v", method, a.header)
				}
				if worked := s.library.listed.Load() > before; worked != (tt.status == 200) {
					t.Errorf("%s: the work was done: %v", method, worked)
				}
				if tt.status == 304 && (a.header.Get("Content-Type") != "" || a.header.Get("Content-Length") != "") {
					t.Errorf("304 has headers of a body: %v", a.header)
				}
			}
		})
	}
}

func TestListingTags(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	tag := func(query string) string {
		return s.get(t, "/api/v1/garden/catalog/data?"+query).header.Get("Etag")
	}
	first := tag("category=fern&sort=title")
	if tag("category=fern&sort=title") != first {
		t.Error("the same request has another tag")
	}
	for _, query := range []string{"category=fern", "category=fern&sort=title&page=2", "category=moss&sort=title",
		"category=fern&sort=title,-id"} {
		if tag(query) == first {
			t.Errorf("%s has the same tag", query)
		}
	}
	d, records := catalog()
	d.Version = "v2"
	s.library.put(d, records)
	if tag("category=fern&sort=title") == first {
		t.Error("another version has the same tag")
	}
	other := newService(t, func(o *httpapi.Options) { o.Version = "next" })
	if got := other.get(t, "/api/v1/garden/catalog/data?category=fern&sort=title").header.Get("Etag"); got != first {
		t.Error("another release has another tag for the same records")
	}
}

// TestTags_canonical checks that the order of parameters, a key and empty parameters do not change
// an entity tag, and that a client gets 304 for the tag of another order.
func TestTags_canonical(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	d, records := catalog()
	d.PrimaryKey = []string{"id"}
	s.library.put(d, records)
	d.Version = "v0"
	s.library.Keep(d, records)
	const dataset = "/api/v1/garden/catalog"
	for _, tt := range []struct {
		path  string
		same  []string
		other []string
	}{
		{
			"/data",
			[]string{
				"category=fern&sort=title&page=2&per_page=5", "per_page=5&page=2&sort=title&category=fern",
				"&category=f%65rn&per_page=5&sort=title&&page=2",
				"sort=title&search=&category=fern&_fields=&page=2&_filter=&per_page=5&api_key=" + reader,
				"title%5Bmatch%5D=&category=fern&sort=title&page=2&per_page=5",
			},
			[]string{
				"category=fern&sort=title&page=2", "category=fern&sort=title&page=1&per_page=5",
				"category=fern&sort=-title&page=2&per_page=5",
				"category=fern&category=&sort=title&page=2&per_page=5",
				"category=fern&sort=title&page=2&per_page=5&_version=v0",
			},
		},
		{"/data", []string{"category=fern&category=moss", "category=moss&category=fern"},
			[]string{"category=fern", "category%5Bne%5D=fern&category=moss"}},
		{"/data", []string{"category=fern&_version=v0", "_version=v0&category=fern"},
			[]string{"category=fern", "_version=v0"}},
		{"/data.csv", []string{"category=fern&sort=title", "sort=title&category=fern"}, []string{"category=fern"}},
		{"/data/1", []string{"", "_fields=", "api_key=" + reader}, []string{"_fields=title"}},
		{"/facets", []string{"field=category&top=3&id=1", "id=1&top=3&field=category"},
			[]string{"field=category&id=1"}},
		{"/facets", []string{"field=category&field=id"}, []string{"field=id&field=category"}},
		{"/aggregate", []string{"_by=category&id=1", "id=1&_by=category"}, []string{"_by=category"}},
		{"/aggregate", []string{"_by=category&_by=id"}, []string{"_by=id&_by=category"}},
	} {
		first := s.get(t, dataset+tt.path+"?"+tt.same[0])
		tag := first.header.Get("Etag")
		if first.status != 200 || tag == "" {
			t.Errorf("%s?%s: %d with tag %q: %s", tt.path, tt.same[0], first.status, tag, first.body)
			continue
		}
		for _, query := range tt.same {
			a := s.get(t, dataset+tt.path+"?"+query)
			if a.status != 200 || a.header.Get("Etag") != tag || a.body != first.body {
				t.Errorf("%s?%s is not the same as %s: %d, %s", tt.path, query, tt.same[0], a.status, a.body)
			}
			if a := s.get(t, dataset+tt.path+"?"+query, "If-None-Match: "+tag); a.status != 304 ||
				a.header.Get("Etag") != tag {
				t.Errorf("%s?%s with the tag of %s: %d", tt.path, query, tt.same[0], a.status)
			}
		}
		for _, query := range tt.other {
			if a := s.get(t, dataset+tt.path+"?"+query, "If-None-Match: "+tag); a.status != 200 ||
				a.header.Get("Etag") == tag {
				t.Errorf("%s?%s with the tag of %s: %d", tt.path, query, tt.same[0], a.status)
			}
		}
	}
}

func TestConditionalListing_invalidQuery(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	if a := s.get(t, "/api/v1/garden/catalog/data?page=0", "If-None-Match: *"); a.status != 400 ||
		a.header.Get("Etag") != "" {
		t.Errorf("got %d with tag %q", a.status, a.header.Get("Etag"))
	}
}

func TestCaching(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	const open, locked = "/api/v1/garden/catalog/data", "/api/v1/locked/staff/data"
	tests := []struct {
		name, target, header  string
		cache, vary, referrer string
	}{
		{"open", open, "", "public, no-cache", "Accept, Accept-Encoding", ""},
		{"open with a key", open, "X-API-Key: " + reader, "public, no-cache", "Accept, Accept-Encoding", ""},
		{"open with a key in the URL", open + "?api_key=" + reader, "", "private, no-store", "Accept, Accept-Encoding",
			"no-referrer"},
		{"open with an encoded key in the URL", open + "?page=1&api%5Fkey=" + reader, "", "private, no-store",
			"Accept, Accept-Encoding", "no-referrer"},
		{"locked", locked, "X-API-Key: " + reader, "private, no-cache",
			"Authorization, X-API-Key, Accept, Accept-Encoding", ""},
		{"locked with a key in the URL", locked + "?api_key=" + reader, "", "private, no-store",
			"Authorization, X-API-Key, Accept, Accept-Encoding", "no-referrer"},
		{"locked without a key", locked, "", "no-store", "Authorization, X-API-Key, Accept, Accept-Encoding", ""},
		{"catalogue", "/api/v1", "", "public, no-cache", "Accept-Encoding", ""},
		{"descriptor", "/api/v1/garden/catalog", "X-API-Key: " + reader, "public, no-cache", "Accept-Encoding", ""},
		{"locked descriptor", "/api/v1/locked/staff", "", "public, no-cache",
			"Authorization, X-API-Key, Accept, Accept-Encoding", ""},
		{"locked descriptor with a key", "/api/v1/locked/staff", "X-API-Key: " + reader, "private, no-cache",
			"Authorization, X-API-Key, Accept, Accept-Encoding", ""},
		{"locked descriptor with a key in the URL", "/api/v1/locked/staff?api_key=" + reader, "", "private, no-store",
			"Authorization, X-API-Key, Accept, Accept-Encoding", "no-referrer"},
		{"document", "/openapi.json", "", "public, no-cache", "Accept-Encoding", ""},
		{"health", "/healthz", "", "no-store", "Accept-Encoding", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var headers []string
			if tt.header != "" {
				headers = append(headers, tt.header)
			}
			h := s.get(t, tt.target, headers...).header
			if h.Get("Cache-Control") != tt.cache || h.Get("Vary") != tt.vary ||
				h.Get("Referrer-Policy") != tt.referrer {
				t.Errorf("Cache-Control %q, Vary %q, Referrer-Policy %q", h.Get("Cache-Control"), h.Get("Vary"),
					h.Get("Referrer-Policy"))
			}
		})
	}
}

func TestConditionalDescriptions(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for _, path := range []string{"/api/v1", "/api/v1/store/plants", "/api/v1/garden/catalog", "/openapi.json"} {
		tag := s.get(t, path).header.Get("Etag")
		if a := s.get(t, path, "If-None-Match: "+tag); a.status != 304 {
			t.Errorf("%s gives %d", path, a.status)
		}
	}
	before := s.library.described.Load()
	if a := s.get(t, "/openapi.json"); a.status != 200 || s.library.described.Load() != before {
		t.Errorf("the unchanged OpenAPI document is generated again: %d", a.status)
	}
	tag := s.get(t, "/api/v1/store/plants").header.Get("Etag")
	s.create(t, `{"id":1,"name":"Rose"}`)
	if a := s.get(t, "/api/v1/store/plants", "If-None-Match: "+tag); a.status != 200 {
		t.Errorf("after a new plant the description is said to be the same: %d", a.status)
	}
}
