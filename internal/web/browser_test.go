package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

const catalog = "/datasets/garden/catalog"

// listing requests a listing from the API.
func (s *site) listing(t testing.TB, path string) (records []map[string]string, total int) {
	t.Helper()
	a := s.get(t, path)
	var l struct {
		Data []map[string]string
		Meta struct{ Total int }
	}
	if err := json.Unmarshal([]byte(a.body), &l); err != nil || a.status != 200 {
		t.Fatalf("%s gives %d %v %.200s", path, a.status, err, a.body)
	}
	return l.Data, l.Meta.Total
}

// TestBrowser checks that a page shows the rows that the API lists for the same query, and the API call that lists them.
func TestBrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, query := range []string{
		"", "page=2&per_page=10", "sort=price&order=desc", "sort=title&category=fern", "category=fern&category=moss", "tags=wet",
		"price%5Bgte%5D=20000&price%5Blt%5D=30000.50", "search=plant+7", "search=pla%2A&sort=date", "category=", "date=2024-03-03",
		"title%5Bprefix%5D=Plant+1", "per_page=100&sort=id&order=desc", "_column=title&_column=price&category=tree",
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			doc := s.page(t, catalog+"?"+query, 200)
			call := strings.TrimPrefix(words(one(t, one(t, doc, tag("section", "call")), tag("div", "one"))), "GET http://herbarium.test")
			call = strings.TrimSuffix(call, "Copy")
			records, total := s.listing(t, call)
			var want []string
			for _, r := range records {
				want = append(want, r["title"])
			}
			column := slices.IndexFunc(all(doc, tag("th", "")), func(n *html.Node) bool { return words(n) == "title" })
			var got []string
			for _, row := range all(one(t, doc, tag("tbody", "")), tag("tr", "")) {
				got = append(got, textOf(all(row, tag("td", ""))[column-1]))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("records (-API +page):\n%s", diff)
			}
			found := words(one(t, one(t, doc, tag("div", "toolbar")), tag("p", "found")))
			if !strings.HasPrefix(found, fmt.Sprintf("%d row", total)) {
				t.Errorf("the page says %q, the API %d", found, total)
			}
		})
	}
}

func TestBrowser_values(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	row := all(one(t, s.page(t, catalog+"?id=58", 200), tag("tbody", "")), tag("tr", ""))[0]
	cells := all(row, tag("td", ""))
	for i, want := range []string{"58", "Plant 58 of the fern kind", "fern", "57,000.50", "2 Oct 2024", "garden.example/plants/58", "", "shade"} {
		if got := textOf(cells[i]); got != want {
			t.Errorf("cell %d shows %q, want %q", i, got, want)
		}
	}
	if got := attr(one(t, cells[4], tag("time", "")), "datetime"); got != "2024-10-02" {
		t.Errorf("the date is %q for machines", got)
	}
	if got := attr(one(t, cells[5], tag("a", "")), "href"); got != "https://garden.example/plants/58" {
		t.Errorf("the link leads to %q", got)
	}
	if got := attr(one(t, cells[6], tag("img", "")), "src"); got != "https://garden.example/images/58.jpg" {
		t.Errorf("the image is %q", got)
	}
	if got := attr(one(t, cells[7], tag("a", "tag")), "href"); got != "?id=58&tags=shade" {
		t.Errorf("the tag leads to %q", got)
	}
}

func TestBrowser_sorting(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	header := func(query string) (aria, href string) {
		doc := s.page(t, catalog+"?"+query, 200)
		for _, th := range all(one(t, doc, tag("thead", "")), tag("th", "")) {
			if words(th) == "Price in €" {
				return attr(th, "aria-sort"), attr(one(t, th, tag("a", "")), "href")
			}
		}
		t.Fatal("the column is missing")
		return "", ""
	}
	query := "category=fern&page=2&per_page=5"
	for _, want := range []struct{ aria, href string }{
		{"", "?category=fern&per_page=5&sort=price"},
		{"ascending", "?category=fern&per_page=5&sort=price&order=desc"},
		{"descending", "?category=fern&per_page=5"},
	} {
		aria, href := header(query)
		if aria != want.aria || href != want.href {
			t.Errorf("at %s: %q, %q; want %q, %q", query, aria, href, want.aria, want.href)
		}
		query = strings.TrimPrefix(href, "?")
	}
}

