package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

// facet returns the counts of a filter from the fragment.
func (s *site) facet(t *testing.T, query, name string) *html.Node {
	t.Helper()
	doc := s.page(t, catalog+"/facets?"+query, 200)
	return one(t, doc, func(n *html.Node) bool { return attr(n, "data-facet") == name })
}

func TestFacets_values(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	list := func(query, name string) (got []string) {
		for _, a := range all(s.facet(t, query, name), tag("a", "")) {
			got = append(got, words(a)+" "+attr(a, "aria-current")+" "+attr(a, "href"))
		}
		return got
	}
	tests := []struct {
		query, name string
		want        []string
	}{
		{"_facet=category", "category", []string{
			"fern19  ?category=fern", "moss19  ?category=moss", "tree19  ?category=tree", "empty3  ?category=",
		}},
		{ // the counts of a field ignore its own filter
			"category=fern&sort=price&page=2&_facet=category", "category", []string{
				"fern19 true ?sort=price", "moss19  ?category=fern&sort=price&category=moss", "tree19  ?category=fern&sort=price&category=tree",
				"empty3  ?category=fern&sort=price&category=",
			},
		},
		{ // no fern is wet; the selected value is listed so that it can be removed
			"category=fern&tags=wet&_facet=tags", "tags", []string{"shade19  ?category=fern&tags=wet&tags=shade", "wet true ?category=fern"},
		},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, list(tt.query, tt.name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.query, diff)
		}
	}
}

func TestFacets_histogram(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	part := s.facet(t, "category=fern&price%5Bgte%5D=30000&_facet=price", "price")
	bars := all(one(t, part, tag("div", "histogram")), tag("a", ""))
	total, chosen := 0, 0
	for _, b := range bars {
		var n int
		if _, err := fmt.Sscanf(attr(b, "aria-label")[strings.LastIndex(attr(b, "aria-label"), ":")+2:], "%d row", &n); err != nil {
			t.Fatal(err)
		}
		total += n
		if attr(b, "class") == "in" {
			chosen += n
		}
		href := attr(b, "href")
		if !strings.HasPrefix(href, "?category=fern&price%5Bgte%5D=") || !strings.Contains(href, "&price%5Blt") {
			t.Errorf("a bar leads to %s", href)
		}
		if _, found := s.listing(t, "/api/v1/garden/catalog/data"+href); found != n {
			t.Errorf("%q leads to %d rows", attr(b, "aria-label"), found)
		}
	}
	if _, want := s.listing(t, "/api/v1/garden/catalog/data?category=fern"); total != want {
		t.Errorf("the bars have %d rows, want %d", total, want)
	}
	if _, want := s.listing(t, "/api/v1/garden/catalog/data?category=fern&price%5Bgte%5D=30000"); chosen != want {
		t.Errorf("the active bars have %d rows, want %d", chosen, want)
	}
}

// TestFacets_inPage checks that a page contains only the requested counts.
func TestFacets_inPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	if n := len(all(s.page(t, catalog, 200), tag("ul", "values"))); n != 0 {
		t.Errorf("the page has %d lists of counts", n)
	}
	doc := s.page(t, catalog+"?_facet=category&_facet=price", 200)
	if len(all(doc, tag("ul", "values"))) == 0 || len(all(doc, tag("div", "histogram"))) != 1 {
		t.Error("the page lacks the requested counts")
	}
	opened := all(doc, func(n *html.Node) bool { return n.Data == "details" && attr(n, "data-facet") == "category" })
	if len(opened) != 1 {
		t.Fatal("the filter is missing")
	}
}

// TestFilters checks the filter of each type of field.
func TestFilters(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	got := map[string]string{}
	for _, d := range all(s.page(t, catalog, 200), tag("details", "facet")) {
		inputs := ""
		for _, in := range all(d, tag("input", "")) {
			inputs += " " + attr(in, "type") + ":" + attr(in, "name")
		}
		got[attr(d, "data-facet")] = attr(d, "data-mode") + inputs
	}
	want := map[string]string{
		"category": "values", "tags": "values", "title": "prefix :title[prefix]", "url": "prefix :url[prefix]", "image": "prefix :image[prefix]",
		"id": "range text:id[gte] text:id[lte]", "price": "range text:price[gte] text:price[lte]", "date": "range date:date[gte] date:date[lte]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("filters (-want +got):\n%s", diff)
	}
	// Without a publish report, values are counted on request.
	wide := one(t, s.page(t, "/datasets/wide/many?_facet=f3", 200), func(n *html.Node) bool { return attr(n, "data-facet") == "f3" })
	if attr(wide, "data-mode") != "values" || len(all(wide, tag("ul", "values"))) != 1 || len(all(wide, tag("input", ""))) != 1 {
		t.Errorf("the filter without a publish report is %s", words(wide))
	}
}

// TestFilterForm checks that the form submits the state of the page.
func TestFilterForm(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	doc := s.page(t, catalog+"?category=fern&price%5Bgte%5D=5&price%5Blt%5D=9&sort=price&page=2&search=plant&_column=title&date%5Bprefix%5D=2024", 200)
	got := map[string]string{}
	for _, in := range all(doc, tag("input", "")) {
		inForm := attr(in, "form") == "browse"
		for p := in.Parent; p != nil; p = p.Parent {
			inForm = inForm || p.Data == "form" && attr(p, "id") == "browse"
		}
		if inForm && attr(in, "value") != "" {
			got[attr(in, "name")] += attr(in, "value")
		}
	}
	want := map[string]string{
		"category": "fern", "price[gte]": "5", "price[lt]": "9", "sort": "price", "search": "plant", "_column": "title", "date[prefix]": "2024",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the form sends (-want +got):\n%s", diff)
	}
}

func TestFacets_errors(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for path, status := range map[string]int{
		catalog + "/facets?_facet=category&colour=red": 400, catalog + "/facets?%zz": 400, "/datasets/garden/nothing/facets": 404,
		"/datasets/locked/staff/facets?_facet=room": 401, catalog + "/facets?_facet=nothing": 200,
	} {
		if a := s.get(t, path); a.status != status {
			t.Errorf("%s gives %d, want %d", path, a.status, status)
		}
	}
}
