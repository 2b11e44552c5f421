package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/web"
)

// headers returns the names of the columns of a page.
func (s *site) headers(t *testing.T, path string) (names []string) {
	t.Helper()
	for _, th := range all(one(t, s.page(t, path, 200), tag("thead", "")), tag("th", ""))[1:] {
		names = append(names, attr(th, "data-field"))
	}
	return names
}

func TestColumns(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for query, want := range map[string]string{
		"": "id title category price date url image tags", "_fields=tags%2Ctitle": "tags title",
		"_fields=tags%2Ctitle&_pin=title": "title tags",
		"_pin=price":                      "price id title category date url image tags",
	} {
		if got := strings.Join(s.headers(t, catalog+"?"+query), " "); got != want {
			t.Errorf("%s: columns are %s, want %s", query, got, want)
		}
	}
	if got := s.headers(t, "/datasets/wide/many"); len(got) != 30 {
		t.Errorf("%d columns are shown of 2000", len(got))
	}
	if got := s.headers(t, "/datasets/wide/many?_fields=f1999"); !slices.Equal(got, []string{"f1999"}) {
		t.Errorf("columns are %v", got)
	}
	for _, path := range []string{
		"/datasets/wide/many", "/datasets/wide/many?f1999=1999&f7=7", "/datasets/wide/many?_distributions=1",
		"/datasets/wide/many/api", "/datasets/wide/many/versions",
	} {
		if size := len(s.get(t, path).body); size > 150_000 {
			t.Errorf("%s has %d bytes", path, size)
		}
	}
}

// submit returns the URL of a form after checking some boxes, as a browser without a script submits
// it.
func submit(t *testing.T, form *html.Node, button, value string, checked ...string) string {
	t.Helper()
	query := url.Values{}
	for _, in := range all(form, tag("input", "")) {
		isBox := attr(in, "type") == "checkbox" || attr(in, "type") == "radio"
		isChecked := slices.ContainsFunc(in.Attr, func(a html.Attribute) bool { return a.Key == "checked" })
		if name := attr(in, "name"); name != "" &&
			(!isBox || isChecked || slices.Contains(checked, attr(in, "value"))) {
			query.Add(name, attr(in, "value"))
		}
	}
	if button != "" {
		query.Set(button, value)
	}
	return attr(form, "action") + "?" + query.Encode()
}

// follow returns the URL to which a URL redirects.
func (s *site) follow(t *testing.T, path string) string {
	t.Helper()
	a := s.get(t, path)
	if a.status == http.StatusSeeOther {
		return a.header.Get("Location")
	}
	return path
}

// TestColumnMenu checks that the menu selects columns, and that the script finds those that it does
// not list.
func TestColumnMenu(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	menu := func(path string) *html.Node {
		return one(t, one(t, s.page(t, path, 200), tag("details", "columns")), tag("form", ""))
	}
	summary := func(path string) string {
		return words(one(t, s.page(t, path, 200), func(n *html.Node) bool {
			return n.Data == "summary" &&
				attr(n.Parent, "id") == "columns"
		}))
	}
	if got := summary("/datasets/wide/many"); got != "Columns 30 of 2,000" {
		t.Errorf("the menu says %q", got)
	}
	first := menu(catalog + "?category=fern&_fields=title%2Cprice")
	if got := s.follow(t, submit(t, first, "", "", "tags")); got != catalog+
		"?category=fern&_fields=title%2Cprice%2Ctags" {
		t.Errorf("adding a column leads to %s", got)
	}
	if n := len(all(menu("/datasets/wide/many"), tag("label", ""))); n != 100 {
		t.Errorf("the menu offers %d columns", n)
	}
	list := s.page(t, "/datasets/wide/many/fields?_find=F199&_fields=f1990", 200)
	if n := len(all(list, tag("label", ""))); n != 11 { // f199, f1990 to f1999
		t.Errorf("the fragment offers %d columns", n)
	}
}

// TestPin checks the button of a column menu that pins the column.
func TestPin(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	doc := s.page(t, catalog+"?_fields=title%2Cprice%2Ctags&page=2&per_page=10", 200)
	form := one(t, doc, func(n *html.Node) bool { return n.Data == "form" && attr(n, "id") == "view" })
	path := s.follow(t, submit(t, form, "_pin", "price"))
	if got, want := strings.Join(s.headers(t, path), " "), "price title tags"; got != want {
		t.Errorf("columns are %s, want %s", got, want)
	}
}

