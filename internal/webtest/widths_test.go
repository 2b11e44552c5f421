package webtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// TestWidths changes the widths of columns with the mouse and the keyboard, and keeps them in the
// URL.
func TestWidths(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(catalog + "?_fields=title,description,price")
	b.settled()
	width := func(field string) int {
		t.Helper()
		return eval[int](b, "document.querySelector('#grid th[data-field="+field+"]').offsetWidth")
	}
	edge := func(field string) []float64 {
		t.Helper()
		return eval[[]float64](b,
			`(({ right, top }) => [right - 3, top + 40])(document.querySelector("#grid th[data-field=`+field+
				`]").getBoundingClientRect())`)
	}
	// The column with the longest texts takes the rest, and has as much text as fits.
	grid := eval[int](b, "document.getElementById('grid').clientWidth")
	if got := 56 + width("title") + width("description") + width("price"); got != grid || width("description") < 600 {
		t.Errorf("the columns have %d of %d pixels, the descriptions %d", got, grid, width("description"))
	}
	if got := eval[int](b, `[...document.querySelectorAll("#grid tbody td:nth-child(3)")].filter((td) => td.textContent.endsWith("…") && td.scrollWidth <= td.clientWidth).length`); got > 0 {
		t.Errorf("%d texts end before their cells do", got)
	}
	if got := eval[[]string](b,
		`["title", "price"].map((f) => getComputedStyle(document.querySelector("#grid tbody tr").cells[document.querySelector("#grid th[data-field=" + f + "]").cellIndex]).fontVariantNumeric)`); got[0] != "normal" || got[1] != "tabular-nums" {
		t.Errorf("the digits of texts and numbers are %q", got)
	}

	// Dragging.
	before, at := width("title"), edge("title")
	b.next(func() {
		b.Mouse(input.DispatchMouseEventTypeMousePressed, at, input.MouseButtonLeft)
		b.Mouse(input.DispatchMouseEventTypeMouseMoved, []float64{at[0] + 30, at[1]}, input.MouseButtonLeft)
		b.Mouse(input.DispatchMouseEventTypeMouseMoved, []float64{at[0] + 60, at[1]}, input.MouseButtonLeft)
		if got := width("title"); got != before+60 {
			t.Errorf("while dragging, the column has %d pixels, want %d", got, before+60)
		}
		b.Mouse(input.DispatchMouseEventTypeMouseReleased, []float64{at[0] + 60, at[1]}, input.MouseButtonLeft)
	})
	if got := b.query(); got.Get("_width") != fmt.Sprintf("title:%d", before+60) || got.Get("sort") != "" {
		t.Errorf("after dragging, the query is %q", got.Encode())
	}
	b.Do(chromedp.Reload())
	b.settled()
	if got := width("title"); got != before+60 {
		t.Errorf("after a reload, the column has %d pixels, want %d", got, before+60)
	}

	// A double click fits the column to its texts.
	at = edge("title")
	b.next(func() { b.Do(chromedp.MouseClickXY(at[0], at[1], chromedp.ClickCount(2))) })
	if got := eval[int](b, `[...document.querySelectorAll("#grid tbody td:nth-child(2)")].filter((td) => td.scrollWidth > td.clientWidth).length`); got > 0 {
		t.Errorf("%d titles are cut in a column that was fitted to them", got)
	}

	// The keyboard, also for the column that took the rest.
	before = width("description")
	eval[bool](b, `(document.querySelector("#grid tbody tr:nth-child(2) td:nth-child(3)").focus(), true)`)
	b.next(func() { b.pressWith(1, "ArrowLeft", "ArrowLeft"); b.pressWith(1, "ArrowLeft", "ArrowLeft") })
	b.Until(`new URLSearchParams(location.search).getAll("_width").some((w) => w.startsWith("description:"))`)
	if widths := strings.Join(b.query()["_width"], " "); !strings.Contains(widths, "title:") {
		t.Errorf("the widths are %q", widths)
	}

	// The menu restores the width.
	b.Click("#grid th[data-field=title] .col-menu > summary")
	b.follow(b.Pick("#grid th[data-field=title] .popover button", "Default width"))
	if widths := strings.Join(b.query()["_width"], " "); strings.Contains(widths, "title:") ||
		!strings.Contains(widths, "description:") {
		t.Errorf("the widths are %q", widths)
	}
}
