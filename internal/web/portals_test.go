package web_test

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/segment/segmenttest"
	"herbarium/internal/web"
)

// publishContact publishes the garden with a contact.
func publishContact(descriptor string) func(*web.Options, *apitest.Library) {
	return func(_ *web.Options, l *apitest.Library) {
		d, records := garden()
		d.Version, d.Published = "20260320T083000Z-new", time.Date(2026, 3, 20, 8, 30, 0, 0, time.UTC)
		d.Descriptor = herb.NewDescriptor([]byte(descriptor))
		l.Put(d, records)
	}
}

const withContact = `{"package":{"publisher":"City & Co","contactPoint":{"fn":"Ana","hasEmail":"mailto:ana+data@example.org"}},` +
	`"resource":{"licenses":[{"name":"CC0-1.0"}],"keywords":["plants"]}}`

// TestPortals_memory checks that the memory for documents about all datasets is reserved.
func TestPortals_memory(t *testing.T) {
	t.Parallel()
	lib := &apitest.Library{}
	lib.Put(places())
	pages, err := web.New(web.Options{
		Site: httpapi.Site{Library: lib, History: lib.History}, Folder: func(herb.Ref) string { return "" },
		SourceErrors: func(context.Context) ([]herb.SourceError, error) { return nil, nil },
	})
	must.NoError(t, err)
	for _, path := range []string{"/sitemap.xml"} {
		get := func(p query.Pacer) int {
			w := httptest.NewRecorder()
			server := newAPI(t, httpapi.Site{Library: lib}, pacedPages{pages, p}) // without a cached document
			server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			return w.Code
		}
		var p segmenttest.Pacer
		if status := get(&p); status != 200 || p.Peak == 0 || p.Held != 0 {
			t.Errorf("%s: %d, reserved %d bytes, holds %d", path, status, p.Peak, p.Held)
		}
		p.Full = herb.Errorf(herb.CodeUnavailable, "no memory")
		if status := get(&p); status != 503 {
			t.Errorf("%s without memory: %d", path, status)
		}
	}
}

// countingPacer counts the documents for which requests reserve memory.
type countingPacer struct {
	segmenttest.Pacer
	documents atomic.Int64
}

// Reserve implements query.Pacer.
func (p *countingPacer) Reserve(context.Context, int) (release func(), err error) {
	p.documents.Add(1)
	return func() {}, nil
}

// TestPortals_once checks that a sitemap of more than a megabyte is made once for each state of the
// catalogue, however many requests ask for it at once, and is the same with and without
// compression.
func TestPortals_once(t *testing.T) {
	t.Parallel()
	lib := &apitest.Library{}
	lib.Put(places())
	for i := range 20_000 {
		view := lib.Views[0]
		view.Ref = herb.Ref{Namespace: "many", Name: fmt.Sprintf("d%05d", i)}
		lib.Views = append(lib.Views, view)
	}
	pages, err := web.New(web.Options{
		Site: httpapi.Site{Library: lib, History: lib.History}, Folder: func(herb.Ref) string { return "" },
		SourceErrors: func(context.Context) ([]herb.SourceError, error) { return nil, nil },
	})
	must.NoError(t, err)
	var p countingPacer
	server := newAPI(t, httpapi.Site{Library: lib}, pacedPages{pages, &p})
	get := func(path, accepted string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Accept-Encoding", accepted)
		server.ServeHTTP(w, r)
		return w
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			w := get("/sitemap.xml", []string{"gzip", "", "zstd", "gzip;q=0, *"}[i%4])
			if w.Code != 200 || w.Body.Len() < 1<<20 && i%4 == 1 {
				t.Errorf("%d with %d bytes", w.Code, w.Body.Len())
			}
		})
	}
	all.Wait()
	plain, packed := get("/sitemap.xml", ""), get("/sitemap.xml", "gzip")
	unpacked, err := gzip.NewReader(packed.Body)
	must.NoError(t, err)
	body, err := io.ReadAll(unpacked)
	must.NoError(t, err)
	if string(body) != plain.Body.String() || packed.Header().Get("Content-Encoding") != "gzip" ||
		packed.Header().Get("Etag") != plain.Header().Get("Etag") {
		t.Errorf("%d bytes with compression, %d without: %v", len(body), plain.Body.Len(), packed.Header())
	}
	for _, path := range []string{
		"/sitemap.xml?x=1", "/sitemap.xml?page=1&page=1", "/robots.txt?x", "/catalog.jsonld?x=1",
		"/catalog.jsonld?api_key=x",
	} {
		if w := get(path, ""); w.Code != 400 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if n := p.documents.Load(); n != 1 {
		t.Errorf("the requests make %d sitemaps", n)
	}
	setVersions(lib, "v9")
	if w := get("/sitemap.xml", ""); w.Header().Get("Etag") == plain.Header().Get("Etag") || p.documents.Load() != 2 {
		t.Errorf("another state of the catalogue: %d sitemaps", p.documents.Load())
	}
}

