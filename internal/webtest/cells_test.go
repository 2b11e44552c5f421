package webtest_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// clipboard returns the text on the clipboard once it is not what it was.
func (b *tab) clipboard(before string) (text string) {
	b.Helper()
	b.Wait("something is copied",
		func() bool { text = eval[string](b, "navigator.clipboard.readText()"); return text != before })
	return text
}

// TestCells shows the whole value of a cell, and copies a range for a spreadsheet.
func TestCells(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.AllowClipboard()
	b.Visit(catalog + "?_fields=title,category,price,description&sort=id")
	b.settled()
	l := get(t, eval[string](b, `document.querySelector("#call code").dataset.url`))
	eval[bool](b, `(document.querySelector("#grid tbody tr:nth-child(2) td").focus(), true)`)
	b.pressWith(8, "ArrowRight", "ArrowRight")
	b.pressWith(8, "ArrowRight", "ArrowRight")
	b.pressWith(8, "ArrowDown", "ArrowDown")
	b.Until(`document.querySelectorAll("#grid td.chosen").length === 6`)
	if got := b.Count("#grid td.chosen[aria-selected=true]"); got != 6 || b.position() != [2]int{3, 3} {
		t.Errorf("%d cells are selected, the focus is at %v", got, b.position())
	}
	b.pressWith(2, "c", "KeyC")
	want := ""
	for _, r := range l.Data[1:3] {
		want += "\n" + r["title"] + "\t" + r["category"] + "\t" + r["price"]
	}
	if got := b.clipboard(""); got != strings.TrimSpace(want) {
		t.Errorf("copied %q, want %q", got, strings.TrimSpace(want))
	}
	b.Press(kb.ArrowUp)
	if got := b.Count("#grid td.chosen"); got != 0 {
		t.Errorf("%d cells stay selected", got)
	}

	eval[bool](b, `(document.querySelector("#grid tbody tr:nth-child(1) td:nth-child(5)").focus(), true)`)
	before := b.clipboard("")
	b.Press(" ")
	b.Until(`document.querySelector(".whole:popover-open")?.contains(document.activeElement)`)
	if got := b.Text(".whole p"); got != l.Data[0]["description"] {
		t.Errorf("Space shows %q", got)
	}
	b.Press(kb.Enter) // Copy
	if got := b.clipboard(before); got != l.Data[0]["description"] {
		t.Errorf("copied %q", got)
	}
	b.Until(`!document.querySelector(".whole") && document.activeElement.matches("#grid td:nth-child(5)")`)
	b.Press(" ")
	b.Until(`document.querySelector(".whole:popover-open")?.contains(document.activeElement)`)
	b.Press(kb.Escape)
	b.Until(`!document.querySelector(".whole") && document.activeElement.matches("#grid td:nth-child(5)")`)
}

// TestFilterMenu finds a part of a text, and leaves out the selected values instead of showing
// them, with and without a script.
func TestFilterMenu(t *testing.T) {
	eachWay(t, func(b *tab, script bool) {
		apply := func(selector string, act func()) {
			b.Helper()
			if script {
				b.next(act)
				return
			}
			act()
			b.follow(selector + " .actions button")
		}
		b.Visit(catalog + "?_facet=title")
		b.settled()
		const title = "[data-facet=title]"
		apply(title, func() { b.Fill(title+" input[name='title[contains]']", "osa") })
		b.Until(`location.search.includes("contains")`)
		b.settled()
		if l := b.agree(); b.query().Get("title[contains]") != "osa" || l.Meta.Total == 0 ||
			!strings.Contains(strings.ToLower(l.Data[0]["title"]), "osa") {
			b.Errorf("the query %q finds %d rows", b.query().Encode(), l.Meta.Total)
		}

		b.Visit(catalog + "?category=shrub&category=tree&_facet=category")
		b.settled()
		total := b.agree().Meta.Total
		const category = "[data-facet=category]"
		apply(category, func() {
			eval[bool](b, `(document.querySelector("`+category+` [name=_not][value=category]").click(), true)`)
		})
		b.Until(`location.search.includes("ne")`)
		b.settled()
		all := get(b.T, b.url+"/api/v1/garden/catalog/data").Meta.Total
		if l := b.agree(); len(b.query()["category[ne]"]) != 2 || l.Meta.Total != all-total {
			b.Errorf("the query %q finds %d of %d rows, want all but %d", b.query().Encode(), l.Meta.Total, all, total)
		}
		if got := b.Text(".chip summary"); !strings.HasPrefix(got, "category is none of ") {
			b.Errorf("the filter says %q", got)
		}
	})
}
