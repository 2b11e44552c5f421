package webtest_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// box returns the text of the search box.
func (b *tab) box() string {
	b.Helper()
	return eval[string](b, `document.getElementById("search").value`)
}

// TestSearchBox types, clears and leaves the search, reloads it, and loses the network.
func TestSearchBox(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(catalog)
	b.settled()
	// While typing, rows below the window change later, but before they can be seen.
	eval[bool](b, `(document.addEventListener("shown", () => {
		window.pending = [Boolean(document.querySelector("[data-pending]"))];
		document.getElementById("grid").dispatchEvent(new Event("scroll"));
		window.pending.push(Boolean(document.querySelector("[data-pending]")));
	}, { once: true }), true)`)
	b.next(func() { b.Fill("#search", "a") })
	if got := eval[[]bool](b, "window.pending"); !got[0] || got[1] {
		t.Errorf("rows change later: %v, also after a scroll: %v", got[0], got[1])
	}
	b.agree()
	b.next(func() { b.Fill("#search", "ros") })
	b.Until(`location.search === "?search=ros*"`)
	b.settled()

	// The "*" that typing implies is never part of the box.
	b.Do(chromedp.Reload())
	b.settled()
	if got := b.box(); got != "ros" {
		t.Errorf("after a reload, the box has %q", got)
	}
	b.follow("#grid tbody th a")
	if got := b.box(); got != "ros" {
		t.Errorf("beside an open record, the box has %q", got)
	}
	b.next(func() {
		eval[bool](b, `(() => { const box = document.getElementById("search"); box.focus(); box.setSelectionRange(9, 9); return true })()`)
		b.Press("e")
	})
	b.Until(`new URLSearchParams(location.search).get("search") === "rose*"`)
	b.settled()
	if l := b.agree(); l.Meta.Total < 2 {
		t.Errorf("typing on finds %d rows", l.Meta.Total)
	}

	// A word with other forms is complete, also when it is submitted: a prefix would not find them.
	b.Fill("#search", "roses")
	b.Until(`new URLSearchParams(location.search).get("search") === "roses"`)
	b.settled()
	if l := b.agree(); l.Meta.Total < 2 || b.box() != "roses" {
		t.Errorf("roses finds %d rows, and the box has %q", l.Meta.Total, b.box())
	}
	b.Press(kb.Enter)
	b.settled()
	b.wantQuery("search=roses")
	b.next(func() { b.Fill("#search", "rosem") })
	b.Until(`new URLSearchParams(location.search).get("search") === "rosem*"`)
	b.settled()

	// The down arrow leads to the rows; Esc clears the search first, and leaves it then.
	b.Press(kb.ArrowDown)
	b.wantFocus("down in the search", "#grid tbody td")
	b.Press("/")
	b.next(func() { b.Press(kb.Escape) })
	b.wantQuery("")
	b.wantFocus("the first Esc", "#search")
	b.agree()
	if b.box() != "" {
		t.Errorf("after Esc, the box has %q", b.box())
	}
	b.Press(kb.Escape)
	b.wantFocus("the second Esc", "body")

	// Without a network, the rows stay and can be requested again.
	rows := b.Texts("#grid tbody tr")
	eval[bool](b, `((window.online = window.fetch), (window.fetch = () => Promise.reject(new TypeError("Failed to fetch"))), true)`)
	b.Fill("#search", "fern")
	b.Until(`document.querySelector(".failed")?.textContent.includes("Offline")`)
	if got := b.Texts("#grid tbody tr"); len(got) != len(rows) || got[0] != rows[0] || b.box() != "fern" ||
		b.Count("[aria-busy]") > 0 {
		t.Errorf("offline, the page has %d rows and the search %q", len(got), b.box())
	}
	b.wantQuery("")
	eval[bool](b, `((window.fetch = window.online), true)`)
	b.follow(".failed button")
	b.wantQuery("search=fern%2A")
	b.agree()
	if b.Count(".failed") > 0 {
		t.Error("the notice stays after the rows were loaded")
	}
}