// TestBrowser_severalSortFields checks that the page names all sort fields and marks the column of the first.
func TestBrowser_severalSortFields(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	doc := s.page(t, catalog+"?sort=category,-price,id&per_page=5&page=2", 200)
	if got := words(one(t, doc, tag("p", "found"))); !strings.Contains(got, "sorted by category, then Price in €, descending, then id") {
		t.Errorf("got %q", got)
	}
	var sorted []string
	for _, th := range all(one(t, doc, tag("thead", "")), tag("th", "")) {
		if aria := attr(th, "aria-sort"); aria != "" {
			sorted = append(sorted, words(th)+" "+aria+" "+attr(one(t, th, tag("a", "")), "href"))
		}
	}
	if want := []string{"category ascending ?per_page=5&sort=category&order=desc"}; !slices.Equal(sorted, want) {
		t.Errorf("sorted columns: %q; want %q", sorted, want)
	}
	if doc := s.page(t, catalog+"?sort=category,prize", 400); !strings.Contains(words(doc), `did you mean "price"?`) {
		t.Errorf("an unknown field: %s", words(doc))
	}
}

func TestBrowser_chips(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	doc := s.page(t, catalog+"?category=fern&category=moss&price%5Bgte%5D=5&tags=wet&title%5Bempty%5D=false&search=plant&sort=date&page=2&date%5Blte%5D=2024-12-31", 200)
	var got []string
	for _, a := range all(one(t, doc, func(n *html.Node) bool { return attr(n, "aria-label") == "Active filters" }), tag("a", "")) {
		got = append(got, words(a)+" → "+attr(a, "href"))
	}
	const c, p, g, e, q, d = "category=", "&price%5Bgte%5D=5", "&tags=wet", "&title%5Bempty%5D=false", "&search=plant&sort=date", "&date%5Blte%5D=2024-12-31"
	want := []string{
		"Remove category is fern× → ?" + c + "moss" + p + g + e + q + d,
		"Remove category is moss× → ?" + c + "fern" + p + g + e + q + d,
		"Remove Price in € from 5× → ?" + c + "fern&category=moss" + g + e + q + d,
		"Remove tags has wet× → ?" + c + "fern&category=moss" + p + e + q + d,
		"Remove title is not empty× → ?" + c + "fern&category=moss" + p + g + q + d,
		"Remove search plant× → ?" + c + "fern&category=moss" + p + g + e + "&sort=date" + d,
		"Remove date up to 31 Dec 2024× → ?" + c + "fern&category=moss" + p + g + e + q,
		"Clear all → ?sort=date",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("chips (-want +got):\n%s", diff)
	}
}

// TestBrowser_canonical checks that URLs with parameters without effect, and URLs with a key, redirect to the canonical URL.
func TestBrowser_canonical(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for query, want := range map[string]string{
		"search=&price%5Bgte%5D=&price%5Blte%5D=9": catalog + "?price%5Blte%5D=9",
		"page=1":                            catalog,
		"page=&sort=&order=desc":            catalog,
		"category=&search=":                 catalog + "?category=",
		"api_key=" + staffKey + "&sort=id":  catalog + "?sort=id",
		"_record=0":                         catalog,
		"_record=x&_column=title&_column=x": catalog + "?_column=title",
	} {
		a := s.get(t, catalog+"?"+query)
		if a.status != http.StatusSeeOther || a.header.Get("Location") != want {
			t.Errorf("%s: %d to %q, want %q", query, a.status, a.header.Get("Location"), want)
		}
	}
}

func TestBrowser_states(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, tt := range []struct {
		path   string
		status int
		want   string
	}{
		{catalog + "?category=zzz&tags=wet", 200, "No matching rows"},
		{catalog + "?search=zzz", 200, "ros*"},
		{catalog + "?page=99", 200, "no page 99"},
		{"/datasets/empty/none", 200, "No rows"},
		{catalog + "?sort=prize", 400, `did you mean "price"?`},
		{catalog + "?colour=red", 400, `unknown parameter "colour"`},
		{catalog + "?price%5Bgte%5D=cheap", 400, "is not a number"},
		{catalog + "?search=" + strings.Repeat("a+", 40), 400, "at most 32"},
		{catalog + "?a=%zz", 400, "malformed"},
		{"/datasets/garden/nothing", 404, "garden/nothing"},
		{"/datasets/..%2f/x", 404, "no such dataset"},
	} {
		doc := s.page(t, tt.path, tt.status)
		if got := words(one(t, doc, tag("main", ""))); !strings.Contains(got, tt.want) {
			t.Errorf("%s does not say %q: %s", tt.path, tt.want, got)
		}
	}
	// Each filter can be removed.
	empty := one(t, s.page(t, catalog+"?category=zzz&tags=wet", 200), tag("div", "empty-state"))
	if n := len(all(empty, tag("a", "chip"))); n != 2 {
		t.Errorf("%d filters can be removed, want 2", n)
	}
}

