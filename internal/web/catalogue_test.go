package web_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/library"
	"herbarium/internal/web"
)

func TestCatalogue(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	doc := s.page(t, "/", 200)
	rows := all(doc, tag("li", "dataset"))
	if len(rows) != 5 {
		t.Fatalf("%d datasets are shown", len(rows))
	}
	got := words(rows[2])
	for _, want := range []string{"The garden", "garden/catalog", "What grows in it.", "60 × 8", "ago"} {
		if !strings.Contains(got, want) {
			t.Errorf("the row lacks %q: %s", want, got)
		}
	}
	if strings.Contains(got, "public") || !strings.Contains(words(rows[3]), "requires a key") {
		t.Errorf("the badges are wrong: %s; %s", got, words(rows[3]))
	}
	if when := attr(one(t, rows[2], tag("time", "")), "datetime"); when != "2026-03-20T08:30:00Z" {
		t.Errorf("updated %s", when)
	}
	for search, want := range map[string]int{"garden": 1, "GRO gar": 1, "price": 1, "keyword": 0, "plants": 1,
		"staff": 1, "-": 0, "f1": 1, "  ": 5} {
		if got := len(all(s.page(t, "/?search="+url.QueryEscape(search), 200), tag("li", "dataset"))); got != want {
			t.Errorf("%q finds %d datasets, want %d", search, got, want)
		}
	}
	if a := s.get(t, "/?page=0"); a.status != 400 {
		t.Errorf("page 0 gives %d", a.status)
	}
}

// TestCatalogue_freshness looks at the badge of a dataset in the catalogue and on its page.
func TestCatalogue_freshness(t *testing.T) {
	t.Parallel()
	for expected, want := range map[herb.Frequency]string{
		"monthly": "overdue", "36500d": "fresh", "never": "historical", "": "",
	} {
		s := newSite(t, func(_ *web.Options, l *apitest.Library) {
			d := l.View(herb.Ref{Namespace: "garden", Name: "catalog"})
			d.Published, d.Expected = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), expected
		})
		for path, part := range map[string]string{"/": "li", "/datasets/garden/catalog": "header"} {
			found := ""
			for _, node := range all(s.page(t, path, 200), tag(part, "")) {
				for _, badge := range all(node, tag("span", "badge")) {
					if text := words(badge); strings.Contains("overdue fresh historical", text) {
						found += text
					}
				}
			}
			if found != want {
				t.Errorf("%s of %q shows %q, want %q", path, expected, found, want)
			}
		}
	}
}

// TestFreshness_tag checks that the entity tags of pages change with the state that they show.
func TestFreshness_tag(t *testing.T) {
	t.Parallel()
	tags := map[string]bool{}
	for _, published := range []time.Time{time.Now(), time.Now().AddDate(0, 0, -40), time.Now().AddDate(0, 0, -80)} {
		s := newSite(t, func(_ *web.Options, l *apitest.Library) {
			d := l.View(herb.Ref{Namespace: "garden", Name: "catalog"})
			d.Published, d.Expected = published, "monthly"
		})
		tags[s.get(t, catalog).header.Get("Etag")] = true
	}
	if len(tags) != 3 {
		t.Errorf("the tags are %v", tags)
	}
}

func TestCatalogue_order(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, l *apitest.Library) {
		for i := range l.Views {
			l.Views[i].Published = time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
		}
	})
	for rawQuery, want := range map[string]string{
		"": "empty[empty/none] evil[evil/nasty] garden[garden/catalog] locked[locked/staff] " +
			"wide[wide/many]",
		"?sort=rows":       "[garden/catalog evil/nasty locked/staff wide/many empty/none]",
		"?sort=updated":    "[wide/many locked/staff garden/catalog evil/nasty empty/none]",
		"?namespace=wide":  "wide[wide/many]",
		"?namespace=other": "",
	} {
		var got []string
		for _, g := range all(s.page(t, "/"+rawQuery, 200), tag("section", "group")) {
			var refs []string
			for _, code := range all(g, tag("code", "")) {
				refs = append(refs, textOf(code))
			}
			heading := ""
			if h := all(g, tag("h2", "")); len(h) > 0 {
				heading = words(h[0])
			}
			got = append(got, fmt.Sprint(heading, refs))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %s, want %s", rawQuery, strings.Join(got, " "), want)
		}
	}
	if a := s.get(t, "/datasets/garden"); a.header.Get("Location") != "/?namespace=garden" {
		t.Errorf("the path of a namespace leads to %s", a.header.Get("Location"))
	}
}

