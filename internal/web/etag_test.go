package web_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestBrowser_etag checks that each page has its own entity tag, and that a client with that page gets 304.
func TestBrowser_etag(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	seen := map[string]string{}
	for _, query := range []string{"", "?page=2", "?category=fern", "?category=fern&_record=1", "?_fields=title"} {
		for _, theme := range []string{"", "dark"} {
			cookie := "herbarium_theme=" + theme
			a := s.get(t, catalog+query, "Cookie", cookie)
			tag := a.header.Get("Etag")
			if other, ok := seen[tag]; ok || tag == "" {
				t.Errorf("%s %s has the tag %q, as %s", query, theme, tag, other)
			}
			seen[tag] = query + theme
			again := s.get(t, catalog+query, "Cookie", cookie, "If-None-Match", `"x", `+tag)
			if again.status != http.StatusNotModified || again.body != "" || again.header.Get("Etag") != tag ||
				again.header.Get("Content-Type") != "" || again.header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s %s: %d %q %v", query, theme, again.status, again.body, again.header)
			}
		}
	}
	for i := range s.library.datasets {
		s.library.datasets[i].Version = "v2"
	}
	for tag, query := range seen {
		if a := s.get(t, catalog+strings.TrimSuffix(query, "dark"), "If-None-Match", tag); a.status != http.StatusOK {
			t.Errorf("%s: %d for a tag of the previous version", query, a.status)
		}
	}
	for _, path := range []string{catalog + "?sort=nope", "/datasets/locked/staff"} {
		if tag := s.get(t, path, "Cookie", "herbarium_key="+staffKey).header.Get("Etag"); tag != "" {
			t.Errorf("%s has the tag %q", path, tag)
		}
	}
}