// TestBrowser_invalid checks that an invalid parameter is named, and that the table shows the rows without it.
func TestBrowser_invalid(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, tt := range []struct {
		query, param string
		rows         int
	}{
		{"sort=prize&id=58", "sort", 1},
		{"colour=red&id=58&id=59", "colour", 2},
		{"price%5Bgte%5D=cheap&per_page=7", "price[gte]", 7},
		{"page=0&per_page=10", "page", 10},
		{"search=" + strings.Repeat("a+", 40), "search", 25},
		{"sort=id&sort=id", "", 25},
		{"a=%zz", "", 25},
	} {
		doc := s.page(t, catalog+"?"+tt.query, 400)
		alert := one(t, doc, func(n *html.Node) bool { return attr(n, "role") == "alert" })
		if codes := all(alert, tag("code", "")); tt.param != "" && (len(codes) != 1 || words(codes[0]) != tt.param) {
			t.Errorf("%s: the page names %q", tt.query, words(alert))
		}
		if n := len(all(one(t, doc, tag("tbody", "")), tag("tr", ""))); n != tt.rows {
			t.Errorf("%s: the table has %d rows, want %d", tt.query, n, tt.rows)
		}
		for _, a := range all(one(t, doc, tag("thead", "")), tag("a", "")) {
			if status := s.get(t, catalog+attr(a, "href")).status; status != 200 {
				t.Errorf("%s: the link %s gives %d", tt.query, attr(a, "href"), status)
			}
		}
	}
	doc := s.page(t, catalog+"?price%5Bgte%5D=cheap", 400)
	if in := one(t, doc, func(n *html.Node) bool { return attr(n, "name") == "price[gte]" }); attr(in, "value") != "cheap" {
		t.Errorf("the input contains %q", attr(in, "value"))
	}
	if chips := all(doc, tag("a", "wrong")); len(chips) != 1 || attr(chips[0], "href") != catalog {
		t.Errorf("the invalid filter cannot be removed: %v", chips)
	}
}