// TestDownload checks that the files have the columns, filters and order of the view.
func TestDownload(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	doc := s.page(t, catalog+"?category=fern&sort=price&order=desc&page=2&per_page=5&_fields=title%2Cprice", 200)
	menu := one(t, doc, tag("details", "download"))
	if got := words(one(t, menu, tag("p", ""))); got != "19 rows, 2 columns" {
		t.Errorf("the menu says %q", got)
	}
	for _, a := range all(menu, tag("a", "")) {
		r := s.get(t, attr(a, "href"))
		if strings.HasSuffix(attr(a, "href"), ".parquet") { // has the whole version
			continue
		}
		if r.status != 200 || r.header.Get("X-Total-Count") != "19" {
			t.Errorf("%s gives %d with %s rows", attr(a, "href"), r.status, r.header.Get("X-Total-Count"))
		}
		if words(a) == "CSV" && !strings.HasPrefix(r.body, "title,price\r\nPlant 58 of the fern kind,57000.50\r\n") {
			t.Errorf("the file is %.200s", r.body)
		}
	}
	if n := len(all(menu, tag("a", ""))); n != 4 {
		t.Errorf("%d files are offered", n)
	}
}

// TestColumnEvidence checks that the menu of a column says why it has its type, and how long its
// texts are.
func TestColumnEvidence(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, l *apitest.Library) {
		d, records := garden()
		for i := range d.Report.Columns {
			if c := &d.Report.Columns[i]; c.Field == "title" {
				c.Evidence, c.Shortest, c.Longest = `text: 3 values are not numbers, the first "ca. 3"`, 5, 1200
			}
		}
		replace(l, d, records)
	})
	doc := s.page(t, catalog, 200)
	for name, want := range map[string]string{
		"title": `text: 3 values are not numbers, the first "ca. 3"; 5–1,200 characters`, "price": "seen"} {
		if got := words(one(t, one(t, doc, has("data-field", name)), tag("p", "evidence"))); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestExceptions checks that the header and the menu of a column lead to the values that are not of
// its type, and that the lengths and words of texts are shown.
func TestExceptions(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, l *apitest.Library) {
		d, records := garden()
		for i := range d.Report.Columns {
			switch c := &d.Report.Columns[i]; c.Field {
			case "price":
				for k := range records[:30] {
					records[k][i] = "on request"
					if k%3 == 0 {
						records[k][i] = "sold out"
					}
				}
				d.Fields[i].Notation.Missing = []string{"on request", "sold out"}
				c.Evidence = "number: 60 of 60; 30 exceptions (on request: 20, sold out: 10)"
				c.Exceptions = []herb.ValueCount{{Value: "on request", Count: 20}, {Value: "sold out", Count: 10}}
			case "title":
				c.Shortest, c.Longest = 5, 130
				c.Words = []herb.ValueCount{{Value: "moss", Count: 19}}
			case "url":
				c.Shortest, c.Longest = 3, 4
				c.Lengths = []herb.LengthCount{{From: 3, To: 3, Count: 7}, {From: 4, To: 4, Count: 50}}
			}
		}
		replace(l, d, records)
	})
	for _, filter := range []string{"", "&price[lt]=50000"} {
		doc := s.page(t, catalog+"?_distributions=1"+filter, 200)
		header := func(name string) *html.Node { return one(t, doc, has("data-field", name)) }
		for name, want := range map[string]string{"title": "free text5–130 characters",
			"url": "60 values3–4 characters"} {
			if got := words(one(t, header(name), tag("p", "lab"))); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		chart := one(t, header("url"), tag("svg", "fixed"))
		if isDim := strings.Contains(attr(chart, "class"), "dim"); isDim != (filter != "") {
			t.Errorf("%s: the chart of all rows is dim: %v", filter, isDim)
		}
		var got []string
		for _, title := range all(chart, tag("title", "")) {
			got = append(got, textOf(title))
		}
		if diff := cmp.Diff([]string{"3 characters: 7 rows", "4 characters: 50 rows"}, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		exceptions := one(t, header("price"), tag("a", "exceptions"))
		if words(exceptions) != "30 not numbers" || attr(exceptions, "title") != "on request (20), sold out (10)" {
			t.Errorf("the exceptions are %q: %q", words(exceptions), attr(exceptions, "title"))
		}
		if got, want := attr(exceptions, "href"), "price=on+request&price=sold+out"; !strings.Contains(got, want) {
			t.Errorf("the exceptions lead to %s", got)
		}
		if got := words(one(t, header("price"),
			tag("p", "evidence"))); got != "number: 60 of 60; 30 exceptions (on request: 20, sold out: 10)" {
			t.Errorf("the menu says %q", got)
		}
		word := one(t, one(t, header("title"), tag("p", "words")), tag("a", ""))
		if got, want := attr(word, "href"), "title%5Bmatch%5D=moss"; !strings.Contains(got, want) ||
			attr(word, "title") != "moss: 19 rows" {
			t.Errorf("the word leads to %s", got)
		}
	}
	doc := s.page(t, catalog+"?_distributions=1&title[match]=moss", 200)
	if got := attr(one(t, one(t, doc, has("id", "distribution-1")), has("aria-current", "true")),
		"href"); strings.Contains(got, "match") {
		t.Errorf("the chosen word leads to %s", got)
	}
}
