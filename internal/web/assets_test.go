package web_test

import (
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestAssets checks that compressed assets have the same content as others.
func TestAssets(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	checked := 0
	for _, n := range all(s.page(t, catalog, 200), func(n *html.Node) bool { return strings.HasPrefix(attr(n, "src")+attr(n, "href"), "/assets/") }) {
		path := attr(n, "src") + attr(n, "href")
		plain, compressed := s.get(t, path), s.get(t, path, "Accept-Encoding", "gzip")
		r, err := gzip.NewReader(strings.NewReader(compressed.body))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		content, err := io.ReadAll(r)
		if err != nil || string(content) != plain.body || len(content) == 0 || compressed.header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s differs when it is compressed: %v", path, err)
		}
		checked++
	}
	if checked < 3 {
		t.Errorf("the page refers to %d assets", checked)
	}
}
