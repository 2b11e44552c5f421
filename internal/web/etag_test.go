package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestBrowser_tags holds that a page has a tag of its own, that a browser which has it is told so, and that no other page has it.
func TestBrowser_tags(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	seen := map[string]string{}
	for _, query := range []string{"", "?page=2", "?category=fern", "?category=fern&_record=1", "?_column=title"} {
		for _, theme := range []string{"", "dark"} {
			cookie := "herbarium_theme=" + theme
			a := s.get(t, catalog+query, "Cookie", cookie)
			tag := a.header.Get("Etag")
			if other, ok := seen[tag]; ok || tag == "" {
				t.Errorf("%s %s has the tag %q of %s", query, theme, tag, other)
			}
			seen[tag] = query + theme
			for range 2 { // the page without a query is kept from the first time on
				again := s.get(t, catalog+query, "Cookie", cookie, "If-None-Match", `"x", `+tag)
				if again.status != http.StatusNotModified || again.body != "" || again.header.Get("Etag") != tag ||
					again.header.Get("Content-Type") != "" || again.header.Get("Vary") != "Accept-Encoding" {
					t.Errorf("%s %s: %d %q %v", query, theme, again.status, again.body, again.header)
				}
			}
		}
	}
	for i := range s.library.datasets {
		s.library.datasets[i].Version = "v2"
	}
	for tag, query := range seen {
		if a := s.get(t, catalog+strings.TrimSuffix(query, "dark"), "If-None-Match", tag); a.status != http.StatusOK {
			t.Errorf("%s: %d for a tag of the version before", query, a.status)
		}
	}
	for _, path := range []string{catalog + "?sort=nope", "/datasets/locked/staff"} {
		if tag := s.get(t, path, "Cookie", "herbarium_key="+staffKey).header.Get("Etag"); tag != "" {
			t.Errorf("%s has the tag %q", path, tag)
		}
	}
}

// TestBrowser_compressed checks that a page is the same whether it is compressed or not.
func TestBrowser_compressed(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, path := range []string{
		catalog, catalog, catalog + "?page=2", catalog + "?category=fern&tags=wet", catalog + "?page=99", catalog + "?sort=nope",
		"/datasets/evil/nasty?per_page=100", "/datasets/wide/many?f7=7", "/datasets/empty/none",
	} {
		want := s.get(t, path)
		got := s.get(t, path, "Accept-Encoding", "gzip, deflate, br")
		if got.header.Get("Content-Encoding") != "gzip" {
			t.Fatalf("%s comes as %q", path, got.header.Get("Content-Encoding"))
		}
		z, err := gzip.NewReader(strings.NewReader(got.body))
		if err != nil {
			t.Fatal(err)
		}
		z.Multistream(false) // not all browsers read on
		body, err := io.ReadAll(z)
		if err != nil || string(body) != want.body || got.status != want.status {
			t.Errorf("%s differs when compressed: %v, %d bytes for %d", path, err, len(body), len(want.body))
		}
		if other := s.get(t, path, "Accept-Encoding", "gzip;q=0.5, zstd"); other.header.Get("Content-Encoding") != "zstd" {
			t.Errorf("%s comes as %q although zstd is preferred", path, other.header.Get("Content-Encoding"))
		}
	}
}
