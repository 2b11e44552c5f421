package web_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"herbarium/internal/web"
)

// TestOlderVersion checks that all pages of a dataset show the version that the URL names, and stay in it.
func TestOlderVersion(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	d, records := garden()
	d.Fields, d.Report = slices.Clone(d.Fields), nil
	d.Fields[2].Name = "kind"
	s.library.keep(d, "v0", records[:6])
	const path = "/datasets/garden/catalog"

	page := s.page(t, path+"?kind=fern&_version=v0", 200)
	if got := words(one(t, page, tag("p", "older"))); got != "Version 1 of 2, published 2 January 2025. Show newest" {
		t.Errorf("the banner is %q", got)
	}
	if got := len(all(one(t, page, tag("tbody", "")), tag("tr", ""))); got != 2 {
		t.Errorf("%d rows, want 2 of version v0", got)
	}
	if got := words(one(t, one(t, page, has("id", "call")), tag("code", ""))); got != "/api/v1/garden/catalog/data?kind=fern&per_page=50&_version=v0" {
		t.Errorf("the API call is %q", got)
	}
	for _, a := range all(page, tag("a", "")) {
		href := attr(a, "href")
		isLive := words(a) == "Show newest" || strings.HasPrefix(href, "#") || strings.HasPrefix(href, "http") || !strings.Contains(href, "?") && !strings.HasPrefix(href, path)
		if href == "/?namespace=garden" || isLive {
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
	for _, fragment := range []string{"/facets?_facet=kind&", "/charts?_columns=kind&", "/record?_record=1&", "/fields?_find=kind&"} {
		if a := s.get(t, path+fragment+"_version=v0"); a.status != 200 || !strings.Contains(a.body, "fern") && !strings.Contains(a.body, "kind") {
			t.Errorf("%s: %d %.200s", fragment, a.status, a.body)
		}
	}
	for _, tab := range []string{"/about", "/api", "/versions"} {
		page := s.page(t, path+tab+"?_version=v0", 200)
		if len(all(page, tag("p", "older"))) != 1 {
			t.Errorf("%s: no banner", tab)
		}
	}
	if got := words(one(t, s.page(t, path+"/api?_version=v0", 200), has("id", "columns"))); !strings.Contains(got, "kind") || strings.Contains(got, "category") {
		t.Errorf("the API reference lists %q", got)
	}
}

func TestVersionLinks(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	d, records := garden()
	s.library.keep(d, "v0", records[:6])
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
	for query, status := range map[string]int{"_version=v9": 410, "_version=v0&_version=v0": 400} {
		if a := s.get(t, path+"?"+query); a.status != status {
			t.Errorf("%s gives %d, want %d", query, a.status, status)
		}
	}
	if got := words(one(t, s.page(t, path+"/api", 200), tag("dl", "params"))); !strings.Contains(got, "_version") {
		t.Errorf("the API reference lists the parameters %q", got)
	}
	before := s.get(t, path+"?_version=v0").header.Get("Etag")
	s.library.replace(d, records)
	if after := s.get(t, path+"?_version=v0", "If-None-Match", before); after.status != 200 {
		t.Errorf("the page of an earlier version after a publish: %d, want 200 because its banner changes", after.status)
	}
}

// TestOlderVersionAccess checks that an earlier version requires a key if it or the live version does.
func TestOlderVersionAccess(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, l *fakeLibrary) {
		locked, records := staff()
		open := locked
		open.Access = ""
		l.keep(open, "v0", records)
		plants, rows := garden()
		plants.Access = "key"
		l.keep(plants, "v0", rows)
	})
	for _, path := range []string{"/datasets/locked/staff", "/datasets/garden/catalog"} {
		for _, view := range []string{"?", "/record?_record=1&", "/facets?_facet=name&"} {
			if a := s.get(t, path+view+"_version=v0"); a.status != 401 || strings.Contains(a.body, "Secretive") {
				t.Errorf("%s%s without a key: %d", path, view, a.status)
			}
		}
	}
	a := s.get(t, "/datasets/locked/staff?_version=v0", "Cookie", "herbarium_key="+staffKey)
	if cache := a.header.Get("Cache-Control"); a.status != 200 || !strings.Contains(a.body, "Secretive Ana") || cache != "private, no-cache" {
		t.Errorf("with a key: %d, Cache-Control: %s", a.status, cache)
	}
	if a := s.get(t, "/datasets/locked/staff?_version=v9"); a.status != 401 {
		t.Errorf("an unknown version without a key: %d", a.status)
	}
	if got := attr(one(t, s.page(t, "/datasets/locked/staff?_version=v0", 401), has("name", "back")), "value"); got != "_version=v0" {
		t.Errorf("the form returns to %q", got)
	}
}