// TestPortals_protected checks that documents for portals and search engines name open datasets
// only, also for visitors with a key.
func TestPortals_protected(t *testing.T) {
	t.Parallel()
	s := newSite(t, publishContact(withContact))
	for _, path := range []string{"/sitemap.xml", "/robots.txt"} {
		for _, key := range []string{"", staffKey} {
			a := s.get(t, path, "Cookie", "herbarium_key="+key)
			if a.status != 200 || strings.Contains(a.body, "staff") {
				t.Errorf("%s: %d %s", path, a.status, a.body)
			}
		}
	}
	if a := s.get(t, locked+"/croissant.json", "Cookie", "herbarium_key="+staffKey); a.status != 404 ||
		strings.Contains(a.body, "room") {
		t.Errorf("a protected dataset: %d %s", a.status, a.body)
	}
	if link := s.get(t, locked, "Cookie", "herbarium_key="+staffKey).header.Get("Link"); strings.Contains(link,
		"croissant") {
		t.Errorf("the page of a protected dataset links to %s", link)
	}
}

func TestSitemap(t *testing.T) {
	t.Parallel()
	s := newSite(t, publishContact(withContact))
	a := s.get(t, "/sitemap.xml")
	var urls struct {
		URLs []struct {
			Loc     string `xml:"loc"`
			Lastmod string `xml:"lastmod"`
		} `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 url"`
	}
	if err := xml.Unmarshal([]byte(a.body), &urls); err != nil || a.header.Get("Content-Type") != "application/xml" {
		t.Fatalf("%v in %s", err, a.body)
	}
	found := false
	for _, u := range urls.URLs {
		found = found || u.Loc == "http://herbarium.test/datasets/garden/catalog" && u.Lastmod == "2026-03-20T08:30:00Z"
		if path := strings.TrimPrefix(u.Loc, "http://herbarium.test"); s.get(t, path).status != 200 {
			t.Errorf("%s does not exist", u.Loc)
		}
	}
	if !found || urls.URLs[0].Loc != "http://herbarium.test/" {
		t.Errorf("the sitemap is %s", a.body)
	}
	if b := s.get(t, "/sitemap.xml", "If-None-Match", a.header.Get("Etag")); b.status != 304 {
		t.Errorf("the second request: %d", b.status)
	}
	if b := s.get(t, "/sitemap.xml?page=2"); b.status != 404 {
		t.Errorf("a page past the end: %d", b.status)
	}
	if robots := s.get(t, "/robots.txt").body; !strings.Contains(robots,
		"\nSitemap: http://herbarium.test/sitemap.xml\n") || !strings.HasPrefix(robots, "User-agent: *\n") {
		t.Errorf("robots.txt is %s", robots)
	}
}

