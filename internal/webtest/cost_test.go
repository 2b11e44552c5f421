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

// TestSentAhead holds that a browser gets the beginning of a page before its records are written, which is what
// BenchmarkFirstAnswer measures.
func TestSentAhead(t *testing.T) {
	handler := shared.in(t).handler(t, "")
	for _, c := range costs {
		r := httptest.NewRequest(http.MethodGet, "http://herbarium.test"+catalog+c.query, nil)
		r.Header.Set("Accept-Encoding", browserEncodings)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if kept := c.query == ""; w.Code != http.StatusOK || w.Flushed == kept { // what is kept whole is sent at once
			t.Errorf("%s: %d, sent ahead %t", c.name, w.Code, w.Flushed)
		}
	}
}

// firstWrite is a writer that notes when it is first written to.
type firstWrite struct {
	*httptest.ResponseRecorder
	at time.Time
}

func (w *firstWrite) Write(b []byte) (int, error) {
	if w.at.IsZero() {
		w.at = time.Now()
	}
	return w.ResponseRecorder.Write(b)
}

// BenchmarkFirstAnswer compares the first bytes of a page, and the whole of it, with those of the listing it shows, within the
// process and over a connection. Both are asked for in turn, so that what else the machine does slows both down; first/listing
// and whole/listing are ratios of medians.
func BenchmarkFirstAnswer(b *testing.B) {
	s := newSite(b, nil)
	handler := s.handler(b, "")
	overHTTP := func(r *http.Request) (first time.Time) {
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		first = time.Now()
		_, _ = io.Copy(io.Discard, res.Body) // only how long it takes matters
		_ = res.Body.Close()
		return first
	}
	inProcess := func(r *http.Request) (first time.Time) {
		w := firstWrite{ResponseRecorder: httptest.NewRecorder()}
		handler.ServeHTTP(&w, r)
		return w.at
	}
	for _, way := range []struct {
		name, encoding string
		ask            func(*http.Request) time.Time
	}{
		{"process", "identity", inProcess}, {"process,compressed", browserEncodings, inProcess},
		{"http", "identity", overHTTP}, {"http,compressed", browserEncodings, overHTTP},
	} {
		for _, c := range costs {
			b.Run(way.name+"/"+c.name, func(b *testing.B) {
				var requests [2]*http.Request
				for i, path := range []string{catalog, dataPath} {
					r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, s.url+path+c.query, nil)
					if err != nil {
						b.Fatal(err)
					}
					r.Header.Set("Accept-Encoding", way.encoding)
					requests[i] = r
				}
				var first, whole [2][]time.Duration
				for b.Loop() {
					for i, r := range requests {
						start := time.Now()
						at := way.ask(r)
						whole[i] = append(whole[i], time.Since(start))
						first[i] = append(first[i], at.Sub(start))
					}
				}
				median := func(d []time.Duration) float64 { slices.Sort(d); return float64(d[len(d)/2]) }
				b.ReportMetric(median(first[0])/median(first[1]), "first/listing")
				b.ReportMetric(median(whole[0])/median(whole[1]), "whole/listing")
				b.ReportMetric(median(first[0])/1000, "first-µs")
				b.ReportMetric(0, "ns/op") // of both together says nothing
			})
		}
	}
}

// browserEncodings is what browsers take.
const browserEncodings = "gzip, deflate, br, zstd"
