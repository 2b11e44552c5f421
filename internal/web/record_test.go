package web_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/web"
)

// TestRecord checks that the record shows every value byte for byte, once.
func TestRecord(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	d, records := evil()
	for i, want := range records {
		doc := s.page(t, fmt.Sprintf("/datasets/evil/nasty?per_page=100&_record=%d", i+1), 200)
		record := one(t, doc, tag("aside", "record"))
		var got []string
		for _, dd := range all(record, tag("dd", "")) {
			raw := textOf(one(t, dd, tag("bdi", "raw")))
			if attr(dd, "data-raw") != "" {
				raw = attr(dd, "data-raw")
			}
			got = append(got, raw)
		}
		for k := range d.Fields {
			if shown := strings.ReplaceAll(want[k], "\x00", "\uFFFD"); got[k] != shown {
				t.Errorf("record %d, field %d: %q, want %q", i+1, k, got[k], shown)
			}
		}
		var fromJSON map[string]string
		if err := json.Unmarshal([]byte(textOf(one(t, record, tag("pre", "")))), &fromJSON); err != nil ||
			fromJSON["image"] != want[1] {
			t.Errorf("record %d: the JSON has %q, %v; want %q", i+1, fromJSON["image"], err, want[1])
		}
	}
}

// TestRecord_arrays checks that the elements of JSON arrays are displayed and linked.
func TestRecord_arrays(t *testing.T) {
	t.Parallel()
	subjects := field("subjects", herb.TypeList)
	subjects.Notation.JSON = true
	const value = `["boat, sailing","church"]`
	s := newSite(t, func(_ *web.Options, lib *apitest.Library) {
		lib.Put(herb.Dataset{Ref: herb.Ref{Namespace: "museum", Name: "works"}, Fields: []herb.Field{subjects}},
			[]herb.Record{{value}})
	})
	doc := s.page(t, "/datasets/museum/works?_record=1", 200)
	record := one(t, doc, tag("aside", "record"))
	var links []string
	for _, a := range all(one(t, record, tag("dd", "")), tag("a", "")) {
		links = append(links, textOf(a)+" → "+attr(a, "href"))
	}
	if want := []string{"boat, sailing → ?subjects=boat%2C+sailing",
		"church → ?subjects=church"}; !slices.Equal(links, want) {
		t.Errorf("links %q, want %q", links, want)
	}
	if got := attr(one(t, record, tag("dd", "")), "data-raw"); got != value {
		t.Errorf("the value to copy is %q, want %q", got, value)
	}
	if cell := one(t, doc, tag("td", "tags")); words(cell) != "boat, sailingchurch" {
		t.Errorf("the cell shows %q", words(cell))
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

// TestRecord_permalink checks that the permalink leads to the same record.
func TestRecord_permalink(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	record := one(t, s.page(t, catalog+"?sort=price&order=desc&_record=2", 200), tag("aside", "record"))
	if got := words(one(t, record, tag("h2", ""))); got != "Plant 59 of the moss kind" {
		t.Errorf("the title is %q", got)
	}
	link := one(t, record, func(n *html.Node) bool { return n.Data == "a" && words(n) == "Permalink" })
	linked := one(t, s.page(t, attr(link, "href"), 200), tag("aside", "record"))
	if got := words(one(t, linked, tag("h2", ""))); got != "Plant 59 of the moss kind" {
		t.Errorf("the permalink %s leads to %q", attr(link, "href"), got)
	}
}

// TestRecord_contentLink checks that the permalink of a dataset without a primary key leads to the
// same row, one of several with the same values in most columns, and says if there is none any
// more.
func TestRecord_contentLink(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, lib *apitest.Library) {
		d := herb.Dataset{Ref: herb.Ref{Namespace: "talks", Name: "all"},
			Fields: []herb.Field{field("speaker", herb.TypeText), field("party", herb.TypeText),
				field("text", herb.TypeText)}}
		var rows []herb.Record
		for i := range 130 {
			rows = append(rows, herb.Record{"Ana", "A", strings.Repeat("a long speech ", 10) + fmt.Sprint(i)})
		}
		d.Records = len(rows)
		lib.Put(d, rows)
	})
	record := one(t, s.page(t, "/datasets/talks/all?page=3&_record=14", 200), tag("aside", "record"))
	link := attr(one(t, record, func(n *html.Node) bool { return n.Data == "a" && words(n) == "Permalink" }), "href")
	linked := one(t, s.page(t, link, 200), tag("aside", "record"))
	if got := words(linked); !strings.Contains(got, "a long speech 113") || !strings.Contains(got, "Row 114 of 130") {
		t.Errorf("%s leads to %q", link, got)
	}
	if long := all(record, tag("div", "long")); len(long) != 1 {
		t.Errorf("%d values take the whole width, want 1", len(long))
	}
	at := strings.Index(link, "_row=") + len("_row=")
	doc := s.page(t, link[:at]+"0000"+link[at+4:], 404)
	if got := words(one(t, doc, has("role", "alert"))); !strings.Contains(got, "no row of this version") ||
		len(all(doc, tag("tr", ""))) < 50 {
		t.Errorf("a link to a row that is gone shows %q", got)
	}
}

// TestRecord_listInKey checks that a record has no permalink if its key has a list: a page is
// filtered by elements.
func TestRecord_listInKey(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, lib *apitest.Library) {
		d := herb.Dataset{Ref: herb.Ref{Namespace: "shop", Name: "sets"},
			Fields: []herb.Field{field("id", herb.TypeNumber), field("tags", herb.TypeList)}}
		d.PrimaryKey = []string{"id", "tags"}
		lib.Put(d, []herb.Record{{"1", "a,b"}})
	})
	record := one(t, s.page(t, "/datasets/shop/sets?_record=1", 200), tag("aside", "record"))
	if links := all(record, func(n *html.Node) bool {
		return n.Data == "a" &&
			words(n) == "Permalink"
	}); len(links) > 0 {
		t.Errorf("the permalink is %s", attr(links[0], "href"))
	}
}

// TestRecord_elements checks that each element of a list leads to the rows with it.
func TestRecord_elements(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	record := one(t, s.page(t, catalog+"?search=wet&sort=id&_record=1", 200), tag("aside", "record"))
	var got []string
	for _, a := range all(record, func(n *html.Node) bool {
		return n.Data == "a" && attr(n, "title") == "Show rows with this value" && n.Parent.Data == "bdi"
	}) {
		_, total := s.listing(t, "/api/v1/garden/catalog/data"+attr(a, "href"))
		got = append(got, fmt.Sprint(words(a), " ", len(all(a, tag("mark", ""))), " ", total))
	}
	if want := []string{"shade 0 40", "wet 1 20"}; !slices.Equal(got, want) {
		t.Errorf("elements, marks and rows are %q, want %q", got, want)
	}
}
