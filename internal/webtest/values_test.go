package webtest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// manyValues is a dataset with 250 cities, two rows each.
const manyValues = "/datasets/values/cities"

func manyValuesCSV() string {
	var b strings.Builder
	b.WriteString("city,n\n")
	for i := range 500 {
		fmt.Fprintf(&b, "City %03d,%d\n", i/2, i)
	}
	return b.String()
}

// TestShowMoreValues checks that "Show more" adds the next values of a filter to those that are
// shown, up to the last one, and that each of them can be selected.
func TestShowMoreValues(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(manyValues + "?_facet=city")
	b.settled()
	shown := func() []string { return b.Texts("[data-facet=city] .values bdi") }
	for _, want := range []int{12, 100, 200, 250} {
		b.Until(fmt.Sprintf("document.querySelectorAll('[data-facet=city] .values li').length === %d", want))
		if got := slices.Compact(slices.Sorted(slices.Values(shown()))); len(got) != want {
			t.Errorf("%d different values are shown, want %d", len(got), want)
		}
		if want < 250 {
			b.Click("[data-facet=city] [name=_more]")
		}
	}
	if n := b.Count("[data-facet=city] [name=_more]"); n != 0 {
		t.Error("the last values offer more")
	}
	b.follow(`[data-facet=city] input[value="City 249"]`)
	if got := b.column("city"); !slices.Equal(got, []string{"City 249", "City 249"}) {
		t.Errorf("the rows are %q", got)
	}
}

// TestControlsWithoutScript checks that controls for browsers without a script are not visible with
// one, not even before the script of the page runs: here, it never does.
func TestControlsWithoutScript(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/app.js") {
				w.Header().Set("Content-Type", "text/javascript")
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	for _, script := range []bool{true, false} {
		b := open(t, s, tabOptions{NoScript: !script})
		b.Visit(catalog + "?_facet=category")
		b.Until("document.readyState === 'complete'")
		got := eval[[]string](b,
			`[...document.querySelectorAll(".nojs")].filter((e) => e.checkVisibility()).map((e) => e.textContent)`)
		if script != (len(got) == 0) {
			t.Errorf("script %v: %q are visible", script, got)
		}
	}
}

// longText is a dataset with long names and long values.
const longText = "/datasets/values/long"

func longTextCSV() string {
	var b strings.Builder
	name := func(i int) string { return fmt.Sprintf("a_name_that_is_much_longer_than_the_column_%d", i) }
	fmt.Fprintf(&b, "%s,%s,%s,place\n", name(0), name(1), name(2))
	for i := range 300 {
		fmt.Fprintf(&b, "%d,%d,%d,A place with a name that takes more than one line in the list of values %d\n", i,
			i%7, i%11, i%3)
	}
	return b.String()
}

// TestLongText checks that menus with long names and values are completely in view and do not cut
// them off.
func TestLongText(t *testing.T) {
	onlyInSoakRuns(t)
	t.Parallel()
	s := newSite(t, nil)
	const name = "a_name_that_is_much_longer_than_the_column_"
	const filters = "?" + name + "0[gte]=1&" + name + "1[gte]=0&" + name +
		"2[gte]=0&place[prefix]=A+place+with+a+name+that+takes+more+than+one+line"
	for _, opts := range []tabOptions{{}, {NoScript: true}, {Phone: true}} {
		b := open(t, s, opts)
		b.Visit(longText + "?_view=table&sort=" + name + "1,-" + name + "2")
		b.settled()
		for i := range 3 {
			b.Click(fmt.Sprintf("#grid th[data-field=%s%d] .col-menu > summary", name, i))
			b.settled()
			if got := eval[[]float64](b,
				`(({ left, right, width }) => [left, innerWidth - right, width])(document.querySelector(".col-menu[open] .popover").getBoundingClientRect())`); got[0] < 0 || got[1] < 0 || got[2] < 200 {
				t.Errorf("%+v: the menu of column %d has the distances and width %v", opts, i, got)
			}
			b.Click("#grid .col-menu[open] > summary")
		}
		if !opts.NoScript { // an open menu stays where it is while the rows change
			b.Click(fmt.Sprintf("#grid th[data-field=%s0] .col-menu > summary", name))
			shown := func() []float64 {
				return eval[[]float64](b,
					`((e) => [e.getBoundingClientRect().left, e.getBoundingClientRect().top, Number(getComputedStyle(e).opacity)])(document.querySelector(".col-menu[open] .popover"))`)
			}
			before := shown()
			b.next(func() { b.Fill("#search", "place") })
			if after := shown(); !slices.Equal(before, after) || after[2] != 1 {
				t.Errorf("%+v: the open menu moves from %v to %v", opts, before, after)
			}
		}
		if !opts.Phone {
			b.Click("#order > summary")
			if !eval[bool](b, `(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector("#order form"))`) {
				t.Errorf("%+v: the menu of the order cuts off names", opts)
			}
		}
		b.Visit(longText + "?_facet=place#filters")
		b.settled()
		if got := eval[float64](b,
			`Math.max(...[...document.querySelectorAll(".values .num")].map((e) => e.getBoundingClientRect().height))`); got > 22 {
			t.Errorf("%+v: a count is %v pixels high", opts, got)
		}
		b.Visit(longText + filters)
		b.settled()
		if opts.Phone {
			if got := b.Texts(".pages summary .vh"); eval[float64](b,
				`document.querySelector(".pages summary .vh").getBoundingClientRect().width`) < 20 {
				t.Errorf("the number of rows, %q, is not visible", got)
			}
			continue
		}
		if got := eval[int](b, `(() => { const end = document.querySelector(".chips").getBoundingClientRect().right;
			return [...document.querySelectorAll(".chips .x")].filter((x) => x.getBoundingClientRect().right <= end + 1).length; })()`); got != 4 {
			t.Errorf("%+v: %d of 4 filters are in view", opts, got)
		}
	}
}
