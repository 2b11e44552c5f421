package webtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
)

// TestDistributions points at, clicks and drags over the distributions in the header.
func TestDistributions(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Width: 1600})
	b.Visit(catalog)
	b.settled()
	const price = "#grid th[data-field=price] "
	bars := eval[[]struct {
		From, To string
		Count    int
	}](b, `[...document.querySelectorAll("#grid th[data-field=price] .bar")].map((bar) =>
		({ from: bar.dataset.from, to: bar.dataset.to, count: Number(bar.dataset.count) }))`)
	if len(bars) < 5 {
		t.Fatalf("the distribution of the price has %d bars", len(bars))
	}
	bar := func(i int) []float64 {
		b.Helper()
		return eval[[]float64](b,
			fmt.Sprintf(`(() => { const chart = document.querySelector("#grid th[data-field=price] .hist");
			chart.scrollIntoView({ inline: "center", block: "nearest" });
			const r = chart.getBoundingClientRect(); return [r.left + r.width * (%d + .5) / %d, r.top + 15]; })()`, i, len(bars)))
	}
	b.Mouse(input.DispatchMouseEventTypeMouseMoved, bar(1), input.MouseButtonNone)
	b.Until(`document.querySelector(".tip")`)
	rows := func(n int) string {
		return strings.TrimSuffix(fmt.Sprintf("%d rows", n), strings.Repeat("s", btoi(n == 1)))
	}
	if got := b.Text(".tip"); !strings.HasSuffix(got, rows(bars[1].Count)) {
		t.Errorf("the tip of %v is %q", bars[1], got)
	}
	b.next(func() {
		b.Mouse(input.DispatchMouseEventTypeMousePressed, bar(0), input.MouseButtonLeft)
		b.Mouse(input.DispatchMouseEventTypeMouseMoved, bar(2), input.MouseButtonLeft)
		b.Mouse(input.DispatchMouseEventTypeMouseReleased, bar(2), input.MouseButtonLeft)
	})
	l := b.agree()
	if got, want := l.Meta.Total, bars[0].Count+bars[1].Count+bars[2].Count; got != want {
		t.Errorf("three bars have %d rows, the filter finds %d: %v", want, got, b.query())
	}
	if q := b.query(); q.Get("price[gte]") != bars[0].From || q.Get("price[lt]") != bars[2].To {
		t.Errorf("the drag leads to %v, the bars are %v", q, bars[:3])
	}
	// The distribution shows the selection within all rows, and the others show only the selected
	// rows.
	if b.Count(price+".ghost")+b.Count(price+".out") == 0 {
		t.Error("the distribution does not show what the filter leaves out")
	}
	counted := eval[int](b, `[...document.querySelectorAll("#grid th[data-field=category] .proportion")]
		.reduce((sum, part) => sum + Number(part.dataset.count ?? part.textContent.match(/: ([0-9,]+) row/)?.[1] ?? 0), 0)`)
	if counted == 0 || counted > l.Meta.Total {
		t.Errorf("the categories have %d of %d rows", counted, l.Meta.Total)
	}
	b.Visit(catalog)
	b.settled()
	last := len(bars) - 1
	b.next(func() {
		b.Mouse(input.DispatchMouseEventTypeMousePressed, bar(last), input.MouseButtonLeft)
		b.Mouse(input.DispatchMouseEventTypeMouseReleased, bar(last), input.MouseButtonLeft)
	})
	if l := b.agree(); l.Meta.Total != bars[last].Count || b.query().Get("price[lte]") != bars[last].To {
		t.Errorf("a click on %v leads to %d rows, %v", bars[last], l.Meta.Total, b.query())
	}
	b.Visit(catalog)
	b.settled()
	b.Click(price + "summary")
	b.Until("document.querySelector(" + quote(price+".stats") + ")")
	if got := b.Text(price + ".stats"); !strings.Contains(got, "Rows 513") || !strings.Contains(got, "Min") {
		t.Errorf("the statistics are %q", got)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestMoveColumn drags columns and sorts by several of them.
func TestMoveColumn(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Width: 1600})
	b.Visit(catalog + "?_fields=title,id,category,status,price")
	b.settled()
	name := func(field string) []float64 {
		b.Helper()
		return b.Center("#grid th[data-field=" + field + "] .col-name bdi")
	}
	from, to := name("price"), name("id")
	b.next(func() {
		b.Mouse(input.DispatchMouseEventTypeMousePressed, from, input.MouseButtonLeft)
		for _, x := range []float64{from[0] - 20, to[0] + 5, to[0] - 5} {
			b.Mouse(input.DispatchMouseEventTypeMouseMoved, []float64{x, to[1]}, input.MouseButtonLeft)
		}
		b.Mouse(input.DispatchMouseEventTypeMouseReleased, []float64{to[0] - 5, to[1]}, input.MouseButtonLeft)
	})
	if got := b.query().Get("_fields"); got != "title,price,id,category,status" {
		t.Errorf("after the drag the columns are %s", got)
	}
	shiftClick := func(field string) {
		b.Helper()
		at := name(field)
		b.next(func() {
			for _, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMousePressed,
				input.DispatchMouseEventTypeMouseReleased} {
				call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{
					Type: kind, X: at[0], Y: at[1], Button: input.MouseButtonLeft, ClickCount: 1, Modifiers: 8,
				})
			}
		})
	}
	for _, step := range []struct{ field, want string }{{"category", "category"}, {"price", "category,price"},
		{"price", "category,-price"}, {"category", "-category,-price"}} {
		shiftClick(step.field)
		if got := b.query().Get("sort"); got != step.want {
			t.Errorf("shift-click on %s sorts by %q, want %q", step.field, got, step.want)
		}
	}
	b.agree()
}
