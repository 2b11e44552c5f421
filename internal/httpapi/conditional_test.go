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
				if a.header.Get("Etag") != tag || a.header.Get("Cache-Control") != "public, no-cache" || a.header.Get("Vary") != "Accept, Accept-Encoding" {
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
	for _, query := range []string{"category=fern", "category=fern&sort=title&page=2", "category=moss&sort=title", "category=fern&sort=title,-id"} {
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
	if got := other.get(t, "/api/v1/garden/catalog/data?category=fern&sort=title").header.Get("Etag"); got == first {
		t.Error("another program has the same tag")
	}
}

func TestConditionalListing_invalidQuery(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	if a := s.get(t, "/api/v1/garden/catalog/data?page=0", "If-None-Match: *"); a.status != 400 || a.header.Get("Etag") != "" {
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
		{"open with a key in the URL", open + "?api_key=" + reader, "", "private, no-store", "Accept, Accept-Encoding", "no-referrer"},
		{"open with an encoded key in the URL", open + "?page=1&api%5Fkey=" + reader, "", "private, no-store", "Accept, Accept-Encoding", "no-referrer"},
		{"locked", locked, "X-API-Key: " + reader, "private, no-cache", "Authorization, X-API-Key, Accept, Accept-Encoding", ""},
		{"locked with a key in the URL", locked + "?api_key=" + reader, "", "private, no-store", "Authorization, X-API-Key, Accept, Accept-Encoding", "no-referrer"},
		{"locked without a key", locked, "", "no-store", "Authorization, X-API-Key, Accept, Accept-Encoding", ""},
		{"catalogue", "/api/v1", "", "public, no-cache", "Accept-Encoding", ""},
		{"descriptor", "/api/v1/garden/catalog", "X-API-Key: " + reader, "public, no-cache", "Accept-Encoding", ""},
		{"locked descriptor", "/api/v1/locked/staff", "", "public, no-cache", "Authorization, X-API-Key, Accept, Accept-Encoding", ""},
		{"locked descriptor with a key", "/api/v1/locked/staff", "X-API-Key: " + reader, "private, no-cache", "Authorization, X-API-Key, Accept, Accept-Encoding", ""},
		{"locked descriptor with a key in the URL", "/api/v1/locked/staff?api_key=" + reader, "", "private, no-store", "Authorization, X-API-Key, Accept, Accept-Encoding", "no-referrer"},
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
			if h.Get("Cache-Control") != tt.cache || h.Get("Vary") != tt.vary || h.Get("Referrer-Policy") != tt.referrer {
				t.Errorf("Cache-Control %q, Vary %q, Referrer-Policy %q", h.Get("Cache-Control"), h.Get("Vary"), h.Get("Referrer-Policy"))
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
