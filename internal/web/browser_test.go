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

// TestBrowser checks that a page shows the rows that the API lists for the same query, and the API
// call that lists them.
func TestBrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, query := range []string{
		"", "page=2&per_page=10", "sort=price&order=desc", "sort=title&category=fern",
		"category=fern&category=moss", "tags=wet",
		"price%5Bgte%5D=20000&price%5Blt%5D=30000.50", "search=plant+7", "search=pla%2A&sort=date", "category=",
		"date=2024-03-03",
		"title%5Bprefix%5D=Plant+1", "per_page=100&sort=id&order=desc", "_fields=title%2Cprice&category=tree",
		"category=fern&_distributions=1",
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			doc := s.page(t, catalog+"?"+query, 200)
			call := one(t, doc, func(n *html.Node) bool { return attr(n, "data-url") != "" })
			records, total := s.listing(t, strings.TrimPrefix(attr(call, "data-url"), "http://herbarium.test"))
			readable, _ := s.listing(t, strings.ReplaceAll(words(call), " ", "+"))
			if diff := cmp.Diff(records, readable); diff != "" {
				t.Errorf("the call as shown lists other records:\n%s", diff)
			}
			var want []string
			for _, r := range records {
				want = append(want, r["title"])
			}
			var got []string
			for _, row := range all(one(t, doc, tag("tbody", "")), tag("tr", "")) {
				got = append(got, textOf(cellOf(t, doc, row, "title")))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("records (-API +page):\n%s", diff)
			}
			for _, found := range []*html.Node{one(t, doc, tag("p", "found")),
				one(t, one(t, doc, tag("details", "download")), tag("p", ""))} {
				if !strings.HasPrefix(words(found), fmt.Sprintf("%d row", total)) {
					t.Errorf("the page says %q, the API %d", words(found), total)
				}
			}
		})
	}
}

// cell returns the cell of a field in the first row.
func cell(t *testing.T, doc *html.Node, field string) *html.Node {
	t.Helper()
	return cellOf(t, doc, all(one(t, doc, tag("tbody", "")), tag("tr", ""))[0], field)
}

// cellOf returns the cell of a field in a row.
func cellOf(t *testing.T, doc, row *html.Node, field string) *html.Node {
	t.Helper()
	headers := all(doc, func(n *html.Node) bool { return n.Data == "th" && attr(n, "data-field") != "" })
	at := slices.IndexFunc(headers, func(n *html.Node) bool { return attr(n, "data-field") == field })
	if at < 0 {
		t.Fatalf("no column %q", field)
	}
	return all(row, tag("td", ""))[at]
}

func TestBrowser_values(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	doc := s.page(t, catalog+"?id=58", 200)
	for field, want := range map[string][2]string{
		"id": {"58", ""}, "title": {"Plant 58 of the fern kind", ""}, "category": {"fern", ""},
		"price": {"57,000.50", "57000.50"},
		"date":  {"2024-10-02", ""}, "url": {"garden.example/plants/58", ""}, "image": {"", ""}, "tags": {"shade", ""},
	} {
		if td := cell(t, doc, field); textOf(td) != want[0] || attr(td, "data-raw") != want[1] {
			t.Errorf("%s shows %q with the raw value %q, want %q", field, textOf(td), attr(td, "data-raw"), want)
		}
	}
	if got := attr(one(t, cell(t, doc, "url"), tag("a", "")), "href"); got != "https://garden.example/plants/58" {
		t.Errorf("the link leads to %q", got)
	}
	if got := attr(one(t, cell(t, doc, "image"), tag("img", "")),
		"src"); got != "https://garden.example/images/58.jpg" {
		t.Errorf("the image is %q", got)
	}
	doc = s.page(t, catalog+"?search=FERN+58", 200)
	var marks []string
	for _, m := range all(cell(t, doc, "title"), tag("mark", "")) {
		marks = append(marks, textOf(m))
	}
	if !slices.Equal(marks, []string{"58", "fern"}) {
		t.Errorf("the matches are %q", marks)
	}
}

// TestBrowser_matchesInView checks that a search shows a column with a match that is not among the
// default ones.
func TestBrowser_matchesInView(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	doc := s.page(t, "/datasets/wide/many?search=1234", 200)
	if got := textOf(one(t, cell(t, doc, "f1234"), tag("mark", ""))); got != "1234" {
		t.Errorf("the match is %q", got)
	}
}