// TestRobots checks that crawlers may read the pages of all datasets, whatever their names, and
// what these name for them, but no views with filters.
func TestRobots(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *web.Options, l *apitest.Library) {
		o.PublicURL = "https://example.org/open"
		for _, name := range []string{"data", "data-2024", "database", "facets", "facets.v2", "files", "publish"} {
			d := l.View(herb.Ref{Namespace: "garden", Name: "catalog"}).Dataset
			for _, d.Ref = range []herb.Ref{{Namespace: "city", Name: name}, {Namespace: name, Name: "city"},
				{Namespace: name, Name: name}} {
				l.Put(d, nil)
			}
		}
	})
	rules := regexp.MustCompile(`(?m)^(Allow|Disallow): (.*)$`).FindAllStringSubmatch(s.get(t, "/robots.txt").body, -1)
	allowed := func(address string) bool { // RFC 9309: the longest pattern decides, Allow if two are equal
		path, longest, allow := strings.TrimPrefix(address, "https://example.org"), -1, true
		for _, rule := range rules {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(rule[2]), `\*`, ".*")
			if strings.HasSuffix(pattern, `\$`) {
				pattern = strings.TrimSuffix(pattern, `\$`) + "$"
			}
			if regexp.MustCompile("^"+pattern).MatchString(path) &&
				(len(rule[2]) > longest || len(rule[2]) == longest && rule[1] == "Allow") {
				longest, allow = len(rule[2]), rule[1] == "Allow"
			}
		}
		return allow
	}
	addresses := regexp.MustCompile(`<loc>(.*?)</loc>`).FindAllStringSubmatch(s.get(t, "/sitemap.xml").body, -1)
	if len(addresses) < 21 {
		t.Fatalf("the sitemap has %d addresses", len(addresses))
	}
	for _, a := range addresses {
		named := []string{a[1]}
		if path, isDataset := strings.CutPrefix(a[1], "https://example.org/open/datasets/"); isDataset {
			for _, page := range []string{"/about", "/api", "/versions", "/map", "/chart", "/changes",
				"/croissant.json", "/feed.atom"} {
				named = append(named, a[1]+page)
			}
			page := parse(t, s.get(t, "/datasets/"+path).body)
			named = append(named, meta(page, "og:image"))
			for _, d := range linkedData(t, page)["distribution"].([]any) {
				named = append(named, d.(map[string]any)["contentUrl"].(string))
			}
			for _, page := range []string{"/data", "?category=tree", "/facets?_facet=id", "/facets",
				"/chart?_by=category", "/data.csv?category=tree", "/files/photo.jpg", "/changes/facets"} {
				if allowed(a[1] + page) {
					t.Errorf("%s is allowed", a[1]+page)
				}
			}
		}
		for _, address := range named {
			if address == "" || !allowed(address) {
				t.Errorf("%q is not allowed", address)
			}
		}
	}
	for _, d := range regexp.MustCompile(`"dcat:accessURL":\{"@id":"(.*?)"`).FindAllStringSubmatch(s.get(t,
		"/catalog.jsonld").body, -1) {
		if !allowed(d[1]) {
			t.Errorf("%s, which metadata names, is not allowed", d[1])
		}
	}
	if allowed("https://example.org/open/publish") {
		t.Error("pages for publishing are allowed")
	}
}

// TestSitemap_index has more datasets than a sitemap may have.
func TestSitemap_index(t *testing.T) {
	t.Parallel()
	const datasets = 50_010
	s := newSite(t, func(_ *web.Options, l *apitest.Library) {
		for i := range datasets {
			l.Views = append(l.Views, l.Views[0])
			l.Views[len(l.Views)-1].Ref, l.Views[len(l.Views)-1].Access = herb.Ref{
				Namespace: "many", Name: fmt.Sprint("d", i)}, herb.AccessOpen
		}
	})
	index := s.get(t, "/sitemap.xml").body
	pages := regexp.MustCompile(`<sitemap><loc>http://herbarium.test(.*?)</loc>`).FindAllStringSubmatch(index, -1)
	if len(pages) != 2 || strings.Contains(index, "<url>") {
		t.Fatalf("the index is %.500s", index)
	}
	total := 0
	for _, page := range pages {
		n := strings.Count(s.get(t, page[1]).body, "<loc>")
		total += n
		if n > 50_000 {
			t.Errorf("%s has %d addresses", page[1], n)
		}
	}
	if total < datasets {
		t.Errorf("there are %d addresses", total)
	}
}

// TestPOD checks that harvesters of Project Open Data find the catalogue.
func TestPOD(t *testing.T) {
	t.Parallel()
	s := newSite(t, publishContact(withContact))
	if a := s.get(t, "/data.json"); a.status != 303 || a.header.Get("Location") != "/catalog.jsonld" {
		t.Errorf("%d to %s", a.status, a.header.Get("Location"))
	}
}

