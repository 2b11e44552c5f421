package webtest_test

import (
	"strings"
	"testing"
)

// TestDeadEnds follows the ways out of pages that show less than the visitor expected: unknown
// paths, invalid parameters, and a search that matches rows but no dataset.
func TestDeadEnds(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Fails: []int{400, 404}})
	b.Visit("/garden/catalog?category=herb")
	b.settled()
	if got := eval[string](b, "location.pathname + location.search"); got != catalog+"?category=herb" {
		t.Errorf("the short path of a dataset leads to %s", got)
	}

	b.Visit("/datasets/garden/catalogue")
	if got := b.Text("main"); !strings.Contains(got, "There is no dataset garden/catalogue") ||
		strings.Contains(got, "/api/v1") {
		t.Errorf("the page says %q", got)
	}
	b.Click(b.Pick(".near a", "Garden catalogue"))
	b.Until(`location.pathname === ` + quote(catalog))

	b.Visit(catalog + "?sort=prize&category=herb")
	b.settled()
	b.follow(".toast [aria-label=Dismiss]")
	b.wantQuery("category=herb")
	if n := b.Count(".toast"); n != 0 {
		t.Error("the notice stays")
	}

	b.Visit("/?search=noisette")
	b.settled()
	if got := b.Text(".found"); strings.Contains(got, "0 datasets") || b.Count(".matches") != 1 {
		t.Errorf("a search that matches rows only says %q", got)
	}
	name := b.Text(".hits li a b, .hits li a")
	b.Click(".hits li a")
	b.Until(`document.getElementById("record-title")`)
	if got := b.Text("#record-title"); !strings.HasPrefix(name, got) {
		t.Errorf("the row %q leads to %q", name, got)
	}
}

// TestReport checks that the evidence for the types of a publish report has room on all screens.
func TestReport(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	for _, opts := range []tabOptions{{}, {Width: 768}, {Phone: true}} {
		b.Screen(opts)
		b.Visit(catalog + "/versions")
		eval[bool](b, `document.querySelector(".versions details").open = true`)
		if got := b.Texts(".versions details[open] .reports h3"); len(got) != 11 || got[0] != "id number" {
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