// TestCatalogue_rows searches the rows of all datasets. Those of protected ones are counted only
// with a key.
func TestCatalogue_rows(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, tt := range []struct{ search, key, heading, href string }{
		{"moss", "", "19 rows in 1 dataset", "/datasets/garden/catalog?search=moss%2A"},
		{"mos", "", "19 rows in 1 dataset", "/datasets/garden/catalog?search=mos%2A"},
		{`"moss kind"`, "", "19 rows in 1 dataset", "/datasets/garden/catalog?search=%22moss+kind%22"},
		{"nosuchword", "", "", ""},
		{"secretive", "", "", ""},
		{"secretive", otherKey, "", ""},
		{"secretive", staffKey, "2 rows in 1 dataset", "/datasets/locked/staff?search=secretive%2A"},
	} {
		doc := parse(t, s.get(t, "/?search="+url.QueryEscape(tt.search), "Cookie", "herbarium_key="+tt.key).body)
		var heading, href string
		if found := all(doc, tag("section", "matches")); len(found) > 0 {
			heading, href = words(one(t, found[0], tag("h2", ""))), attr(all(found[0], tag("a", ""))[0], "href")
		}
		if heading != tt.heading || href != tt.href {
			t.Errorf("%q: %q leads to %q, want %q, %q", tt.search, heading, href, tt.heading, tt.href)
		}
		if href != "" {
			if a := s.get(t, href, "Cookie", "herbarium_key="+tt.key); a.status != 200 {
				t.Errorf("%s gives %d", href, a.status)
			}
		}
	}
}

// TestCatalogue_inline checks the rows that a search shows: their names and the text around the
// match, with links to the records.
func TestCatalogue_inline(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	doc := s.page(t, "/?search=moss", 200)
	hits := all(one(t, doc, tag("div", "hits")), tag("li", ""))
	if len(hits) != 3 {
		t.Fatalf("the page shows %d rows", len(hits))
	}
	if got, marks := words(hits[0]), all(hits[0], tag("mark", "")); got != "Plant 2 of the moss kind" ||
		len(marks) != 1 || words(marks[0]) != "moss" {
		t.Errorf("the first row is %q with %d marks", got, len(marks))
	}
	href := attr(one(t, hits[1], tag("a", "")), "href")
	if got := words(one(t, s.page(t, href, 200), has("id", "record-title"))); got != "Plant 5 of the moss kind" {
		t.Errorf("%s leads to %q", href, got)
	}
	if got := words(one(t, s.page(t, "/?search=wet", 200), tag("div", "hits"))); !strings.Contains(got,
		"Plant 2 of the moss kind tags shade,wet") {
		t.Errorf("a match in another column is shown as %q", got)
	}
	if got := words(one(t, doc, tag("p", "found"))); !strings.HasPrefix(got, "19 rows for “moss”") {
		t.Errorf("the page says %q", got)
	}
	other := one(t, s.page(t, "/?search=mosses", 200), tag("p", "found")) // no word begins with it
	if got := words(other); !strings.HasPrefix(got, "19 rows for “mosses”") {
		t.Errorf("for another form, the page says %q", got)
	}
	s.library.Put(herb.Dataset{Ref: herb.Ref{Namespace: "equal", Name: "rows"}, Fields: []herb.Field{
		{Name: "name", Type: herb.TypeText, Searchable: true}}}, []herb.Record{{"zinnia red"}, {"zinnia red"},
		{"zinnia blue"}, {"zinnia red"}, {"zinnia"}, {"zinnia pink"}})
	var lines []string
	for _, li := range all(one(t, s.page(t, "/?search=zinnia", 200), tag("div", "hits")), tag("li", "")) {
		lines = append(lines, words(li))
	}
	if got := strings.Join(lines, "|"); strings.Count(got, "zinnia red") != 1 || !strings.Contains(got,
		"zinnia red × 3") || len(lines) != 3 {
		t.Errorf("equal rows are shown as %q", got)
	}
}

