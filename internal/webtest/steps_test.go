package webtest_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp/kb"
)

// TestColumnMenu checks that the menu of all columns adds and removes columns, whatever it lists,
// and that it is never stale.
func TestColumnMenu(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Width: 1200})
	headings := func() string { return strings.Join(b.Texts("#grid th .col-name bdi"), ",") }
	checked := func() string {
		return eval[string](b, `[...document.querySelectorAll("#column-list input:checked")].map((i) => i.value).join()`)
	}
	b.Visit(wide + "?_fields=name,key,kind_9")
	b.settled()
	b.Click("#columns summary")
	b.Fill("#columns input[name=_find]", "kind_905")
	b.Until(`document.querySelectorAll("#column-list li:not(.mut)").length === 1`)
	b.next(func() { b.Press(kb.Enter) })
	if got := headings(); got != "name,key,kind_9,kind_905" {
		t.Errorf("a column that was found replaces others: %s", got)
	}
	b.follow("#column-list input[value=kind_905]")
	if got := headings(); got != "name,key,kind_9" {
		t.Errorf("the columns are %s without the one that was found", got)
	}
	b.next(func() { eval[bool](b, `(history.back(), true)`) })
	if got := checked(); got != "kind_905" {
		t.Errorf("after Back, the menu shows %q", got)
	}

	b.Visit(catalog + "?_fields=title,id,status,price,date")
	b.settled()
	b.Click("#grid th[data-field=status] summary")
	b.follow(b.Pick("#grid th[data-field=status] .fields button", "Hide"))
	b.Click("#columns summary")
	if got := checked(); got != "title,id,price,date" {
		t.Errorf("after a column was hidden, the menu shows %s", got)
	}
	b.follow("#columns input[value=id]")
	if got := headings(); got != "title,price,date" {
		t.Errorf("a hidden column is back: %s", got)
	}
	b.follow("#columns input[value=id]")
	if got := headings(); got != "title,id,price,date" {
		t.Errorf("a removed column returns to another place: %s", got)
	}
	b.next(func() {
		eval[bool](b, `(document.querySelector("#columns input[value=id]").click(), document.querySelector("#columns input[value=price]").click(), true)`)
	})
	b.Until(`document.querySelectorAll("#grid th[data-field]").length === 2`)
	if got := headings(); got != "title,date" {
		t.Errorf("two choices in quick succession show %s", got)
	}
}

// TestSteps checks what a step resets: other rows begin at the top, the horizontal position stays,
// and the focus stays where the work is.
func TestSteps(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Width: 800, Height: 500})
	scroll := func() []int {
		return eval[[]int](b, `[document.getElementById("grid").scrollTop, document.getElementById("grid").scrollLeft].map(Math.round)`)
	}
	for _, step := range []struct {
		name string
		act  func()
	}{
		{"next page", func() { b.Click(".pages a[rel=next]") }},
		{"sort", func() {
			eval[bool](b, `(document.querySelector("#grid th[data-field=price] .col-name").click(), true)`)
		}},
		{"search", func() { b.Fill("#search", "garden ") }},
		{"filter", func() {
			eval[bool](b, `(document.querySelector("#grid .proportion").dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })), true)`)
		}},
	} {
		b.Visit(catalog)
		b.settled()
		eval[bool](b, `(document.getElementById("grid").scrollTo(300, 400), true)`)
		b.Until("location.hash") // the bar below, with its links, follows the position
		b.next(step.act)
		top := 0
		if step.name == "next page" { // its first row
			top = eval[int](b, `Math.round(50 * document.querySelector("#grid tbody tr").getBoundingClientRect().height)`)
		}
		if got := scroll(); got[0] != top || got[1] != 300 {
			t.Errorf("%s: the grid is at %v, want [%d 300]", step.name, got, top)
		}
		b.next(func() { eval[bool](b, `(history.back(), true)`) })
		if got := scroll(); got[0] != 400 {
			t.Errorf("Back after %s: the grid is at %v, want 400", step.name, got)
		}
	}

	b.Visit(catalog)
	b.settled()
	eval[bool](b, `(document.querySelector("#grid tbody tr:last-child td:nth-child(3)").focus(), true)`)
	b.Press(kb.PageDown) // beyond the rows of the page
	b.Until(`Number(document.activeElement.closest("tbody tr")?.cells[0].innerText) > 50`)
	if got := b.position(); got[1] != 2 {
		t.Errorf("PageDown on the last row leads to %v", got)
	}
	b.Press(kb.PageUp)
	b.Until(`document.activeElement.closest("tbody tr")?.cells[0].innerText === "50"`)

	b.Visit(catalog + "?per_page=10") // few rows per page were chosen
	b.settled()
	eval[bool](b, `(document.querySelector("#grid tbody tr:last-child td:nth-child(3)").focus(), true)`)
	b.next(func() { b.Press(kb.PageDown) })
	b.Until(`document.activeElement.closest("tbody tr")?.cells[0].innerText === "11"`)
	if got := b.position(); got != [2]int{1, 2} || scroll()[0] != 0 {
		t.Errorf("PageDown on the last row of a page leads to %v at %v", got, scroll())
	}
	b.next(func() { b.Press(kb.PageUp) })
	b.Until(`document.activeElement.closest("tbody tr")?.cells[0].innerText === "10"`)

	b.Click("#add-filter summary")
	b.Fill("#add-filter input[name=_find]", "pri")
	b.next(func() { b.Press(kb.Enter) })
	b.wantFocus("a new filter", `details[data-facet="price"] input:not([type=hidden])`)
	b.next(func() { b.Press("3") })
	b.Until(`location.search.includes("price")`)
	b.Press(kb.Escape)
	eval[bool](b, `(document.querySelector(".chip .x").focus(), true)`)
	b.next(func() { b.Press(kb.Enter) })
	b.wantFocus("removing the last filter", "#add-filter summary")
}

// TestPrint checks that paper shows all columns, the title, the date and the address.
func TestPrint(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Width: 1040, Height: 700})
	b.Visit(wide + "?sort=name")
	b.settled()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	if over := eval[int](b, `Math.max(...[...document.querySelectorAll("#grid td, #grid th")].map((c) => c.getBoundingClientRect().right)) - innerWidth`); over > 0 {
		t.Errorf("columns end %d pixels beyond the paper", over)
	}
	if got := b.Text(".bar1") + b.Text(".printed"); !strings.Contains(got, "A thousand columns") ||
		!strings.Contains(got, "updated ") || !strings.Contains(got, b.url+wide+"?sort=name") {
		t.Errorf("the paper says %q", got)
	}
}
