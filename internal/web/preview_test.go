package web_test

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/segment/segmenttest"
	"herbarium/internal/web"
)

// countingEngine counts queries for facets.
type countingEngine struct {
	query.Engine
	facets *int
}

func (s countingEngine) Facets(ctx context.Context, r *query.FacetRequest) (query.Facets, error) {
	*s.facets++
	return s.Engine.Facets(ctx, r)
}

// TestPreview checks the images of views: their size, their caching, and who gets them.
func TestPreview(t *testing.T) {
	t.Parallel()
	counted := 0
	s := newSite(t, func(_ *web.Options, l *apitest.Library) {
		l.Put(places())
		v := l.View(herb.Ref{Namespace: "garden", Name: "catalog"})
		v.Engine = countingEngine{v.Engine, &counted}
	})
	images := map[string]bool{}
	for _, path := range []string{
		catalog + "/preview.png", catalog + "/preview.png?category=fern",
		catalog + "/preview.png?search=%E6%A4%8D%E7%89%A9", catalog + "/chart/preview.png?_by=category",
		catalog + "/chart/preview.png?_by=date:month", catalog + "/chart/preview.png?_measure=mean:price",
		catalog + "/chart/preview.png?_by=category&_by=date:year&_kind=table",
		"/datasets/geo/places/map/preview.png", "/datasets/geo/places/map/preview.png?name=Oslo",
		"/datasets/evil/nasty/preview.png", "/datasets/empty/none/preview.png", "/datasets/wide/many/preview.png",
	} {
		a := s.get(t, path)
		if a.status != 200 || a.header.Get("Content-Type") != "image/png" || a.header.Get("Etag") == "" {
			t.Errorf("%s: %d %s %.80s", path, a.status, a.header, a.body)
			continue
		}
		img, err := png.Decode(strings.NewReader(a.body))
		if err != nil || img.Bounds().Dx() != 1200 || img.Bounds().Dy() != 630 {
			t.Errorf("%s: %v %v", path, err, img.Bounds())
		}
		if images[a.body] {
			t.Errorf("%s has the image of another view", path)
		}
		images[a.body] = true
	}
	before := counted
	first := s.get(t, catalog+"/preview.png?category=fern")
	if counted != before {
		t.Error("an image is drawn again")
	}
	if a := s.get(t, catalog+"/preview.png?category=fern", "If-None-Match",
		first.header.Get("Etag")); a.status != http.StatusNotModified {
		t.Errorf("a client that has the image gets %d", a.status)
	}
	if got := s.get(t, catalog+"/preview.png?_small=v1").header.Get("Cache-Control"); got != "public, max-age=86400" {
		t.Errorf("Cache-Control of an image of a version is %q", got)
	}
	for filter, longest := range map[string]time.Duration{"date[gte]=today-30d": 24 * time.Hour,
		"date[gte]=now-24h": time.Minute} {
		before := time.Now().UTC()
		a := s.get(t, catalog+"/preview.png?_small=v1&"+filter)
		var age int
		_, err := fmt.Sscanf(a.header.Get("Cache-Control"), "public, max-age=%d", &age)
		moves := before.Truncate(longest).Add(longest)
		if err != nil || time.Now().Before(moves) && before.Add(time.Duration(age)*time.Second).After(moves) {
			t.Errorf("%s: Cache-Control is %q", filter, a.header.Get("Cache-Control"))
		}
	}
	for path, want := range map[string]int{
		locked + "/preview.png": 401, catalog + "/preview.png?sort=prize": 400,
		catalog + "/chart/preview.png?_by=nothing": 400, "/datasets/garden/nothing/preview.png": 404,
	} {
		if got := s.get(t, path).status; got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	if got := s.get(t, locked+"/preview.png", "Cookie", "herbarium_key="+staffKey).status; got != 404 {
		t.Errorf("a protected dataset has a preview for its readers: %d", got)
	}
}

// pacedPages are pages of datasets that announce their work to a pacer instead of the server.
type pacedPages struct {
	httpapi.Pages
	pacer query.Pacer
}

func (p pacedPages) Handlers() map[string]httpapi.PageHandler {
	handlers := p.Pages.Handlers()
	for pattern, h := range handlers {
		if serve := h.ServeDataset; serve != nil {
			h.ServeDataset = func(w *httpapi.Page, r *http.Request, v gate.DatasetView) error {
				return serve(w, r.WithContext(query.WithPacer(r.Context(), p.pacer)), v)
			}
			handlers[pattern] = h
		}
		if serve := h.Serve; serve != nil {
			h.Serve = func(w *httpapi.Page, r *http.Request) error {
				return serve(w, r.WithContext(query.WithPacer(r.Context(), p.pacer)))
			}
			handlers[pattern] = h
		}
	}
	return handlers
}

// TestPreview_lane checks that drawing is announced as expensive work, and that its memory is
// reserved: a request that may not have it draws nothing.
func TestPreview_lane(t *testing.T) {
	t.Parallel()
	lib := &apitest.Library{}
	lib.Put(places())
	pages, err := web.New(web.Options{
		Site: httpapi.Site{Library: lib, History: lib.History}, Folder: func(herb.Ref) string { return "" },
		SourceErrors: func(context.Context) ([]herb.SourceError, error) { return nil, nil },
	})
	must.NoError(t, err)
	draw := func(p query.Pacer) (status, bytes int) {
		w := httptest.NewRecorder()
		server := newAPI(t, httpapi.Site{Library: lib}, pacedPages{pages, p}) // without a cached image
		server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/datasets/geo/places/map/preview.png", nil))
		return w.Code, w.Body.Len()
	}
	var p segmenttest.Pacer
	if status, n := draw(&p); status != 200 || n == 0 || p.Most < 1<<17 || p.Held != 0 {
		t.Errorf("%d, %d bytes; announced %d steps, holds %d bytes", status, n, p.Most, p.Held)
	}
	if status, _ := draw(fullPacer{&p}); status != 503 {
		t.Errorf("without memory: %d", status)
	}
}

// fullPacer has no memory for an image.
type fullPacer struct{ *segmenttest.Pacer }

func (p fullPacer) Reserve(_ context.Context, bytes int) (func(), error) {
	if bytes > 3<<20 {
		return nil, herb.Errorf(herb.CodeUnavailable, "no memory")
	}
	return func() {}, nil
}

// places returns a dataset with coordinates.
func places() (herb.Dataset, []herb.Record) {
	d := herb.Dataset{
		Ref: herb.Ref{Namespace: "geo", Name: "places"}, Title: "Places",
		Fields: []herb.Field{field("name", herb.TypeText), field("latitude", herb.TypeNumber),
			field("longitude", herb.TypeNumber)},
	}
	return d, []herb.Record{{"Oslo", "59.9", "10.7"}, {"Lima", "-12", "-77"}, {"Perth", "-32", "115.9"}}
}

// TestPreview_page checks the title and the tags of pages: they say which rows a view shows, and
// other sites fetch the page of the same view.
func TestPreview_page(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *web.Options, l *apitest.Library) {
		o.PublicURL = "https://data.example/open"
		l.Put(places())
	})
	const site = "https://data.example"
	for _, tt := range []struct{ path, title, address, image, alt string }{
		{catalog, "The garden", "/open" + catalog, "/open" + catalog + "/preview.png?_small=v1", "60 rows"},
		{catalog + "?category=fern&price%5Bgte%5D=5000&sort=price&page=2&per_page=2",
			"The garden: 17 of 60 rows, category is fern, Price in € ≥ 5,000",
			"/open" + catalog + "?category=fern&price%5Bgte%5D=5000&sort=price&page=2&per_page=2", "/open" + catalog +
				"/preview.png?category=fern&price%5Bgte%5D=5000&_small=v1",
			"17 of 60 rows, category is fern, Price in € ≥ 5,000"},
		{catalog + "?search=fer*&date%5Bgte%5D=2024-01-01&date%5Blte%5D=2024-06-30",
			"The garden: 9 of 60 rows, “fer”, date 2024-01-01 – 2024-06-30", "", "", ""},
		{catalog + "/chart?_by=category&category=moss", "Rows by category: The garden: 19 of 60 rows, category is moss",
			"",
			"/open" + catalog + "/chart/preview.png?category=moss&_by=category&_small=v1", "Rows by category"},
		{"/datasets/geo/places/map?latitude%5Blt%5D=0", "Map: Places: 2 of 3 rows, latitude < 0",
			"/open/datasets/geo/places/map?latitude%5Blt%5D=0",
			"/open/datasets/geo/places/map/preview.png?latitude%5Blt%5D=0&_small=v1", "2 of 3 rows, latitude < 0"},
		{"/datasets/geo/places?latitude%5Blt%5D=100", "Places: All 3 rows, latitude < 100", "", "", ""},
		{"/datasets/geo/places", "Places", "", "", "3 rows"},
	} {
		doc := s.page(t, tt.path, 200)
		if got := strings.TrimSuffix(textOf(all(doc, tag("title", ""))[0]), " · Herbarium"); got != tt.title ||
			meta(doc, "og:title") != tt.title {
			t.Errorf("%s: the title is %q and %q, want %q", tt.path, got, meta(doc, "og:title"), tt.title)
		}
		for property, want := range map[string]string{"og:url": site + tt.address, "og:image": site + tt.image,
			"og:image:alt": tt.alt} {
			if got := meta(doc, property); want != site && want != "" && got != want {
				t.Errorf("%s: %s is %q, want %q", tt.path, property, got, want)
			}
		}
		image := strings.TrimPrefix(meta(doc, "og:image"), site+"/open")
		if a := s.get(t, image); a.status != 200 || !bytes.HasPrefix([]byte(a.body), []byte("\x89PNG")) {
			t.Errorf("%s gives %d", image, a.status)
		}
	}
	r := httptest.NewRequest(http.MethodGet, locked, nil)
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Cookie", "herbarium_key="+staffKey)
	if doc := parse(t, s.do(t, r).body); meta(doc, "og:image") != "" || meta(doc, "twitter:card") != "summary" {
		t.Error("a protected dataset has a preview")
	}
}

// meta returns the content of a meta element.
func meta(doc *html.Node, property string) string {
	for _, m := range all(doc, tag("meta", "")) {
		if attr(m, "property") == property || attr(m, "name") == property {
			return attr(m, "content")
		}
	}
	return ""
}
