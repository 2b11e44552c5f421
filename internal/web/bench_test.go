package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// cachedEngine caches listings, so that the benchmark measures only the rendering.
type cachedEngine struct {
	query.Engine
	pages sync.Map // query.Page by the request
}

func (s *cachedEngine) List(ctx context.Context, r *query.Request) (query.Page, error) {
	key := fmt.Sprintf("%+v", *r)
	if p, ok := s.pages.Load(key); ok {
		return p.(query.Page), nil
	}
	p, err := s.Engine.List(ctx, r)
	s.pages.Store(key, p)
	return p, err
}

// nullWriter discards the response and counts its bytes.
type nullWriter struct {
	header http.Header
	status int
	bytes  int
}

func (w *nullWriter) Header() http.Header         { return w.header }
func (w *nullWriter) Write(b []byte) (int, error) { w.bytes += len(b); return len(b), nil }
func (w *nullWriter) WriteHeader(status int)      { w.status = status }

// shop returns a typical dataset of eleven columns: texts, addresses, numbers, a date and a list.
func shop() (herb.Dataset, []herb.Record) {
	d, records := garden()
	d.Ref.Namespace = "shop"
	d.Fields = append(d.Fields, field("description", herb.TypeText), field("author", herb.TypeText),
		field("status", herb.TypeText))
	d.Report = nil
	var out []herb.Record
	for i := range 400 {
		out = append(out, append(slices.Clone(records[i%len(records)]),
			strings.Repeat(fmt.Sprintf("Grows %d inches in a warm & sunny place. ", i), 5),
			fmt.Sprintf("Ada Author %d", i), "in stock"))
	}
	return d, out
}

// BenchmarkPage compares a page of the table with the listing it shows, through the whole server.
// The listing itself is cached; the difference is the cost of rendering.
func BenchmarkPage(b *testing.B) {
	s := newSite(b, nil)
	d, records := shop()
	s.library.Put(d, records)
	v := s.library.View(d.Ref)
	v.Engine = &cachedEngine{Engine: v.Engine}
	for _, query := range []string{"page=2", "category=fern", "per_page=100", ""} {
		for _, encoding := range []string{"gzip, deflate, br, zstd", "identity"} {
			for _, path := range []string{"/api/v1/shop/catalog/data", "/datasets/shop/catalog"} {
				kind := "listing"
				if strings.HasPrefix(path, "/datasets/") {
					kind = "page"
				}
				b.Run(fmt.Sprintf("%s/%s/%s", query, encoding, kind), func(b *testing.B) {
					r := (&http.Request{
						Method: http.MethodGet, Host: "herbarium.test",
						Header: http.Header{"Accept-Encoding": {encoding}},
						URL:    &url.URL{Path: path, RawQuery: query},
					}).WithContext(b.Context())
					w := &nullWriter{header: http.Header{}}
					b.ReportAllocs()
					for b.Loop() {
						clear(w.header)
						w.bytes = 0
						s.ServeHTTP(w, r)
						if w.status != http.StatusOK {
							b.Fatal(w.status)
						}
					}
					b.ReportMetric(float64(w.bytes), "B/response")
				})
			}
		}
	}
}
