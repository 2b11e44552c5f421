package web_test

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/web"
)

// newMapSite returns a site with a dataset that has a map.
func newMapSite(t testing.TB) *site {
	return newSite(t, func(_ *web.Options, lib *apitest.Library) {
		lib.Put(herb.Dataset{Ref: herb.Ref{Namespace: "geo", Name: "places"}, Fields: []herb.Field{
			field("name", herb.TypeText), field("latitude", herb.TypeNumber), field("longitude", herb.TypeNumber),
		}}, []herb.Record{{"Ghent", "51.05", "3.72"}, {"Lima", "-12.05", "-77.04"}})
		lib.Histories[herb.Ref{Namespace: "geo", Name: "places"}] = nil
	})
}

// embeddedPages are views that other sites can show.
var embeddedPages = map[string]int{
	framed: 200, framed + "?category=fern&search=plant&sort=price&per_page=10&page=2&_theme=dark": 200,
	framed + "?search=zzz": 200, framed + "?sort=prize": 400, framed + "?page=99": 200,
	framed + "/chart?_by=category": 200, framed + "/chart?_by=category&_by=tags&_kind=table": 200,
	framed + "/chart?_measure=mean:price": 200,
	"/embed/evil/nasty":                   200, "/embed/evil/nasty/chart": 200, "/embed/wide/many": 200,
	"/embed/empty/none":     200,
	"/embed/geo/places/map": 200, "/embed/geo/places": 200,
}

// framed is the table of the catalogue of the garden in a frame.
const framed = "/embed/garden/catalog"

// TestEmbed checks that embedded views can be shown by every site, have nothing to click but links,
// and lead nowhere else within the frame.
func TestEmbed(t *testing.T) {
	t.Parallel()
	s := newMapSite(t)
	for path, status := range embeddedPages {
		a := s.get(t, path)
		if a.status != status {
			t.Errorf("%s gives %d, want %d: %.300s", path, a.status, status, a.body)
			continue
		}
		policy := a.header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors *;",
			"base-uri 'none'", "form-action 'none'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the content policy lacks %s: %s", path, part, policy)
			}
		}
		if strings.Contains(policy, "connect-src") || strings.Contains(policy, "unsafe") ||
			a.header.Get("X-Frame-Options") != "" || a.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %v", path, a.header)
		}
		if vary := a.header.Get("Vary"); strings.Contains(vary, "Cookie") || status == 200 &&
			a.header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: Vary is %q, Cache-Control %q", path, vary, a.header.Get("Cache-Control"))
		}
		doc := parse(t, a.body)
		checkSafe(t, doc)
		if n := len(all(doc, tag("h1", ""))); n != 1 || len(all(doc, func(n *html.Node) bool {
			return n.Data == "form" || n.Data == "input" || n.Data == "button" || n.Data == "details"
		})) > 0 {
			t.Errorf("%s has %d main headings, or controls", path, n)
		}
		if scripts := all(doc, tag("script", "")); len(scripts) != 1 ||
			!strings.HasSuffix(attr(scripts[0], "src"), "/embed.js") {
			t.Errorf("%s has %d scripts", path, len(scripts))
		}
		for _, link := range all(doc, tag("a", "")) {
			href := attr(link, "href")
			if inFrame := attr(link, "target") == ""; inFrame != (strings.HasPrefix(href, "?") ||
				strings.HasPrefix(href, "/embed/")) {
				t.Errorf("%s: the link to %s is in the frame: %v", path, href, inFrame)
			}
		}
		source := one(t, one(t, doc, tag("header", "")), tag("a", ""))
		if attr(source, "rel") != "noopener" || attr(source, "target") != "_blank" ||
			s.get(t, attr(source, "href")).status != 200 {
			t.Errorf("%s: the source is %v", path, source.Attr)
		}
	}
}

