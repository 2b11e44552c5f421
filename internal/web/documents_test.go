package web_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/web"
	"herbarium/internal/web/view/datasets"
)

func TestAbout(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, l *apitest.Library) {
		d, records := garden()
		d.Description = "# Plants\n\n**Grown** by [us](https://garden.example/)."
		d.Fields[3].Description = "What it *costs*"
		d.Descriptor = herb.NewDescriptor(
			[]byte(`{"package":{"keywords":["plants"],"homepage":"https://garden.example/home",
			"contributors":[{"title":"Ana","roles":["author"],"organization":"The Garden"}],
			"sources":[{"title":"Old lists","path":"https://garden.example/lists"},{"title":"Attic","path":"javascript:alert(1)"}]},
			"resource":{"licenses":[{"name":"CC0","path":"https://cc.example/zero"}]}}`))
		d.Report.Columns[2].Empty, d.Report.Columns[2].Notes = 3, []string{"three rows lack it"}
		replace(l, d, records)
	})
	doc := s.page(t, "/datasets/garden/catalog/about", 200)
	main := one(t, doc, tag("main", ""))
	for _, want := range []string{
		"Plants Grown by us.", "id primary key number", "Price in € What it costs", "LicenseCC0",
		"Homepagehttps://garden.example/home", "Old lists Attic",
		"ContributorsAna author, The Garden", "Keywordsplants", "Content hashabc", "Versionv2",
		"7 of 8 columns have no empty values", "category 5% empty",
		"category: three rows lack it", "https://garden.example/plants/1",
	} {
		if !strings.Contains(strings.ReplaceAll(words(main), " ", ""), strings.ReplaceAll(want, " ", "")) {
			t.Errorf("the page lacks %q: %s", want, words(main))
		}
	}
	if links := all(main, tag("a", "")); attr(links[0], "href") != "https://garden.example/" {
		t.Errorf("the first link is %v", links[0].Attr)
	}
	if n := len(all(one(t, main, tag("div", "markdown")), tag("h2", ""))); n != 1 {
		t.Errorf("the description has %d headings of level 2", n)
	}
	// Other places show the description as plain text.
	for _, path := range []string{"/", "/datasets/garden/catalog", "/datasets/garden/catalog/api", "/catalog.jsonld"} {
		a := s.get(t, path)
		if strings.Contains(a.body, "**Grown") || strings.Contains(a.body, "*costs*") {
			t.Errorf("%s contains Markdown", path)
		}
	}
}

// TestAbout_locked checks that the public description of a protected dataset contains nothing that
// may quote values.
func TestAbout_locked(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, l *apitest.Library) {
		d, records := staff()
		d.Descriptor = herb.NewDescriptor([]byte(`{"resource":{"sources":[{"title":"Secretive source"}]}}`))
		d.Report.Columns[0].Notes = []string{"Secretive note"}
		replace(l, d, records)
	})
	if a := s.get(t, locked+"/about"); a.status != 200 || strings.Contains(a.body, "Secretive") {
		t.Errorf("without a key: %d, and it quotes values", a.status)
	}
	a := s.get(t, locked+"/about", "Cookie", "herbarium_key="+staffKey)
	for _, want := range []string{"Secretive source", "Secretive note", "Secretive Ana"} {
		if !strings.Contains(a.body, want) {
			t.Errorf("with the key, the page lacks %q", want)
		}
	}
}

// TestOlderVersion checks that all pages of a dataset show the version that the URL names, and stay
// in it.
func TestOlderVersion(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	d, records := garden()
	d.Fields, d.Report = slices.Clone(d.Fields), nil
	d.Fields[2].Name = "kind"
	keep(s.library, d, "v0", records[:6])
	const path = "/datasets/garden/catalog"

	page := s.page(t, path+"?kind=fern&_version=v0", 200)
	if got := words(one(t, page, tag("p", "older"))); got != "Version 1 of 2, published 2 January 2025. Show newest" {
		t.Errorf("the banner is %q", got)
	}
	if got := len(all(one(t, page, tag("tbody", "")), tag("tr", ""))); got != 2 {
		t.Errorf("%d rows, want 2 of version v0", got)
	}
	if got := words(one(t, one(t, page, has("id", "call")),
		tag("code", ""))); got != "/api/v1/garden/catalog/data?kind=fern&per_page=50&_version=v0" {
		t.Errorf("the API call is %q", got)
	}
	for _, a := range all(page, tag("a", "")) {
		href := attr(a, "href")
		isLive := words(a) == "Show newest" || strings.HasPrefix(href, "#") || strings.HasPrefix(href, "http") ||
			!strings.Contains(href, "?") && !strings.HasPrefix(href, path)
		// a feed is about all versions
		if href == "/?namespace=garden" || isLive || strings.Contains(href, datasets.FeedFile) {
			continue
		}
		if !strings.Contains(href, "_version=v0") {
			t.Errorf("the link %q of %q leaves the version", href, words(a))
		}
	}
	for _, form := range all(page, tag("form", "")) {
		isVersion := func(n *html.Node) bool { return attr(n, "name") == "_version" && attr(n, "value") == "v0" }
		if attr(form, "method") == "" && len(all(form, isVersion)) != 1 {
			t.Errorf("the form %q leaves the version", words(form))
		}
	}
	for _, fragment := range []string{"/facets?_facet=kind&", "/distributions?_columns=kind&", "/fields?_find=kind&"} {
		if a := s.get(t, path+fragment+"_version=v0"); a.status != 200 || !strings.Contains(a.body, "fern") &&
			!strings.Contains(a.body, "kind") {
			t.Errorf("%s: %d %.200s", fragment, a.status, a.body)
		}
	}
	for _, tab := range []string{"/about", "/api", "/versions"} {
		page := s.page(t, path+tab+"?_version=v0", 200)
		if len(all(page, tag("p", "older"))) != 1 {
			t.Errorf("%s: no banner", tab)
		}
	}
	if got := words(one(t, s.page(t, path+"/api?_version=v0", 200), has("id", "columns"))); !strings.Contains(got,
		"kind") || strings.Contains(got, "category") {
		t.Errorf("the API reference lists %q", got)
	}
}

