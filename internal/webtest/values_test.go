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

// TestShowMoreValues checks that "Show more" adds the next values of a filter to those that are shown, up to the last one, and that
// each of them can be selected.
func TestShowMoreValues(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.visit(manyValues + "?_facet=city")
	b.settled()
	shown := func() []string { return b.texts("[data-facet=city] .values bdi") }
	for _, want := range []int{12, 100, 200, 250} {
		b.until(fmt.Sprintf("document.querySelectorAll('[data-facet=city] .values li').length === %d", want))
		if got := slices.Compact(slices.Sorted(slices.Values(shown()))); len(got) != want {
			t.Errorf("%d different values are shown, want %d", len(got), want)
		}
		if want < 250 {
			b.click("[data-facet=city] [name=_more]")
		}
	}
	if n := b.count("[data-facet=city] [name=_more]"); n != 0 {
		t.Error("the last values offer more")
	}
	b.follow(`[data-facet=city] input[value="City 249"]`)
	if got := b.column("city"); !slices.Equal(got, []string{"City 249", "City 249"}) {
		t.Errorf("the rows are %q", got)
	}
}

// TestControlsWithoutScript checks that controls for browsers without a script are not visible with one, not even before the
// script of the page runs: here, it never does.
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
		b := open(t, s, tabOptions{noScript: !script})
		b.visit(catalog + "?_facet=category")
		b.until("document.readyState === 'complete'")
		got := eval[[]string](b, `[...document.querySelectorAll(".nojs")].filter((e) => e.checkVisibility()).map((e) => e.textContent)`)
		if script != (len(got) == 0) {
			t.Errorf("script %v: %q are visible", script, got)
		}
	}
}