// TestCatalogue_entries checks what the catalogue says about a dataset without a description: a
// readable title, its first columns, and what its chart shows.
func TestCatalogue_entries(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	putTrips(s)
	d, records := garden()
	d.Ref, d.Title, d.Description = herb.Ref{Namespace: "plain", Name: "usgs_plants-2016"}, "", ""
	d.Report.Columns[4].Min, d.Report.Columns[4].Max = "2016-01-01", "2024-12-28"
	s.library.Put(d, records)
	entries := map[string]*html.Node{}
	for _, li := range all(s.page(t, "/", 200), tag("li", "dataset")) {
		entries[words(one(t, li, tag("h3", "")))] = li
	}
	for title, want := range map[string][2]string{
		"Usgs plants 2016": {"Columns: id, title, category, Price in €, date, url +2", "Rows by date"},
		"Trips":            {"Columns: name, start_lat, start_lon, end_lat, end_lon", "map"},
	} {
		li := entries[title]
		if li == nil {
			t.Errorf("there is no %q", title)
			continue
		}
		if got := words(one(t, li, tag("p", "names"))); got != want[0] {
			t.Errorf("%s: %q", title, got)
		}
		if got := words(one(t, li, tag("div", "spark"))); got != want[1] {
			t.Errorf("%s: the chart is labelled %q", title, got)
		}
	}
	if a := s.get(t, "/datasets/geo/trips/spark.svg"); a.status != 200 || !strings.Contains(a.body, "<path") {
		t.Errorf("the small map: %d %s", a.status, a.body)
	}
	if got := words(one(t, s.page(t, "/datasets/plain/usgs_plants-2016", 200),
		tag("h1", ""))); got != "Usgs plants 2016" {
		t.Errorf("the heading is %q", got)
	}
}

func TestSpark(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for path, drawn := range map[string]bool{"/datasets/garden/catalog": true, "/datasets/wide/many": true,
		"/datasets/empty/none": false} {
		a := s.get(t, path+"/spark.svg?v=v1")
		if a.status != 200 || a.header.Get("Content-Type") != "image/svg+xml" ||
			strings.Contains(a.body, "<path") != drawn {
			t.Errorf("%s: %d %s %s", path, a.status, a.header.Get("Content-Type"), a.body)
		}
		if got := a.header.Get("Cache-Control"); got != "public, max-age=86400" {
			t.Errorf("%s: Cache-Control is %s", path, got)
		}
	}
	if a := s.get(t, locked+"/spark.svg?v=v1"); a.status != 401 {
		t.Errorf("a protected dataset: %d", a.status)
	}
}

func TestCatalogue_empty(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, l *apitest.Library) { l.Views = nil })
	if got := words(one(t, s.page(t, "/", 200), tag("main", ""))); !strings.Contains(got, "herbarium publish") {
		t.Errorf("the page does not say what to do: %s", got)
	}
}

func TestCatalogue_pages(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, l *apitest.Library) {
		for i := range 100 {
			l.Put(herb.Dataset{Ref: herb.Ref{Namespace: "many", Name: string(rune('a'+i/26)) + string(rune('a'+i%26))}},
				nil)
		}
	})
	shown := 0
	for path := "/"; path != ""; {
		doc := s.page(t, path, 200)
		shown += len(all(doc, tag("li", "dataset")))
		path = ""
		for _, a := range all(doc, tag("a", "button")) {
			if attr(a, "rel") == "next" {
				path = attr(a, "href")
			}
		}
	}
	if shown != 105 {
		t.Errorf("%d datasets are shown on all pages, want 105", shown)
	}
}