// TestEmbed_table checks that rows can be sorted, turned and filtered less within the frame.
func TestEmbed_table(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	doc := s.page(t, framed+"?category=fern&search=plant&per_page=5&page=2&_theme=light", 200)
	if attr(one(t, doc, tag("html", "")), "data-theme") != "light" ||
		len(all(one(t, doc, tag("tbody", "")), tag("tr", ""))) != 5 {
		t.Error("the page has another theme or other rows")
	}
	if got := words(one(t, doc, tag("header", ""))); got != "The garden 19 of 60 rows Source (opens in a new tab)" {
		t.Errorf("the line is %q", got)
	}
	if href := attr(one(t, one(t, doc, tag("header", "")), tag("a", "")), "href"); href != catalog+
		"?category=fern&search=plant" {
		t.Errorf("the source is %s", href)
	}
	links := map[string]string{}
	for _, a := range all(one(t, doc, tag("main", "")), tag("a", "")) {
		if attr(a, "target") == "" {
			links[words(a)+attr(a, "aria-label")] = attr(a, "href")
		}
	}
	for name, want := range map[string]string{
		"‹Previous page":                 "?category=fern&search=plant&per_page=5&_theme=light",
		"›Next page":                     "?category=fern&search=plant&per_page=5&page=3&_theme=light",
		"×Remove the filter of category": "?search=plant&per_page=5&_theme=light",
		"×Remove the search":             "?category=fern&per_page=5&_theme=light",
		"title":                          "?category=fern&search=plant&per_page=5&sort=title&_theme=light",
	} {
		if links[name] != want {
			t.Errorf("%s leads to %s, want %s", name, links[name], want)
		}
	}
	for from, to := range map[string]string{
		framed + "?_record=2&_facet=category&_distributions=1": framed, // parameters without effect
		catalog + "?_embed=&sort=price":                        catalog + "?sort=price",
		catalog + "?_embed=1&_embed=1":                         framed, // the address that it had
		catalog + "?sort=price&_embed=1&_theme=dark":           framed + "?sort=price&_theme=dark",
		catalog + "/chart?_embed=1&_by=category&_version=v1":   framed + "/chart?_by=category&_version=v1",
	} {
		if a := s.get(t, from); a.status != 303 || a.header.Get("Location") != to {
			t.Errorf("%s: %d %s", from, a.status, a.header.Get("Location"))
		}
	}
}

// TestEmbed_cookies checks that an embedded page is the same with and without cookies, and another
// one than the page that it is from.
func TestEmbed_cookies(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	a := s.get(t, framed)
	for _, cookie := range []string{"herbarium_theme=dark", "herbarium_key=" + otherKey} {
		b := s.get(t, framed, "Cookie", cookie)
		if b.body != a.body || b.header.Get("Etag") != a.header.Get("Etag") ||
			b.header.Get("Vary") != a.header.Get("Vary") {
			t.Errorf("%s changes the page: %v", cookie, b.header)
		}
	}
	tag := a.header.Get("Etag")
	if tag == "" || s.get(t, framed, "If-None-Match", tag).status != 304 ||
		s.get(t, catalog, "If-None-Match", tag).status != 200 ||
		s.get(t, framed+"?_theme=dark", "If-None-Match", tag).status != 200 {
		t.Errorf("the entity tag is %s", tag)
	}
}

