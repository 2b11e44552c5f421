package webtest_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestCards shows rows as cards on phones, opens and sorts them, and switches to the table.
func TestCards(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, noScript := range []bool{false, true} {
		b := open(t, s, tabOptions{Phone: true, NoScript: noScript})
		b.Visit(catalog)
		b.settled()
		card := b.Text("#grid tbody tr")
		first := get(t, s.url+"/api/v1/garden/catalog/data?per_page=1").Data[0]
		if !strings.Contains(card, first["title"]) || !strings.Contains(card, first["category"]) ||
			strings.Contains(card, first["url"]) {
			t.Errorf("script %v: the first card is %q", !noScript, card)
		}
		if got := eval[[]int](b,
			`(({ scrollWidth, clientWidth }) => [scrollWidth - clientWidth, [...document.querySelector("#grid tbody tr").cells].filter((c) => c.matches("[data-label]") && c.checkVisibility()).length])(document.getElementById("grid"))`); got[0] > 0 || got[1] != 3 {
			t.Errorf("script %v: cards are %d pixels too wide and have %d fields", !noScript, got[0], got[1])
		}
		if got := b.visibleRows(); got < 7 {
			t.Errorf("script %v: %d cards are in view", !noScript, got)
		}
		b.Click("#order summary")
		if got := eval[[]bool](b,
			`[".bar1 .share", "#order img"].map((s) => document.querySelector(s).checkVisibility())`); got[0] ||
			!got[1] {
			t.Errorf("script %v: share in the bar and in the menu: %v", !noScript, got)
		}
		b.follow(b.Pick("#order button", "price"))
		b.wantQuery("sort=price")
		if !noScript {
			b.Press(kb.Escape) // the menu stays open for the next choice
		}
		b.follow("#grid tbody tr:nth-child(2) th a")
		if b.Count("#record") != 1 {
			t.Errorf("script %v: a card does not open its record", !noScript)
		}
		b.follow("#record [data-record=close]")
		b.follow(".switch")
		b.wantQuery("_view=table&sort=price")
		if !eval[bool](b, `document.querySelector("#grid thead").checkVisibility() && document.querySelector(".switch").textContent === "Cards"`) {
			t.Errorf("script %v: the table has no header", !noScript)
		}
	}
}
