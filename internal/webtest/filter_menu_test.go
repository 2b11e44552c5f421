package webtest_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
)

// TestRangeMenu checks the form of a range: its distribution is brushed, the ends of the column are
// placeholders, dates have presets, and only the form itself scrolls. Without rows, the head stays,
// and the message stays in view.
func TestRangeMenu(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	const form = `details[data-facet="price"] .filter `
	b.Visit(catalog + "?_facet=price")
	b.settled()
	b.Until(`document.querySelector('` + form + `.distribution[data-loaded] .hist')`)
	ends := eval[[]string](b, `[...document.querySelectorAll('`+form+`.range input')].map((i) => i.placeholder)`)
	if len(ends) != 2 || ends[0] == "" || ends[1] == "" || ends[0] == ends[1] {
		t.Errorf("the placeholders are %q", ends)
	}
	at := eval[[]float64](b, `(() => { const r = document.querySelector('`+form+`.hist').getBoundingClientRect();
		return [r.left + 2, r.top + 10, r.left + r.width / 3]; })()`)
	b.next(func() {
		b.Mouse(input.DispatchMouseEventTypeMouseMoved, at[:2], input.MouseButtonNone)
		b.Mouse(input.DispatchMouseEventTypeMousePressed, at[:2], input.MouseButtonLeft)
		b.Mouse(input.DispatchMouseEventTypeMouseMoved, []float64{at[2], at[1]}, input.MouseButtonLeft)
		b.Mouse(input.DispatchMouseEventTypeMouseReleased, []float64{at[2], at[1]}, input.MouseButtonLeft)
	})
	if q := b.query(); q.Get("price[gte]") == "" || q.Get("price[lt]") == "" {
		t.Errorf("the drag leads to %v", q)
	}
	b.agree()
	b.Until(`document.querySelector('` + form + `.distribution[data-loaded] .bar.out')`)

	b.Visit(catalog + "?_facet=date&_facet=category")
	b.settled()
	if got := b.Texts(`details[data-facet="date"] .presets a`); len(got) != 3 || got[0] != "Last 7 days" {
		t.Errorf("the presets are %q", got)
	}
	if n := eval[int](b, `[...document.querySelectorAll(".filter *")].filter((e) => ["auto", "scroll"].includes(getComputedStyle(e).overflowY)).length`); n != 0 {
		t.Errorf("%d elements of a filter have scrollbars of their own", n)
	}
	b.follow(b.Pick(`details[data-facet="date"] .presets a`, "Last 30 days"))
	if l := b.agree(); l.Meta.Total == 0 || b.query().Get("date[gte]") == "" {
		t.Errorf("%d rows, %v", l.Meta.Total, b.query())
	}

	b.Visit(catalog + "?search=nosuchword")
	b.settled()
	if got := strings.Join(b.Texts("#grid th .col-name bdi"), ","); !strings.HasPrefix(got, "id,title,") ||
		b.Count("#grid .empty-state") != 1 {
		t.Errorf("without rows, the head is %q", got)
	}
	if x := eval[float64](b,
		`(() => { const grid = document.getElementById("grid"), box = () => grid.querySelector(".empty-state").getBoundingClientRect().x, at = box();
		grid.scrollLeft = 9999; return grid.scrollLeft ? box() - at : -1; })()`); x != 0 {
		t.Errorf("the message moves by %v pixels when the head is scrolled", x)
	}
}

// TestDidYouMean follows the corrections of a search and of filters without rows.
func TestDidYouMean(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		b := open(t, newSite(t, nil), tabOptions{NoScript: !script})
		for query, want := range map[string]string{
			"search=marigodl*":                    "search=marigold",
			"search=frnch+%22marigodl%22":         "search=french+%22marigold%22",
			"search=marigodl&category=nosuch":     "search=marigold",
			"title%5Bcontains%5D=Ostrihc&sort=id": "title[contains]=ostrich",
			"title=ostrich+ferm":                  "title=Ostrich fern",
			"status=Published&price%5Blt%5D=9999": "status=published",
			"author=ana+lucic":                    "author=Ana Lučić",
		} {
			b.Visit(catalog + "?" + query)
			b.settled()
			if b.Count(".meant a") != 1 {
				t.Errorf("%s: %s", query, b.Text("#grid .empty-state"))
				continue
			}
			rows := b.Text(".meant .mut")
			b.follow(".meant a")
			name, value, _ := strings.Cut(want, "=")
			if unescaped, err := url.QueryUnescape(value); err == nil {
				value = unescaped
			}
			if got := b.query().Get(name); got != value {
				t.Errorf("%s leads to %v, want %s", query, b.query(), want)
			}
			if l := b.agree(); l.Meta.Total == 0 || rows != fmt.Sprintf("%d rows", l.Meta.Total) && rows != "1 row" {
				t.Errorf("%s: the page promises %q, there are %d", query, rows, l.Meta.Total)
			}
		}
		for query, links := range map[string]int{
			"search=zzzzzzz": 0, "search=marigo1d": 0, "title=ostrich+ferm&tags=Shade&id=99999": 2,
		} {
			b.Visit(catalog + "?" + query)
			b.settled()
			if n := b.Count(".meant"); n != links {
				t.Errorf("%s: %d corrections, want %d", query, n, links)
			}
		}
	}
}