func TestBrowser_pages(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	doc := s.page(t, catalog+"?per_page=5&page=6&sort=id", 200)
	nav := one(t, doc, tag("nav", "pager"))
	var got []string
	for _, a := range all(nav, tag("a", "")) {
		got = append(got, words(a)+" "+attr(a, "href")+attr(a, "aria-current"))
	}
	const q = "?per_page=5&sort=id"
	want := []string{
		"Previous " + q + "&page=5", "Page 1 " + q, "Page 4 " + q + "&page=4", "Page 5 " + q + "&page=5", "Page 6 " + q + "&page=6page",
		"Page 7 " + q + "&page=7", "Page 8 " + q + "&page=8", "Page 12 " + q + "&page=12", "Next " + q + "&page=7",
		"10 rows per page ?sort=id&per_page=10", "25 rows per page ?sort=id",
		"50 rows per page ?sort=id&per_page=50", "100 rows per page ?sort=id&per_page=100",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}

// TestRecord checks that the record panel shows every value byte for byte.
func TestRecord(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	d, records := evil()
	for i, want := range records {
		doc := s.page(t, fmt.Sprintf("/datasets/evil/nasty?per_page=100&_record=%d", i+1), 200)
		record := one(t, doc, tag("aside", "record"))
		var got []string
		for _, dd := range all(record, tag("dd", "")) {
			if raw := all(dd, tag("bdi", "raw")); len(raw) > 0 {
				got = append(got, textOf(raw[0]))
			}
		}
		for k := range d.Fields {
			if shown := strings.ReplaceAll(want[k], "\x00", "\uFFFD"); got[k] != shown {
				t.Errorf("record %d, field %d: %q, want %q", i+1, k, got[k], shown)
			}
		}
		var fromJSON map[string]string
		if err := json.Unmarshal([]byte(textOf(one(t, record, tag("pre", "")))), &fromJSON); err != nil || fromJSON["image"] != want[1] {
			t.Errorf("record %d: the JSON has %q, %v; want %q", i+1, fromJSON["image"], err, want[1])
		}
	}
}

func TestRecord_neighbours(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, tt := range []struct{ query, prev, next string }{
		{"per_page=10&_record=1", "", "?per_page=10&_record=2"},
		{"per_page=10&page=2&_record=1", "?per_page=10&_record=10", "?per_page=10&page=2&_record=2"},
		{"per_page=10&page=2&_record=10", "?per_page=10&page=2&_record=9", "?per_page=10&page=3&_record=1"},
	} {
		doc := s.page(t, catalog+"?"+tt.query, 200)
		got := map[string]string{}
		for _, a := range all(doc, func(n *html.Node) bool { return attr(n, "data-record") != "" }) {
			got[attr(a, "data-record")] = attr(a, "href")
		}
		if got["prev"] != tt.prev || got["next"] != tt.next {
			t.Errorf("%s: %v", tt.query, got)
		}
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	headers := func(path string) (names []string) {
		for _, th := range all(one(t, s.page(t, path, 200), tag("thead", "")), tag("th", ""))[1:] {
			names = append(names, words(th))
		}
		return names
	}
	if got := headers(catalog + "?_column=tags&_column=title"); !slices.Equal(got, []string{"title", "tags"}) {
		t.Errorf("columns are %v", got)
	}
	if got := headers("/datasets/wide/many"); len(got) != 12 {
		t.Errorf("%d columns are shown of 2000", len(got))
	}
	if got := headers("/datasets/wide/many?_column=f1999"); !slices.Equal(got, []string{"f1999"}) {
		t.Errorf("columns are %v", got)
	}
	for _, path := range []string{"/datasets/wide/many", "/datasets/wide/many?f1999=1999&f7=7", "/datasets/wide/many/api", "/datasets/wide/many/versions"} {
		if size := len(s.get(t, path).body); size > 150_000 {
			t.Errorf("%s has %d bytes", path, size)
		}
	}
}

// TestBrowser_newVersion checks that a page shows the live version only.
func TestBrowser_newVersion(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for range 2 {
		if got := words(s.page(t, catalog, 200)); !strings.Contains(got, "60 rows") {
			t.Fatal("the first version is not shown")
		}
	}
	d, records := garden()
	for i := range s.library.datasets {
		if s.library.datasets[i].Ref == d.Ref {
			s.library.datasets = slices.Delete(s.library.datasets, i, i+1)
			break
		}
	}
	d.Title = "Another garden"
	s.library.put(d, records[:7])
	for i := range s.library.datasets {
		s.library.datasets[i].Version = "v2"
	}
	got := words(s.page(t, catalog, 200))
	if !strings.Contains(got, "Another garden") || !strings.Contains(got, "7 rows") || strings.Contains(got, "60 rows") {
		t.Errorf("the page still shows the old version: %.500s", got)
	}
}

func TestThemes(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for cookie, want := range map[string]string{"": "", "dark": "dark", "light": "light", `"><script>`: ""} {
		doc := parse(t, s.get(t, catalog, "Cookie", "herbarium_theme="+cookie).body)
		if got := attr(one(t, doc, tag("html", "")), "data-theme"); got != want {
			t.Errorf("with %q the theme is %q", cookie, got)
		}
	}
}

// FuzzURL checks that no URL causes an internal error or unsafe HTML.
func FuzzURL(f *testing.F) {
	for _, raw := range []string{
		"category=fern&sort=price", "_record=3&_facet=price&_column=title", "%zz", "search=%22a", "price[gte]=<script>", "a[eq]=1&page=2",
		"_facet=category&category=\"><script>alert(1)</script>", "=&=&&", "page=9999999999&per_page=0",
	} {
		f.Add(raw)
	}
	s := newSite(f, nil)
	f.Fuzz(func(t *testing.T, raw string) {
		for _, ref := range []string{"garden/catalog", "evil/nasty"} {
			for _, page := range []string{"", "/api", "/facets"} {
				r := &http.Request{
					Method: http.MethodGet, URL: &url.URL{Path: "/datasets/" + ref + page, RawQuery: raw}, Host: "herbarium.test",
					Header: http.Header{"Accept": {"text/html"}},
				}
				a := s.do(t, r.WithContext(t.Context()))
				if a.status >= 500 {
					t.Fatalf("%s?%q gives %d", r.URL.Path, raw, a.status)
				}
				if strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
					checkSafe(t, parse(t, a.body))
				}
			}
		}
	})
}
