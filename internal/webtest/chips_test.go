package webtest_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// manyFilters is a query whose filters do not fit into the bar.
const manyFilters = "?category=shrub&category=climber&status=published&price[gte]=2&date[gte]=2015-01-01&title[prefix]=a&id[gte]=1"

// TestChips shows values of filters as a whole, and filters that do not fit behind a button.
func TestChips(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	for _, width := range []int64{1280, 768} {
		b.Screen(tabOptions{Width: width})
		b.Visit(catalog + manyFilters)
		b.settled()
		// A value is in view as a whole, or its chip is out of view.
		const state = `(() => {
			const list = document.querySelector(".chips").getBoundingClientRect();
			const chips = [...document.querySelectorAll(".chip")], seen = chips.filter((c) => c.getBoundingClientRect().top < list.bottom);
			const cut = seen.flatMap((c) => [...c.querySelectorAll("b, i")]).filter((e) => {
				const r = e.getBoundingClientRect(), s = e.closest("summary").getBoundingClientRect();
				return r.right > s.right + 1 || r.right > list.right + 1;
			}).map((e) => e.textContent);
			return [chips.length, seen.length, Number(document.querySelector(".more-chips").textContent), cut.length];
		})()`
		got := eval[[]int](b, state)
		if got[0] != 6 || got[1] < 1 || got[2] != got[0]-got[1] || got[2] == 0 || got[3] > 0 {
			t.Errorf("%d pixels: of %d filters, %d are in view, +%d; %d values are cut", width, got[0], got[1],
				got[2], got[3])
		}
		b.Click(".more-chips")
		if got := eval[[]int](b, state); got[1] != got[0] || got[3] > 0 {
			t.Errorf("%d pixels: the list has %d of %d filters, %d cut", width, got[1], got[0], got[3])
		}
		b.Click(b.Pick(".chip summary", "price"))
		b.Until(`document.querySelector(".chip details[open] input:not([type=hidden])")?.checkVisibility()`)
		b.Press(kb.Escape + kb.Escape)
		b.wantFocus("Esc in the list", ".more-chips")
		if b.Count(".chips.all") > 0 {
			t.Error("Esc leaves the list open")
		}
	}
}

// TestViewsKeepFilters visits all views of a dataset and returns to the same rows.
func TestViewsKeepFilters(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(catalog + "?category=shrub&sort=price&_fields=id,title,price")
	b.settled()
	l, query, download := b.agree(), b.query().Encode(), b.Text("#download summary")
	for _, name := range []string{"Chart", "About", "API", "Versions"} {
		b.Click(b.Pick(".tabs a", name))
		b.Until(fmt.Sprintf("document.readyState === 'complete' && document.querySelector('.tabs "+
			"[aria-current]').textContent === %q", name))
		b.wantQuery(query)
		if got := b.Text("#download summary"); got != download {
			t.Errorf("%s offers %q, want %q", name, got, download)
		}
		if name == "API" {
			address := eval[string](b, `document.querySelector("#call code").textContent.replace("GET ", "")`)
			if shown := get(t, address); shown.Meta.Total != l.Meta.Total || shown.Data[0]["id"] != l.Data[0]["id"] ||
				len(shown.Data[0]) != 3 {
				t.Errorf("the call %s lists %d rows, want %d", address, shown.Meta.Total, l.Meta.Total)
			}
		}
	}
	b.Click(b.Pick(".versions a", "Show rows"))
	b.Until("document.getElementById('grid')")
	b.settled()
	b.wantQuery(query)
	b.agree()
}

// TestPhoneMenus opens the menus of the bar on a phone: they are above everything else.
func TestPhoneMenus(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Phone: true})
	b.Visit(catalog)
	b.settled()
	b.Click("#download summary")
	for i := range 3 {
		b.Center(fmt.Sprintf("#download .files li:nth-child(%d) a", i+1)) // fails if it is covered
	}
}