// TestCatalogue_keywords checks that rows show keywords, and that a keyword selects the datasets
// that have exactly this one.
func TestCatalogue_keywords(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, l *apitest.Library) {
		for name, keywords := range map[string]string{
			"exact": `["plants"]`, "similar": `["plants of the world","plantsman","Plants"]`, "symbol": `["★"]`,
			"many": `["a","b","c","d","e","f","g"]`,
		} {
			d := herb.Dataset{Ref: herb.Ref{Namespace: "tags", Name: name},
				Fields: []herb.Field{field("plants", herb.TypeText)}}
			d.Descriptor = herb.NewDescriptor([]byte(`{"resource":{"keywords":` + keywords + `}}`))
			l.Put(d, nil)
		}
		locked := herb.Dataset{Ref: herb.Ref{Namespace: "tags", Name: "locked"}, Access: herb.AccessKey,
			Fields: []herb.Field{field("a", herb.TypeText)}}
		locked.Descriptor = herb.NewDescriptor([]byte(`{"resource":{"keywords":["plants"]}}`))
		l.Put(locked, nil)
	})
	refs := func(query string) string {
		var found []string
		for _, row := range all(s.page(t, "/"+query, 200), tag("li", "dataset")) {
			found = append(found, words(one(t, row, tag("code", ""))))
		}
		return strings.Join(found, " ")
	}
	for query, want := range map[string]string{
		"?keyword=plants":                  "garden/catalog tags/exact",
		"?keyword=Plants":                  "tags/similar",
		"?keyword=plants&namespace=garden": "garden/catalog",
		"?keyword=plants&search=exact":     "tags/exact",
		"?keyword=plants&sort=rows":        "garden/catalog tags/exact",
		"?keyword=%E2%98%85":               "tags/symbol",
		"?keyword=world":                   "",
	} {
		if got := refs(query); got != want {
			t.Errorf("%s shows %q, want %q", query, got, want)
		}
	}
	page := s.page(t, "/?keyword=plants&sort=rows", 200)
	if got := words(one(t, page, tag("p", "found"))); !strings.HasPrefix(got, "2 datasets with the keyword plants") {
		t.Errorf("the page says %q", got)
	}
	for _, a := range all(one(t, page, tag("nav", "sorts")), tag("a", "")) {
		if !strings.Contains(attr(a, "href"), "keyword=plants") {
			t.Errorf("the order %q drops the keyword", attr(a, "href"))
		}
	}
	rows := all(s.page(t, "/?namespace=tags", 200), tag("li", "dataset"))
	if got := all(rows[0], tag("a", "tag")); len(got) != 1 || attr(got[0], "href") != "/?keyword=plants" {
		t.Errorf("the row of tags/exact has %d keywords", len(got))
	}
	if got := words(rows[2]); !strings.Contains(got, "a b c d e +2") || len(all(rows[1], tag("a", "tag"))) != 0 {
		t.Errorf("the row of tags/many is %q, that of the locked dataset %q", got, words(rows[1]))
	}
}

// protectedMeanwhile makes a protected version live after a search has counted its matches.
type protectedMeanwhile struct {
	*apitest.Library
	opened int
}

func (l *protectedMeanwhile) Acquire(ctx context.Context, ref herb.Ref) (library.View, error) {
	v, err := l.Library.Acquire(ctx, ref)
	if ref.Namespace == "garden" {
		l.opened++
		if l.opened > 1 {
			v.Access = herb.AccessKey
		}
	}
	return v, err
}

// TestSearch_protectedMeanwhile searches the front page while a dataset becomes protected.
func TestSearch_protectedMeanwhile(t *testing.T) {
	t.Parallel()
	var lib *protectedMeanwhile
	s := newSite(t, func(o *web.Options, l *apitest.Library) {
		lib = &protectedMeanwhile{Library: l}
		o.Library = lib
	})
	a := s.get(t, "/?search=mos") // has no other forms, which would be counted, too
	if a.status != 200 || lib.opened != 2 || strings.Contains(a.body, "of the moss kind") ||
		strings.Contains(a.body, "of the <mark>moss</mark> kind") {
		t.Errorf("%d, opened %d times, with rows", a.status, lib.opened)
	}
}
