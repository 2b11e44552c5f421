package webtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/testseed"
)

// TestBudget bounds the bytes that a first visit transfers, with and without the font.
func TestBudget(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	const most, mostWithoutFont = 115_000, 88_000
	for _, path := range []string{"/", catalog, catalog + "?search=a*&sort=price&category=herb&category=tree",
		catalog + "/about", catalog + "/api", catalog + "/versions"} {
		b := open(t, s, tabOptions{})
		b.Visit(path)
		b.settled()
		eval[bool](b, "document.fonts.ready.then(() => true)")
		b.Wait("no request is under way", b.Idle)
		all, font := b.Transferred("")-b.Transferred("/images/"), b.Transferred(".woff2") // images are data
		if all > most || all-font > mostWithoutFont || all-font < 5000 || font == 0 {
			t.Errorf("%s transfers %d bytes, %d without the font; at most %d and %d", path, all, all-font, most,
				mostWithoutFont)
		}
		t.Logf("%s: %d bytes, %d without the font, in %d requests", path, all, all-font, len(b.Requested(s.url)))
	}
}

// visibleRows counts the rows that are completely in view, between the header and the end of the
// grid.
func (b *tab) visibleRows() int {
	b.Helper()
	return eval[int](b, `(() => {
		const grid = document.getElementById("grid"), box = grid.getBoundingClientRect();
		const top = grid.querySelector("thead").getBoundingClientRect().bottom, bottom = Math.min(box.top + grid.clientHeight, innerHeight);
		return [...grid.querySelectorAll("tbody tr")].map((tr) => tr.getBoundingClientRect()).filter((r) => r.top >= top - 1 && r.bottom <= bottom + 1).length;
	})()`)
}

func TestVisibleRows(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	for _, path := range []string{catalog + "?status=published&price[gte]=1", wide} {
		b.Visit(path)
		b.settled()
		for _, screen := range []struct {
			opts tabOptions
			want int
		}{{tabOptions{Width: 1440, Height: 900}, 20}, {tabOptions{Phone: true, Width: 390, Height: 844}, 8}} {
			b.Screen(screen.opts)
			if got := b.visibleRows(); got < screen.want {
				t.Errorf("%d×%d: %s shows %d rows, want %d", screen.opts.Width, screen.opts.Height, path, got,
					screen.want)
			}
		}
	}
}

// TestRowHeight checks that matches of a search in text and in lists do not make rows higher.
func TestRowHeight(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	for _, query := range []string{"", "?search=heirloom", "?search=rose"} {
		b.Visit(catalog + query)
		b.settled()
		if got := eval[float64](b,
			`Math.max(...[...document.querySelectorAll("#grid tbody tr")].map((tr) => tr.getBoundingClientRect().height))`); got > 31 {
			t.Errorf("%s: a row is %v pixels high", query, got)
		}
	}
}

// TestLayoutShift checks that nothing but the rows moves when filters are added and removed.
func TestLayoutShift(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Width: 1440})
	b.Visit(catalog)
	b.settled()
	measure := func() map[string][]float64 {
		b.Helper()
		return eval[map[string][]float64](b,
			`Object.fromEntries([".bar1", ".bar2", "#search", "#grid", "#grid thead", "#grid tbody tr", "#main", ".call",
			"#columns", ".tabs"].map((selector) => {
				const r = document.querySelector(selector).getBoundingClientRect();
				const inGrid = selector.startsWith("#grid "), left = r.left + (inGrid ? document.getElementById("grid").scrollLeft : 0);
				return [selector, selector === "#columns" ? [r.top, r.bottom] : inGrid ? [r.top, r.bottom, left] : [r.top, r.bottom, left, r.right]];
			}))`)
	}
	before := measure()
	check := func(what string) {
		b.Helper()
		if diff := cmp.Diff(before, measure()); diff != "" {
			b.Errorf("%s moves the page (-before +after):\n%s", what, diff)
		}
	}
	b.next(func() { b.Fill("#search", "a") })
	b.Until(`location.search === "?search=a*"`)
	b.settled()
	check("a search")
	b.follow("#grid .proportion[data-value=herb]")
	check("the first filter")
	b.follow("#grid .proportion[data-value=published]")
	check("the second filter")
	b.follow(".clear")
	check("removing the filters")
}

// TestCatalogue_layoutShift checks that neither the font nor the pictures of the catalogue move
// what is shown when they arrive.
func TestCatalogue_layoutShift(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Phone: true, Width: 390, Height: 844})
	b.Visit("/")
	b.settled()
	eval[bool](b, "document.fonts.ready.then(() => true)")
	shift := eval[float64](b, `new Promise((resolve) => {
		let sum = 0;
		new PerformanceObserver((list) => { for (const e of list.getEntries()) sum += e.value; }).observe({ type: "layout-shift", buffered: true });
		requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
	})`)
	if shift > 0.02 {
		t.Errorf("the layout shifts by %g", shift)
	}
	heights := eval[[]float64](b, `(async () => {
		const images = [...document.querySelectorAll(".spark img")], height = (i) => i.getBoundingClientRect().height;
		const before = images.map((i) => { const src = i.src; i.removeAttribute("src"); const h = height(i); i.loading = "eager"; i.src = src; return h; });
		await Promise.all(images.map((i) => i.decode().catch(() => {})));
		return images.map((i, k) => Math.abs(height(i) - before[k]));
	})()`)
	for _, moved := range heights {
		if moved > 1 {
			t.Errorf("a picture moves the rows below it by %g pixels", moved)
		}
	}
	if len(heights) == 0 {
		t.Error("the catalogue has no pictures")
	}
}