func TestBrowser_sorting(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	header := func(query string) (aria, href string) {
		doc := s.page(t, catalog+"?"+query, 200)
		for _, th := range all(one(t, doc, tag("thead", "")), tag("th", "")) {
			if attr(th, "data-field") == "price" {
				return attr(th, "aria-sort"), attr(one(t, th, tag("a", "col-name")), "href")
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

// TestBrowser_severalSortFields checks that the page names all sort fields and marks their columns.
func TestBrowser_severalSortFields(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	doc := s.page(t, catalog+"?sort=category,-price&per_page=5&page=2", 200)
	menu := one(t, doc, has("id", "order"))
	if got := words(all(menu, tag("summary", ""))[0]); got != "Sorted by category ↑, Price in € ↓" {
		t.Errorf("got %q", got)
	}
	var links []string
	for _, a := range all(menu, tag("a", "")) {
		if !strings.Contains(attr(a, "class"), "button") { // of the preview
			links = append(links, attr(a, "href"))
		}
	}
	want := []string{
		// reverse and remove the first field
		"?per_page=5&sort=-category%2C-price", "?per_page=5&sort=price&order=desc",
		"?per_page=5&sort=category%2Cprice", "?per_page=5&sort=category", "?per_page=5",
	}
	if diff := cmp.Diff(want, links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	marks := map[string]string{}
	for _, th := range all(one(t, doc, tag("thead", "")), tag("th", "")) {
		for _, arrow := range all(th, tag("span", "arrow")) {
			marks[attr(th, "data-field")] = attr(th, "aria-sort") + words(arrow)
		}
	}
	if diff := cmp.Diff(map[string]string{"category": "ascending↑1", "price": "↓2"}, marks); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if doc := s.page(t, catalog+"?sort=category,prize", 400); !strings.Contains(words(doc), `did you mean "price"?`) {
		t.Errorf("an unknown field: %s", words(doc))
	}
}

func TestBrowser_chips(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	const c, p, g, e, q, d = "category=fern&category=moss", "&price%5Bgte%5D=5000&price%5Blte%5D=60000", "&tags=wet",
		"&title%5Bempty%5D=false", "&search=plant&sort=date", "&date%5Blte%5D=2024-12-31"
	doc := s.page(t, catalog+"?"+c+p+g+e+q+d, 200)
	var got []string
	for _, li := range all(one(t, doc, tag("ul", "chips")), tag("li", "chip")) {
		got = append(got, words(one(t, li, tag("summary", "")))+" → "+attr(one(t, li, tag("a", "x")), "href"))
	}
	want := []string{
		"category is any of fern, moss → ?" + p[1:] + g + e + q + d,
		"Price in € between 5,000 – 60,000 → ?" + c + g + e + q + d,
		"tags has wet → ?" + c + p + e + q + d,
		"title is not empty → ?" + c + p + g + q + d,
		"date up to 2024-12-31 → ?" + c + p + g + e + q,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("chips (-want +got):\n%s", diff)
	}
	if got := attr(one(t, doc, tag("a", "clear")), "href"); got != "?search=plant&sort=date" {
		t.Errorf("clearing leads to %s", got)
	}
}

// TestBrowser_canonical checks that URLs with parameters without effect redirect to the canonical
// URL.
func TestBrowser_canonical(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for query, want := range map[string]string{
		"search=&price%5Bgte%5D=&price%5Blte%5D=9": catalog + "?price%5Blte%5D=9",
		"page=1":                            catalog,
		"page=&sort=&order=desc":            catalog,
		"category=&search=":                 catalog + "?category=",
		"_record=0":                         catalog,
		"_record=x&_column=title&_column=x": catalog + "?_fields=title",
		"price%5Bgte%5D=50%2C000":           catalog + "?price%5Bgte%5D=50000",
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
	if got := words(one(t, s.page(t, catalog+"?page=99", 200), tag("nav", "pages"))); strings.Contains(got, "–") {
		t.Errorf("the pages of a page past the end: %s", got)
	}
	// Each filter can be removed.
	empty := one(t, s.page(t, catalog+"?category=zzz&tags=wet", 200), tag("div", "empty-state"))
	if n := len(all(empty, tag("a", "button"))); n != 2 {
		t.Errorf("%d filters can be removed, want 2", n)
	}
	// So can the search, and the columns and the version stay.
	empty = one(t, s.page(t, catalog+"?search=zzz&category=fern&_fields=title&_version=v1", 200),
		tag("div", "empty-state"))
	var got []string
	for _, a := range all(empty, tag("a", "")) {
		got = append(got, words(a)+" "+attr(a, "href"))
	}
	want := []string{
		"Search zzz × ?category=fern&_fields=title&_version=v1",
		"category is fern × ?search=zzz&_fields=title&_version=v1",
		"Show all rows ?_fields=title&_version=v1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}

// TestBrowser_invalid checks that an invalid parameter is named, and that the table shows the rows
// without it.
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
		{"search=" + strings.Repeat("a+", 40), "search", 50},
		{"sort=id&sort=id", "", 50},
		{"a=%zz", "", 50},
		{"_fields=nothing&id=58", "_fields", 1},
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
	if in := one(t, doc, func(n *html.Node) bool { return attr(n, "name") == "price[gte]" }); attr(in,
		"value") != "cheap" || attr(in, "aria-invalid") != "true" {
		t.Errorf("the input is %v", in.Attr)
	}
	if chip := one(t, doc, tag("li", "wrong")); attr(one(t, chip, tag("a", "x")), "href") != catalog {
		t.Errorf("the invalid filter cannot be removed: %s", words(chip))
	}
	// Each of several parameters is explained, beside its own filter, too.
	doc = s.page(t, catalog+"?price%5Bgte%5D=cheap&date=soon&_version=v1", 400)
	alert := one(t, doc, func(n *html.Node) bool { return attr(n, "role") == "alert" })
	if got := words(alert); !strings.Contains(got, `"cheap" is not a number`) ||
		!strings.Contains(got, `"soon" is not a date`) || !strings.Contains(got, "ignores them") {
		t.Errorf("the page says %q", got)
	}
	for _, a := range all(alert, tag("a", "")) {
		if got := attr(a, "href"); got != "?_version=v1" {
			t.Errorf("%q leads to %q", words(a), got)
		}
	}
	for name, value := range map[string]string{"price": "cheap", "date": "soon"} {
		if got := words(one(t, one(t, doc, has("data-facet", name)), tag("p", "notice"))); !strings.Contains(got,
			value) {
			t.Errorf("the filter of %s says %q", name, got)
		}
	}
	// Dismissing the notice keeps what is valid.
	doc = s.page(t, catalog+"?sort=prize&id=58", 400)
	if got := attr(one(t, doc, func(n *html.Node) bool { return attr(n, "aria-label") == "Dismiss" }),
		"href"); got != "?id=58" {
		t.Errorf("the notice is dismissed by %q", got)
	}
}

func TestBrowser_pages(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	doc := s.page(t, catalog+"?per_page=5&page=6&sort=id", 200)
	nav := one(t, doc, tag("nav", "pages"))
	var got []string
	for _, a := range all(nav, tag("a", "")) {
		got = append(got, attr(a, "rel")+words(a)+" "+attr(a, "href")+attr(a, "aria-current"))
	}
	want := []string{
		"prev‹ ?per_page=5&sort=id&page=5", "25 rows per page ?sort=id&per_page=25", "50 rows per page ?sort=id",
		"100 rows per page ?sort=id&per_page=100", "next› ?per_page=5&sort=id&page=7",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if got := words(one(t, nav, tag("summary", ""))); got != "26–30 of 60 rows" {
		t.Errorf("the pager says %q", got)
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
	d.Title = "Another garden"
	replace(s.library, d, records[:7])
	got := words(s.page(t, catalog, 200))
	if !strings.Contains(got, "Another garden") || !strings.Contains(got, "7 rows") ||
		strings.Contains(got, "60 rows") {
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
		"category=fern&sort=price", "_record=3&_facet=price&_column=title&_pin=price&_distributions=1", "%zz",
		"search=%22a", "price[gte]=<script>", "a[eq]=1&page=2",
		"_facet=category&category=\"><script>alert(1)</script>", "=&=&&", "page=9999999999&per_page=0",
		"_columns=price&_columns=tags&category=fern", "_more=tags&_values=w&_find=a",
	} {
		f.Add(raw)
	}
	s := newSite(f, nil)
	f.Fuzz(func(t *testing.T, raw string) {
		for _, ref := range []string{"garden/catalog", "evil/nasty"} {
			for _, page := range []string{"", "/api", "/facets", "/distributions", "/fields", "/chart"} {
				r := &http.Request{
					Method: http.MethodGet, URL: &url.URL{Path: "/datasets/" + ref + page, RawQuery: raw},
					Host:   "herbarium.test",
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
