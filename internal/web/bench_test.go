package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkPage compares a page of the data browser with the listing it shows, through the whole server and over the same
// engine: what differs is what the page costs.
func BenchmarkPage(b *testing.B) {
	s := newSite(b, nil)
	for _, bb := range []struct{ name, path string }{
		{"listing", "/api/v1/garden/catalog/data?page=2"},
		{"page", catalog + "?page=2"},
		{"listing/filtered", "/api/v1/garden/catalog/data?category=fern"},
		{"page/filtered", catalog + "?category=fern"},
		{"page/entrance", catalog},
		{"facets", catalog + "/facets?_facet=category&_facet=price&_facet=date"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, bb.path, nil))
				if w.Code != http.StatusOK {
					b.Fatal(w.Code)
				}
				b.SetBytes(int64(w.Body.Len()))
			}
		})
	}
}
