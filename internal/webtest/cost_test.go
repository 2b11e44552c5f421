package webtest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
)

// costs are views, the query of the listing behind each, and how many allocations its page may take.
var costs = []struct {
	name, query string
	most        float64
}{
	{"entrance", "", 100}, {"page", "?page=3", 600}, {"sorted", "?sort=price&order=desc&page=2", 850},
	{"filtered", "?category=herb&category=tree", 1200}, {"searched", "?search=garden&status=published", 1100},
	{"full", "?per_page=100&sort=title", 1000},
}

const dataPath = "/api/v1/garden/catalog/data"

// ask returns how to have a request answered in this process, and checks that it can be.
func ask(t testing.TB, handler http.Handler, path, encoding string) func() {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://herbarium.test"+path, nil)
	r.Header.Set("Accept-Encoding", encoding)
	w := httptest.NewRecorder()
	if handler.ServeHTTP(w, r); w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	return func() { handler.ServeHTTP(httptest.NewRecorder(), r) }
}

// TestCost bounds what a page allocates. Time is measured by BenchmarkFirstAnswer: in a test it would depend on what else
// the machine does, while this tells of work that is done again and again as surely.
func TestCost(t *testing.T) {
	handler := shared.in(t).handler(t, "")
	for _, c := range costs {
		if got := testing.AllocsPerRun(50, ask(t, handler, catalog+c.query, "identity")); got > c.most {
			t.Errorf("%s takes %.0f allocations, at most %.0f", c.name, got, c.most)
		}
	}
}

// BenchmarkFirstAnswer compares the first answer of a page with that of the listing it shows, within the process and over a
// connection. Both are asked for in turn, so that what else the machine does slows both down; page/listing is the ratio of
// their medians.
func BenchmarkFirstAnswer(b *testing.B) {
	s := newSite(b, nil)
	handler := s.handler(b, "")
	overHTTP := func(path, encoding string) func() {
		r, err := http.NewRequest(http.MethodGet, s.url+path, nil)
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", encoding)
		return func() {
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, res.Body) // only how long it takes matters
			_ = res.Body.Close()
		}
	}
	inProcess := func(path, encoding string) func() { return ask(b, handler, path, encoding) }
	for _, way := range []struct {
		name, encoding string
		asking         func(path, encoding string) func()
	}{
		{"process", "identity", inProcess}, {"process,compressed", "zstd, gzip", inProcess},
		{"http", "identity", overHTTP}, {"http,compressed", "zstd, gzip", overHTTP},
	} {
		for _, c := range costs {
			b.Run(way.name+"/"+c.name, func(b *testing.B) {
				each := [2]func(){way.asking(catalog+c.query, way.encoding), way.asking(dataPath+c.query, way.encoding)}
				var took [2][]time.Duration
				for b.Loop() {
					for i, do := range each {
						start := time.Now()
						do()
						took[i] = append(took[i], time.Since(start))
					}
				}
				median := func(d []time.Duration) float64 { slices.Sort(d); return float64(d[len(d)/2]) }
				b.ReportMetric(median(took[0])/median(took[1]), "page/listing")
				b.ReportMetric(median(took[0])/1000, "page-µs")
				b.ReportMetric(0, "ns/op") // of both together says nothing
			})
		}
	}
}