// TestEmbed_rejected checks that nothing else can be shown in a frame: datasets that require a key,
// whatever key the request has, and other pages.
func TestEmbed_rejected(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for path, want := range map[string]struct {
		status  int
		message string
	}{
		"/embed/locked/staff":       {401, "dataset locked/staff requires a key; such datasets cannot be embedded"},
		"/embed/locked/staff/chart": {401, "such datasets cannot be embedded"},
		"/embed/locked/staff/map":   {401, "such datasets cannot be embedded"},
		framed + "?_theme=blue":     {400, "light, dark or auto"},
		framed + "/about":           {404, "Page not found"},
		framed + "/chart.svg":       {404, "Page not found"},
		"/embed/garden/nothing":     {404, `no such dataset "garden/nothing"`},
	} {
		for _, key := range []string{"", staffKey, otherKey} {
			a := s.get(t, path, "Cookie", "herbarium_key="+key, "X-API-Key", key, "Authorization", "Bearer "+key)
			if a.status != want.status || !strings.Contains(html.UnescapeString(a.body), want.message) ||
				strings.Contains(a.body, "<form method=\"post\"") || strings.Contains(a.body, "Secretive") {
				t.Errorf("%s: %d %.600s", path, a.status, a.body)
			}
			if a.header.Get("X-Frame-Options") != "DENY" ||
				!strings.Contains(a.header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
				t.Errorf("%s can be shown in a frame: %v", path, a.header)
			}
		}
		if a := s.get(t, path, "Accept", "application/json"); a.status != want.status || !json.Valid([]byte(a.body)) {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

// TestEmbed_sharing checks the HTML that the menu of a page offers, and where it leads.
func TestEmbed_sharing(t *testing.T) {
	t.Parallel()
	s := newMapSite(t)
	for path, want := range map[string]string{
		catalog + "?category=fern&page=2&_record=3&_facet=tags": framed + "?category=fern&per_page=10",
		catalog + "?per_page=20&sort=price&_pin=title":          framed + "?per_page=20&sort=price&_pin=title",
		catalog + "/chart?_by=category&_theme=dark":             framed + "/chart?_by=category&_theme=dark",
		"/datasets/geo/places/map?_bounds=0,40,10,60":           "/embed/geo/places/map?_bounds=0%2C40%2C10%2C60",
		"/datasets/evil/nasty":                                  "/embed/evil/nasty?per_page=10",
	} {
		a := s.get(t, path)
		if a.status != 200 || !strings.Contains(a.header.Get("Content-Security-Policy"), "frame-src 'self'") {
			t.Fatalf("%s: %d %v", path, a.status, a.header)
		}
		menu := one(t, parse(t, a.body), has("id", "share"))
		part := one(t, menu, func(n *html.Node) bool { return attr(n, "data-embed") != "" })
		codes := all(part, tag("code", ""))
		if attr(part, "data-embed") != want || len(codes) != 2 {
			t.Errorf("%s: the preview is %s, want %s", path, attr(part, "data-embed"), want)
			continue
		}
		frame := one(t, parse(t, textOf(codes[0])), tag("iframe", ""))
		if attr(frame, "src") != "http://herbarium.test"+want || attr(frame, "title") == "" ||
			attr(frame, "loading") != "lazy" || attr(frame, "width") != "100%" || attr(frame, "height") == "" {
			t.Errorf("%s: the frame has %v", path, frame.Attr)
		}
		if got := len(all(parse(t, textOf(codes[0])), func(n *html.Node) bool { return n.Data == "script" })); got > 0 {
			t.Errorf("%s: the frame has scripts", path)
		}
		if script := textOf(codes[1]); !strings.Contains(script, `e.origin==="http://herbarium.test"`) ||
			strings.Contains(script, "\n") {
			t.Errorf("%s: the script is %s", path, script)
		}
		if shown := s.get(t, want); shown.status != 200 ||
			!strings.Contains(shown.header.Get("Content-Security-Policy"), "frame-ancestors *") {
			t.Errorf("%s leads to %d", path, shown.status)
		}
	}
	locked := s.get(t, "/datasets/locked/staff", "Cookie", "herbarium_key="+staffKey)
	if strings.Contains(locked.body, "data-embed") || strings.Contains(locked.body, "&lt;iframe") ||
		!strings.Contains(locked.body, "@misc{locked-staff") {
		t.Error("a protected dataset offers a frame, or no citation")
	}
}

// citations returns the citations that a part of a page shows, by their notation.
func citations(t *testing.T, n *html.Node) []string {
	t.Helper()
	var found []string
	for _, code := range all(n, tag("code", "")) {
		if text := textOf(code); regexp.MustCompile(`_version=|@misc`).MatchString(text) &&
			!strings.Contains(text, "<") {
			found = append(found, text)
		}
	}
	return found
}

// TestCitations checks the citations of the version that a page shows.
func TestCitations(t *testing.T) {
	t.Parallel()
	older, records := garden()
	older.Descriptor = herb.NewDescriptor(
		[]byte(`{"package":{"contributors":[{"title":"Ana & Bo","role":"author"},{"title":"Mia","role":"maintainer"}],"publisher":"City_of Ghent"}}`))
	s := newSite(t, func(_ *web.Options, lib *apitest.Library) { keep(lib, older, "v0", records) })
	for _, path := range []string{catalog, catalog + "?category=fern", catalog + "/chart", catalog + "/about"} {
		part := s.page(t, path, 200)
		if id := map[bool]string{true: "cite", false: "share"}[strings.Contains(path, "about")]; true {
			part = one(t, part, has("id", id))
		}
		got := strings.Join(citations(t, part), "\n")
		for _, want := range []string{"@misc{garden-catalog-v1,", "author = {{garden}}", "year = {2026}",
			"url = {http://herbarium.test" + catalog + "?_version=v1}",
			"garden: The garden. 20 March 2026. Version v1, content hash abc. http://"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the citations lack %s:\n%s", path, want, got)
			}
		}
	}
	doc := s.page(t, catalog+"/about?_version=v0", 200)
	got := strings.Join(citations(t, one(t, doc, has("id", "cite"))), "\n")
	for _, want := range []string{"@misc{garden-catalog-v0,", `author = {{Ana \& Bo}}`, `publisher = {City\_of Ghent}`,
		"Ana & Bo: The garden. City_of Ghent. 2 January 2025. Version v0, content hash abc. http://herbarium.test" +
			catalog + "?_version=v0"} {
		if !strings.Contains(got, want) {
			t.Errorf("the citations lack %s:\n%s", want, got)
		}
	}
	locked := s.page(t, "/datasets/locked/staff/about", 200) // without a key
	if got := strings.Join(citations(t, one(t, locked, has("id", "cite"))), "\n"); !strings.Contains(got, "Staff") ||
		strings.Contains(got, "hash") {
		t.Errorf("without a key: %s", got)
	}
}

// TestCitations_large checks that a title of megabytes does not become as many citations.
func TestCitations_large(t *testing.T) {
	t.Parallel()
	d := herb.Dataset{Ref: herb.Ref{Namespace: "evil", Name: "large"}, Title: strings.Repeat(`}{\`, 700_000),
		Fields: []herb.Field{field("a", herb.TypeText)}}
	s := newSite(t, func(_ *web.Options, lib *apitest.Library) { lib.Put(d, []herb.Record{{"x"}}) })
	doc := s.page(t, "/datasets/evil/large", 200)
	share := textOf(one(t, doc, has("id", "share")))
	if _, err := url.Parse(share); len(share) > 40_000 || err == nil && share == "" {
		t.Errorf("the menu has %d bytes", len(share))
	}
}