func TestVersionLinks(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	d, records := garden()
	keep(s.library, d, "v0", records[:6])
	const path = "/datasets/garden/catalog"
	var hrefs []string
	for _, a := range all(one(t, s.page(t, path+"/versions", 200), tag("ol", "versions")), tag("a", "")) {
		hrefs = append(hrefs, attr(a, "href"))
	}
	if want := []string{path, path + "?_version=v0"}; !slices.Equal(hrefs, want) {
		t.Errorf("the versions link to %q, want %q", hrefs, want)
	}
	if page := s.page(t, path+"?_version=v1", 200); len(all(page, tag("p", "older"))) != 0 {
		t.Error("the live version has a banner")
	}
	if a := s.get(t, path+"?_version=v0&_version=v0"); a.status != 400 {
		t.Errorf("two versions give %d", a.status)
	}
	if link := one(t, s.page(t, path+"?_version=v9", 410), tag("a", "primary")); attr(link, "href") != path {
		t.Errorf("the page of a version that is not kept links to %s", attr(link, "href"))
	}
	if got := words(one(t, s.page(t, path+"/api", 200), tag("dl", "params"))); !strings.Contains(got, "_version") {
		t.Errorf("the API reference lists the parameters %q", got)
	}
	before := s.get(t, path+"?_version=v0").header.Get("Etag")
	replace(s.library, d, records)
	if after := s.get(t, path+"?_version=v0", "If-None-Match", before); after.status != 200 {
		t.Errorf("the page of an earlier version after a publish: %d, want 200 because its banner changes",
			after.status)
	}
}

// TestOlderVersionAccess checks that an earlier version requires a key if it or the live version
// does.
func TestOlderVersionAccess(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, l *apitest.Library) {
		locked, records := staff()
		open := locked
		open.Access = ""
		keep(l, open, "v0", records)
		plants, rows := garden()
		plants.Access = "key"
		keep(l, plants, "v0", rows)
	})
	for _, path := range []string{"/datasets/locked/staff", "/datasets/garden/catalog"} {
		for _, view := range []string{"?", "/facets?_facet=name&"} {
			if a := s.get(t, path+view+"_version=v0"); a.status != 401 || strings.Contains(a.body, "Secretive") {
				t.Errorf("%s%s without a key: %d", path, view, a.status)
			}
		}
	}
	if a := s.get(t, "/datasets/garden/catalog/about?_version=v0"); a.status != 200 ||
		!strings.Contains(a.body, "@misc{garden-catalog-v0") || strings.Contains(a.body, "content hash") {
		t.Errorf("the description without a key: %d, without a citation or with a hash", a.status)
	}
	a := s.get(t, "/datasets/locked/staff?_version=v0", "Cookie", "herbarium_key="+staffKey)
	if cache := a.header.Get("Cache-Control"); a.status != 200 || !strings.Contains(a.body, "Secretive Ana") ||
		cache != "private, no-cache" {
		t.Errorf("with a key: %d, Cache-Control: %s", a.status, cache)
	}
	if a := s.get(t, "/datasets/locked/staff?_version=v9"); a.status != 401 {
		t.Errorf("an unknown version without a key: %d", a.status)
	}
	if got := attr(one(t, s.page(t, "/datasets/locked/staff?_version=v0", 401), has("name", "back")),
		"value"); got != "_version=v0" {
		t.Errorf("the form returns to %q", got)
	}
}