// TestCroissant checks the description with the rules of the specification: the members that are
// required, references that resolve, and a hash that the file has.
func TestCroissant(t *testing.T) {
	t.Parallel()
	s := newSite(t, publishContact(withContact))
	link := s.get(t, catalog).header.Get("Link")
	address := regexp.MustCompile(
		`<([^>]*)>; rel="describedby"; type="application/ld\+json"; profile="http://mlcommons.org/croissant/1.1"`).FindStringSubmatch(link)
	if address == nil || !strings.Contains(link, `rel="item"; type="text/csv"`) ||
		!strings.Contains(link, `<https://creativecommons.org/publicdomain/zero/1.0/>; rel="license"`) {
		t.Fatalf("the page links to %s", link)
	}
	a := s.get(t, address[1])
	var d struct {
		Context                                     map[string]any `json:"@context"`
		Type                                        string         `json:"@type"`
		ConformsTo, Name, Description, License, URL any

		DatePublished, Version, IsLiveDataset, Creator, CiteAs any

		Distribution []struct {
			ID                                       string `json:"@id"`
			Type                                     string `json:"@type"`
			Name, ContentURL, EncodingFormat, SHA256 string
		}
		RecordSet []struct {
			ID   string `json:"@id"`
			Type string `json:"@type"`
			Key  []struct {
				ID string `json:"@id"`
			}
			Field []struct {
				ID             string `json:"@id"`
				Type           string `json:"@type"`
				Name, DataType string
				Source         struct {
					FileObject struct {
						ID string `json:"@id"`
					}
					Extract struct{ Column string }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(a.body), &d); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]any{"name": d.Name, "description": d.Description, "license": d.License,
		"url": d.URL, "datePublished": d.DatePublished, "creator": d.Creator} {
		if value == nil || value == "" {
			t.Errorf("there is no %s", name)
		}
	}
	if d.Type != "sc:Dataset" || d.ConformsTo != "http://mlcommons.org/croissant/1.1" ||
		d.Version != "20260320.83000.0" || d.IsLiveDataset != nil || d.Context["recordSet"] != "cr:recordSet" {
		t.Errorf("the description is %s", a.body)
	}
	if cited, _ := d.CiteAs.(string); !strings.Contains(cited, "City & Co") ||
		!strings.Contains(cited, "_version=20260320T083000Z-new") {
		t.Errorf("the citation is %q", d.CiteAs)
	}
	authored := newSite(t, publishContact(
		`{"package":{"publisher":"City & Co","contributors":[{"title":"Ana","role":"author"},{"title":"Bo"}]}}`))
	if a := authored.get(t, catalog+"/croissant.json"); !strings.Contains(a.body,
		`"creator":[{"@type":"sc:Person","name":"Ana"}]`) {
		t.Errorf("the author is not the creator: %s", a.body)
	}
	file := d.Distribution[0]
	csv := s.get(t, strings.TrimPrefix(file.ContentURL, "http://herbarium.test"))
	sum := sha256.Sum256([]byte(csv.body))
	if file.Type != "cr:FileObject" || file.EncodingFormat != "text/csv" || csv.status != 200 ||
		file.SHA256 != hex.EncodeToString(sum[:]) ||
		!strings.Contains(file.ContentURL, "_version=20260320T083000Z-new") {
		t.Errorf("the file is %+v: %d", file, csv.status)
	}
	header, _, _ := strings.Cut(csv.body, "\r\n")
	ids := map[string]bool{}
	types := map[string]string{}
	for _, f := range d.RecordSet[0].Field {
		if f.Type != "cr:Field" || ids[f.ID] || f.Source.FileObject.ID != file.ID ||
			!slices.Contains(strings.Split(header, ","), f.Source.Extract.Column) {
			t.Errorf("the field is %+v", f)
		}
		ids[f.ID], types[f.Name] = true, f.DataType
	}
	if types["id"] != "sc:Integer" || types["date"] != "sc:Date" || types["title"] != "sc:Text" || len(types) != 8 {
		t.Errorf("the types are %v", types)
	}
	if key := d.RecordSet[0].Key; d.RecordSet[0].Type != "cr:RecordSet" || len(key) != 1 || !ids[key[0].ID] {
		t.Errorf("the key is %v", key)
	}
}

// TestReportProblem checks that the page links to the contact of the descriptor, with a permalink,
// and to nothing else that a descriptor names.
func TestReportProblem(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ contact, want string }{
		{`{"fn":"Ana","hasEmail":"mailto:ana@example.org"}`,
			"mailto:ana@example.org?subject=Problem%20with%20The%20garden&body=%0D%0A%0D%0Ahttp%3A%2F%2Fherbarium.test%2Fdatasets%2Fgarden%2Fcatalog%3Fcategory%3Dfern%26_version%3D20260320T083000Z-new"},
		{`{"name":"Desk","path":"https://example.org/contact"}`, "https://example.org/contact"},
		{`{"name":"Desk","path":"http://example.org/contact"}`, ""},
		{`{"name":"Desk","path":"javascript:alert(1)"}`, ""},
		{`{"name":"Desk","email":"a@b.org?bcc=c@d.org"}`, ""},
		{`{"name":"Desk","email":"a@b.org,c@d.org"}`, ""},
		{`"Desk"`, ""},
	} {
		s := newSite(t, publishContact(`{"resource":{"contactPoint":`+tt.contact+`}}`))
		got := ""
		for _, a := range all(s.page(t, catalog+"/about?category=fern", 200), tag("a", "")) {
			if words(a) == "Report a problem" {
				got = attr(a, "href")
			}
		}
		if got != tt.want {
			decoded, _ := url.QueryUnescape(got)
			t.Errorf("%s leads to %s (%s)", tt.contact, got, decoded)
		}
	}
}
