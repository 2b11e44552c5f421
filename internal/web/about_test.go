package web_test

import (
	"strings"
	"testing"

	"herbarium/internal/web"
)

func TestAbout(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, l *fakeLibrary) {
		d, records := garden()
		d.Description = "# Plants\n\n**Grown** by [us](https://garden.example/)."
		d.Fields[3].Description = "What it *costs*"
		d.Descriptor = []byte(`{"package":{"keywords":["plants"],"homepage":"https://garden.example/home",
			"contributors":[{"title":"Ana","roles":["author"],"organization":"The Garden"}],
			"sources":[{"title":"Old lists","path":"https://garden.example/lists"},{"title":"Attic","path":"javascript:alert(1)"}]},
			"resource":{"licenses":[{"name":"CC0","path":"https://cc.example/zero"}]}}`)
		d.Report.Notes = []string{"the file has no header"}
		d.Report.Columns[2].Empty, d.Report.Columns[2].Notes = 3, []string{"three rows lack it"}
		l.replace(d, records)
	})
	doc := s.page(t, "/datasets/garden/catalog/about", 200)
	main := one(t, doc, tag("main", ""))
	for _, want := range []string{
		"Plants Grown by us.", "id primary key number", "Price in € What it costs", "LicenseCC0", "Homepagehttps://garden.example/home", "Old lists Attic",
		"ContributorsAna author, The Garden", "Keywordsplants", "Content hashabc", "Versionv2", "7 of 8 columns have no empty values", "category 5% empty",
		"the file has no header", "category: three rows lack it", "https://garden.example/plants/1",
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

// TestAbout_locked checks that the public description of a protected dataset contains nothing that may quote values.
func TestAbout_locked(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(_ *web.Options, l *fakeLibrary) {
		d, records := staff()
		d.Descriptor = []byte(`{"resource":{"sources":[{"title":"Secretive source"}]}}`)
		d.Report.Notes = []string{"Secretive note"}
		l.replace(d, records)
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
