package webtest_test

import (
	"strings"
	"testing"
)

// TestDeadEnds follows the ways out of pages that show less than the visitor expected: unknown
// paths, invalid parameters, and a search that matches rows but no dataset.
func TestDeadEnds(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{fails: []int{400, 404}})
	b.visit("/garden/catalog?category=herb")
	b.settled()
	if got := eval[string](b, "location.pathname + location.search"); got != catalog+"?category=herb" {
		t.Errorf("the short path of a dataset leads to %s", got)
	}

	b.visit("/datasets/garden/catalogue")
	if got := b.text("main"); !strings.Contains(got, "There is no dataset garden/catalogue") || strings.Contains(got, "/api/v1") {
		t.Errorf("the page says %q", got)
	}
	b.click(b.pick(".near a", "Garden catalogue"))
	b.until(`location.pathname === ` + quote(catalog))

	b.visit(catalog + "?sort=prize&category=herb")
	b.settled()
	b.follow(".toast [aria-label=Dismiss]")
	b.wantQuery("category=herb")
	if n := b.count(".toast"); n != 0 {
		t.Error("the notice stays")
	}

	b.visit("/?search=noisette")
	b.settled()
	if got := b.text(".found"); strings.Contains(got, "0 datasets") || b.count(".matches") != 1 {
		t.Errorf("a search that matches rows only says %q", got)
	}
	name := b.text(".hits li a b, .hits li a")
	b.click(".hits li a")
	b.until(`document.getElementById("record-title")`)
	if got := b.text("#record-title"); !strings.HasPrefix(name, got) {
		t.Errorf("the row %q leads to %q", name, got)
	}
}

// TestReport checks that the evidence for the types of a publish report has room on all screens.
func TestReport(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	for _, opts := range []tabOptions{{}, {width: 768}, {phone: true}} {
		b.screen(opts)
		b.visit(catalog + "/versions")
		eval[bool](b, `document.querySelector(".versions details").open = true`)
		if got := b.texts(".versions details[open] .reports h3"); len(got) != 11 || got[0] != "id number" {
			t.Errorf("the report has %q", got)
		}
		if w := eval[int](b, `Math.min(...[...document.querySelectorAll(".versions details[open] .reports li > p")].map((p) => p.clientWidth))`); w < 240 {
			t.Errorf("%+v: the evidence is %d pixels wide", opts, w)
		}
		if w := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); w > 0 {
			t.Errorf("%+v: the page is %d pixels too wide", opts, w)
		}
	}
}