// TestScreens checks every view of a dataset with a thousand columns on four screens: the page does
// not scroll horizontally, the bars keep their height, and nothing in them overlaps.
func TestScreens(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Fails: []int{400}})
	for _, path := range []string{
		wide, wide + "?kind_9=red&amount_8[gte]=10&note_11[prefix]=word&search=word1*&sort=kind_9", wide + "?_record=2",
		wide + "?sort=nothing",
		wide + "/map", wide + "/about", wide + "/api", wide + "/versions", "/",
	} {
		if status := b.Visit(path); status == 404 {
			t.Errorf("%s is missing", path)
			continue
		}
		b.settled()
		widths := []int64{390, 1440}
		if testseed.Soak() {
			widths = []int64{390, 820, 1440, 2560}
		}
		for _, width := range widths {
			b.Screen(tabOptions{Width: width, Height: 900, Phone: width == 390})
			wrong := eval[[]string](b, `(() => {
				const wrong = [], name = (e) => e.outerHTML.slice(0, 100);
				if (Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) > innerWidth + 1) {
					wrong.push("the page is " + document.documentElement.scrollWidth + " wide");
				}
				const limits = { ".bar1": innerWidth > 760 ? 48 : 96, ".bar2": innerWidth > 1100 ? 44 : innerWidth > 760 ? 88 : 48, ".call": 34 };
				for (const [selector, limit] of Object.entries(limits)) {
					const bar = document.querySelector(selector);
					if (!bar) continue;
					const box = bar.getBoundingClientRect();
					if (box.height > limit + .5) wrong.push(selector + " is " + box.height + " high");
					const parts = [...bar.children].filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.matches(".vh, .sheet:target"))
						.map((e) => [e, e.getBoundingClientRect()]).filter(([, r]) => r.width && r.height);
					for (const [e, r] of parts) {
						if (r.top < box.top - .5 || r.bottom > box.bottom + .5) wrong.push(selector + " does not contain " + name(e));
						if (r.right > innerWidth + .5) wrong.push(selector + " cuts off " + name(e));
					}
					for (const [i, [e, r]] of parts.entries()) for (const [other, o] of parts.slice(i + 1)) {
						if (r.left < o.right - 1 && o.left < r.right - 1 && r.top < o.bottom - 1 && o.top < r.bottom - 1) wrong.push(name(e) + " overlaps " + name(other));
					}
				}
				for (const th of document.querySelectorAll("#grid th[data-field]")) {
					if (th.scrollWidth > th.clientWidth + 1 && !th.querySelector("[open]")) wrong.push("too wide: " + name(th));
				}
				return wrong.slice(0, 5);
			})()`)
			if len(wrong) > 0 {
				t.Errorf("%s at %d: %s", path, width, strings.Join(wrong, "\n"))
			}
		}
	}
}

// TestThousandColumns uses a dataset with a thousand columns: columns are found by name,
// distributions are loaded for the columns in view only, and a match of the search is brought into
// view.
func TestThousandColumns(t *testing.T) {
	onlyInSoakRuns(t)
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(wide)
	b.settled()
	requested := func() int { return len(b.Requested("_columns=")) }
	if n := requested(); n != 1 {
		t.Errorf("the distributions take %d requests", n)
	}
	b.Click("#columns summary")
	b.Fill("#columns [name=_find]", "skewed_991")
	b.Until(`document.querySelector("#column-list input[value=skewed_991]")`)
	b.follow("#column-list input[value=skewed_991]")
	if b.Count("#grid th[data-field=skewed_991]") != 1 {
		t.Errorf("the column is not shown: %v", b.query())
	}
	b.Press("\x1b")
	b.Visit(wide)
	b.settled()
	b.Click("#add-filter summary")
	b.Fill("#add-filter [name=_find]", "kind_985")
	b.Until(`document.querySelector("#filter-list button[value=kind_985]")`)
	b.follow("#filter-list button[value=kind_985]")
	b.follow(`details[data-facet="kind_985"] input[value=red]`)
	if got := b.query().Get("kind_985"); got != "red" {
		t.Errorf("the filter leads to %v", b.query())
	}
	b.Visit(wide)
	b.settled()
	b.next(func() { b.Fill("#search", "word96 ") })
	b.Until(`location.search.includes("word96")`)
	b.settled()
	if !eval[bool](b, `(() => { const box = document.getElementById("grid").getBoundingClientRect();
		return [...document.querySelectorAll("#grid mark")].map((m) => m.getBoundingClientRect()).some((r) => r.left >= box.left && r.right <= box.right); })()`) {
		t.Errorf("no match of %s is in view", fmt.Sprint(b.query()))
	}
}
