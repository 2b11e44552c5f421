package webtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"

	"herbarium/internal/testseed"
)

// sentence returns the sentence of a chart, without the clauses that offer additions.
func (b *tab) sentence() string {
	b.Helper()
	return eval[string](b, `document.querySelector(".answer h2").textContent`)
}

// choose selects a choice of a control of the sentence.
func (b *tab) choose(control, choice string) {
	b.Helper()
	b.next(func() { b.pick(control, choice) })
	b.Until(`document.querySelector("#set-` + control +
		`")?.id === document.activeElement.id || !document.querySelector("#set-` + control + `")`)
}

// pick selects a choice of a control as a reader does who has focused it.
func (b *tab) pick(control, choice string) {
	b.Helper()
	found := eval[bool](b, `(() => {
		const select = document.querySelector("#set-`+control+`"), option = [...select.options].find((o) => o.label === `+quote(choice)+`);
		if (!option) return false;
		select.focus();
		select.value = option.value;
		select.dispatchEvent(new Event("change", { bubbles: true }));
		return true;
	})()`)
	if !found {
		b.Fatalf("the control %s has no choice %q", control, choice)
	}
}

// TestChart changes the chart with its sentence, the search and a filter. A click on a bar filters
// the chart by its group, and the table has the same rows.
func TestChart(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(catalog + "?status=published")
	b.settled()
	b.Click(b.Pick(".tabs a", "Chart"))
	b.Until(`location.pathname.endsWith("/chart")`)
	b.settled()
	if got := b.sentence(); !strings.HasPrefix(got, "Rows by date per ") {
		t.Errorf("the first chart is %q", got)
	}
	b.choose("interval", "year")
	b.wantQuery("_by=date%3Ayear&status=published")
	b.choose("measure", "sum")
	b.choose("field", "price")
	b.choose("split", "category")
	b.choose("series", "3 largest")
	if got := b.sentence(); got != "The sum of price by date per year, split by category, the 3 largest as lines" {
		t.Errorf("the sentence is %q", got)
	}
	if title := eval[string](b, "document.title"); !strings.HasPrefix(title, b.sentence()) {
		t.Errorf("the title is %q", title)
	}
	if n := b.Count(".plot.wide .curve"); n != 3 {
		t.Errorf("%d lines", n)
	}
	b.choose("by", "category")
	b.choose("split", "No split")
	b.choose("measure", "number of rows")
	b.wantQuery("_by=category&status=published")
	before := b.Texts(".groups tbody tr")
	b.next(func() { b.Fill("#search", "garden") })
	b.Until(`new URLSearchParams(location.search).get("search") === "garden*"`)
	b.settled()
	if after := b.Texts(".groups tbody tr"); len(after) == 0 || strings.Join(after, " ") == strings.Join(before, " ") {
		t.Errorf("typing does not change the chart: %v", after)
	}
	// such as "herb: 12"
	want := eval[string](b, `document.querySelector(".plot.wide .hits a").getAttribute("aria-label")`)
	b.follow(".plot.wide .hits a")
	label, count, _ := strings.Cut(want, ": ")
	b.wantQuery("_by=category&category=" + label + "&search=garden%2A&status=published")
	if got := b.Texts(".groups tbody th"); len(got) != 1 || got[0] != label {
		t.Errorf("a click on %s shows %v", label, got)
	}
	b.Click(b.Pick(".tabs a", "Table"))
	b.Until(`!location.pathname.endsWith("/chart")`)
	b.settled()
	if l := b.agree(); fmt.Sprint(l.Meta.Total) != count || b.query().Get("category") != label ||
		b.query().Get("search") != "garden*" {
		t.Errorf("%q leads to %d rows: %v", want, l.Meta.Total, b.query())
	}
}

// TestChart_keyboard moves through the parts of a chart, which show their exact values, and filters
// by one.
func TestChart_keyboard(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(catalog + "/chart?_by=date:year&_by=category&_measure=sum:price")
	b.settled()
	b.Until(`document.querySelector(".plot.wide .hits a[tabindex='0']")`)
	if n := b.Count(".plot.wide .hits a[tabindex='0']"); n != 1 {
		t.Errorf("the chart has %d tab stops", n)
	}
	eval[bool](b, `(document.querySelector(".answer").focus(), true)`)
	for range 20 { // the sentence, then the chart
		b.Press(kb.Tab)
		if eval[bool](b, `document.activeElement.closest(".hits") !== null`) {
			break
		}
	}
	first := eval[string](b, `document.activeElement.getAttribute("aria-label")`)
	b.Until(`document.querySelector(".tip")`)
	b.Press(kb.ArrowRight)
	second := eval[string](b, `document.activeElement.getAttribute("aria-label")`)
	if first == second || !strings.HasPrefix(second, "2017\n") {
		t.Errorf("the arrow leads from %q to %q", first, second)
	}
	if got := strings.Join(b.tip(), "\n"); got != second+"\nEnter: show only these rows" {
		t.Errorf("the tip is %q, the label %q", got, second)
	}
	b.next(func() { b.Press(kb.Enter) })
	b.wantQuery("_by=date%3Amonth&_by=category&_measure=sum%3Aprice&date%5Bgte%5D=2017-01-01&date%5Blt%5D=2018-01-01")
	if n := b.Count(".tip"); n != 0 {
		t.Error("the tip stays")
	}
}

// tip returns the texts of the tip: the group, the series with their values, and what a click does.
func (b *tab) tip() []string {
	b.Helper()
	return eval[[]string](b,
		`[...document.querySelectorAll(".tip :is(caption, tr, p)")].map((e) => [...e.cells ?? [e]].map((c) => c.textContent).join(" "))`)
}

// hover moves the pointer.
func (b *tab) hover(at ...float64) {
	b.Helper()
	b.Mouse(input.DispatchMouseEventTypeMouseMoved, at, input.MouseButtonNone)
}

// TestChart_series adds and removes series in the table beside the chart, and highlights them there
// and in the chart.
func TestChart_series(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(catalog + "/chart?_by=date:year&_by=category&_measure=sum:price")
	b.settled()
	names := b.Texts(".groups tbody th")
	wantLines := func(want ...string) {
		t.Helper()
		if got := b.Texts(".plot.wide .name"); strings.Join(slices.Sorted(slices.Values(got)), ",") != strings.Join(
			slices.Sorted(slices.Values(want)), ",") {
			t.Errorf("the chart shows %v, want %v", got, want)
		}
		if got := b.Texts(".groups .series[aria-current]"); strings.Join(got, ",") != strings.Join(want, ",") {
			t.Errorf("the table says that the chart shows %v, want %v", got, want)
		}
	}
	colorOf := func(name string) string {
		return eval[string](b, `getComputedStyle([...document.querySelectorAll(".plot.wide .name")].find((e) => e.textContent === `+quote(name)+`)).fill`)
	}
	before := colorOf(names[1])
	b.follow(".groups tbody tr:nth-child(1)") // the whole row is a link
	wantLines(names[1:5]...)
	if after := colorOf(names[1]); after != before {
		t.Errorf("%s changes its color from %s to %s", names[1], before, after)
	}
	b.follow(".groups tbody tr:nth-child(7)")
	wantLines(names[1], names[2], names[3], names[4], names[6])
	if got := b.query()["_series"]; len(got) != 5 || got[4] != names[6] {
		t.Errorf("the address names %v", got)
	}
	if got := eval[string](b, `document.activeElement.textContent`); got != names[6] {
		t.Errorf("the focus is on %q", got)
	}
	b.next(func() { eval[bool](b, `(history.back(), true)`) })
	wantLines(names[1:5]...)

	b.hover(b.Center(".groups tbody tr:nth-child(3)")...)
	if got := b.Texts(".plot.wide .hot"); eval[int](b,
		`document.querySelectorAll(".plot.wide .curve.hot").length`) != 1 || len(got) != 2 || got[1] != names[2] {
		t.Errorf("a row highlights %v", got)
	}
	y := eval[float64](b, `(() => { const c = document.querySelector(".plot.wide .curve"); return c.getPointAtLength(c.getTotalLength()).matrixTransform(c.getScreenCTM()).y; })()`)
	x := eval[float64](b, `document.querySelector(".plot.wide .hits > :last-child").getBoundingClientRect().left + 4`)
	b.hover(x, y)
	b.Until(`document.querySelector(".tip tr")`)
	if got := b.Texts(".groups tr.hot th"); len(got) != 1 || got[0] != names[1] {
		t.Errorf("the line of %s highlights %v", names[1], got)
	}
	label := eval[string](b, `document.querySelector(".plot.wide .hits > :last-child").getAttribute("aria-label")`)
	if got := strings.Join(b.tip(), "\n"); got != label+"\nClick: show only these rows" {
		t.Errorf("the tip is %q, want %q", got, label)
	}
	wrong := eval[[]string](b, `[...document.querySelectorAll(".tip tr")].filter((tr, i, all) => {
		const name = [...document.querySelectorAll(".plot.wide .name")].find((e) => e.textContent === tr.cells[0].textContent);
		return getComputedStyle(tr.cells[0]).color !== getComputedStyle(name).fill || tr.cells[1].getBoundingClientRect().right !== all[0].cells[1].getBoundingClientRect().right;
	}).map((tr) => tr.textContent)`)
	if len(wrong) > 0 {
		t.Errorf("other colors or not aligned: %v", wrong)
	}
	known := eval[int](b, `[...document.querySelectorAll(".tip tr")].filter((tr) => tr.cells[1].textContent !== "–").length`)
	if n := b.Count(".plot.wide .mark"); n != known || n == 0 {
		t.Errorf("%d points are marked, %d series have a value", n, known)
	}
	b.hover(5, 5)
	b.Until(`!document.querySelector(".tip, .hot, .mark")`)
}

// TestChart_bars checks the tip of a part of a bar: it has the values of all series of the group.
func TestChart_bars(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(catalog + "/chart?_by=category&_by=status")
	b.settled()
	b.hover(b.Center(".plot.wide .hits > :nth-child(2)")...)
	b.Until(`document.querySelector(".tip tr")`)
	tip, series := b.tip(), b.Texts(".groups .series[aria-current]")
	if len(tip) != len(series)+2 || !strings.HasPrefix(tip[2], series[1]+" ") ||
		b.Text(".groups tr.hot th") != series[1] || b.Text(".tip tr.hot th") != series[1] {
		t.Errorf("the tip is %v; series %v", tip, series)
	}
}

// TestChart_find names a column of a table with many by a part of its name, because its control is
// a box.
func TestChart_find(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit("/datasets/wide/thousand/chart?_measure=count")
	b.settled()
	b.Click("#set-by")
	b.Press("777")
	b.next(func() { b.Press(kb.Enter) })
	name, _, _ := strings.Cut(b.query().Get("_by"), ":")
	if value := eval[string](b, `document.querySelector("#set-by").value`); !strings.Contains(name, "777") ||
		value != name {
		t.Errorf("Enter groups by %q, the box has %q", name, value)
	}
	b.Press(kb.Backspace) // of the name, which is selected
	b.next(func() { b.Press(kb.Enter) })
	b.wantQuery("_measure=count")
}

// TestScatter moves through the points of a scatter plot, which show their exact values, and
// follows one to its row.
func TestScatter(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(catalog + "/chart?category=orchid&_by=id&_by=price&_kind=scatter")
	b.settled()
	if got := b.Texts(".plot.wide .label"); strings.Join(got, " ") != "price id" {
		t.Errorf("the axes are called %q", got)
	}
	b.Until(`document.querySelector(".plot.wide .hits a[tabindex='0']")`)
	eval[bool](b, `(document.querySelector(".plot.wide .hits a[tabindex='0']").focus(), true)`)
	b.Press(kb.ArrowRight)
	b.Until(`document.querySelector(".tip")`)
	label := eval[string](b, `document.activeElement.getAttribute("aria-label")`)
	if got := b.tip(); len(got) != 3 || got[0]+": "+got[1] != label || !strings.HasSuffix(label, ": 1 row") {
		t.Errorf("the tip is %q, the label %q", got, label)
	}
	href := eval[string](b, `document.activeElement.getAttribute("href")`)
	b.Visit(href)
	b.settled()
	price := b.column("price")
	if l := b.agree(); l.Meta.Total != 1 || !strings.Contains(label, "price "+price[0]) {
		t.Errorf("%q leads to %d rows with the prices %q", label, l.Meta.Total, price)
	}
}

// TestChart_png checks that the chart is saved as a picture with its title as the name.
func TestChart_png(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(catalog + "/chart?_by=category")
	b.settled()
	eval[bool](b, `(URL.createObjectURL = (blob) => (window.blob = blob, "#")) && (HTMLAnchorElement.prototype.click = function () { window.saved = this; }) && true`)
	b.Click("[data-png]")
	b.Until(`window.saved`)
	got := eval[string](b, `createImageBitmap(window.blob).then((i) => [window.saved.download, window.blob.type, i.width].join())`)
	if got != "Rows by category.png,image/png,2080" {
		t.Errorf("the saved file is %s", got)
	}
}

// TestChart_noScript changes a chart without a script.
func TestChart_noScript(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{NoScript: true})
	b.Visit(catalog + "/chart?_by=category")
	b.pick("by", "status")
	b.pick("top", "smallest first")
	b.Click(".sentence button")
	b.Until(`location.search === "?_by=status&_sort=count" && document.querySelectorAll(".groups tbody th").length`)
	if rows := b.Texts(".groups tbody th"); len(rows) != 3 {
		t.Errorf("the values are %v", rows)
	}
	b.Visit(catalog + "/chart?_by=date:year&_by=category")
	removed := b.Text(".groups tbody tr:first-child th")
	b.Click(".groups tr:first-child .series")
	b.Until(`new URLSearchParams(location.search).getAll("_series").length === 4 && document.querySelectorAll(".plot.wide .curve").length === 4 && document.readyState === "complete"`)
	b.Click(".groups tr:first-child .series")
	b.Until(`location.search === "?_by=date%3Ayear&_by=category" && document.querySelectorAll(".plot.wide .curve").length === 5 && document.readyState === "complete"`)
	if got := b.Text(".groups tbody tr:first-child th"); got != removed {
		t.Errorf("the first series is %q, was %q", got, removed)
	}
	b.Click(".plot.wide .hits a")
	b.Until(`location.pathname.endsWith("/chart") && location.search.startsWith("?date%5Bgte%5D=2016-01-01&date%5Blt%5D=2017-01-01&_by=date%3Amonth&_by=category")`)
	b.Click(".suggestions li:first-child a")
	b.Until(`location.search.endsWith("_by=date%3Aquarter") && document.querySelectorAll(".suggestions img").length === 5`)
	b.Visit(catalog + "/chart?_by=id:50&_measure=mean:price&category=tree")
	b.pick("kind", "a scatter plot")
	b.Click(".sentence button")
	b.Until(`location.search === "?category=tree&_by=id&_by=price&_kind=scatter" && document.querySelectorAll(".plot.wide .dot").length`)
	b.Visit(catalog + "/chart?_measure=mean:price")
	if got := b.Text(".big"); !strings.HasPrefix(got, "26.8") {
		t.Errorf("the mean is %q", got)
	}
	if b.Count(".suggestions img") != 5 || b.Count("[data-png]:not([hidden])") != 0 {
		t.Error("the page offers what needs a script, or no suggestions")
	}
}

// TestChart_screens checks that charts fit on all screens, also at a zoom of 200 %, which halves
// the width: nothing overflows, and texts have 11 to 14 pixels and do not overlap.
func TestChart_screens(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	size := func(width, height int64) tabOptions { return tabOptions{Width: width, Height: height} }
	screens := []tabOptions{{Phone: true}, size(512, 700), size(800, 600), size(1920, 1080)}
	if testseed.Soak() {
		screens = append(screens, tabOptions{}, size(360, 700), size(640, 700), size(960, 700), size(1280, 800),
			size(2560, 1440))
	}
	for _, query := range []string{
		"", "?_by=category", "?_by=date:month&_by=category&_measure=sum:price", "?_by=category&_by=status",
		"?_by=author&_by=category&_kind=grouped",
		"?_by=date:year&_by=category&_kind=heat", "?_by=price:10", "?_measure=mean:price",
		"?_by=date:year&_by=category&_kind=table",
		"?_by=id&_by=price&_kind=scatter",
	} {
		b.Visit(catalog + "/chart" + query)
		b.settled()
		for _, opts := range screens {
			b.Screen(opts)
			wrong := eval[[]string](b, `(() => {
				const wrong = [];
				if (document.documentElement.scrollWidth > innerWidth) wrong.push("the page is " + document.documentElement.scrollWidth + " wide");
				const plot = [...document.querySelectorAll(".plot")].filter((p) => p.getClientRects().length);
				if (plot.length > 1) wrong.push(plot.length + " charts are visible");
				if (document.querySelector(".plot") && plot.length === 0) wrong.push("no chart is visible");
				for (const t of plot.flatMap((p) => [...p.querySelectorAll("text")])) {
					const size = parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a;
					if (size < 11 || size > 14) wrong.push(t.textContent + " has " + size + " px");
				}
				const boxes = plot.flatMap((p) => [...p.querySelectorAll("text")]).map((t) => [t.textContent, t.getBoundingClientRect()]);
				const area = document.querySelector(".answer").getBoundingClientRect();
				boxes.forEach(([text, r], i) => {
					if (r.left < area.left - 1 || r.right > area.right + 1) wrong.push(text + " is clipped");
					for (const [other, o] of boxes.slice(0, i))
						if (r.left < o.right - 1 && o.left < r.right - 1 && r.top < o.bottom - 5 && o.top < r.bottom - 5) wrong.push(text + " overlaps " + other);
				});
				return wrong;
			})()`)
			if len(wrong) > 0 {
				t.Errorf("%+v %s: %v", opts, query, wrong[:min(len(wrong), 5)])
			}
		}
	}
}

// TestChart_filtered checks that suggestions show the rows of the chart, that the legend of a heat
// map has the colors of its cells, and that the table of all values has pages with all of them.
func TestChart_filtered(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(catalog + "/chart?_by=category&_by=status&_kind=heat&search=garden&status=published")
	b.settled()
	b.Until(`[...document.querySelectorAll(".suggestions img")].every((i) => i.complete && i.naturalWidth)`)
	rows := eval[[]bool](b, `[...document.querySelectorAll(".suggestions a")].flatMap((a) => [a.href, a.querySelector("img").src])
		.map((url) => new URL(url).searchParams).map((q) => q.get("search") === "garden" && q.get("status") === "published")`)
	if len(rows) == 0 || slices.Contains(rows, false) {
		t.Errorf("links and images of suggestions have the filters: %v", rows)
	}
	unknown := eval[[]string](b, `(() => {
		const color = (s) => getComputedStyle(s).fill + " " + getComputedStyle(s).opacity;
		const cells = [...document.querySelectorAll(".plot.wide .cell")];
		const legend = cells.filter((s) => s.getBBox().y > Math.max(...cells.map((c) => c.getBBox().y)) - 1).map(color);
		return cells.map(color).filter((c) => !legend.includes(c));
	})()`)
	if len(unknown) > 0 {
		t.Errorf("cells have colors that are not in the legend: %q", unknown)
	}

	b.Visit(catalog + "/chart?_by=title&_top=10")
	b.settled()
	b.follow(b.Pick(".files a", "All values"))
	first := b.Texts(".pivot tbody th")
	b.follow(b.Pick(".pages a", "Next"))
	if second := b.Texts(".pivot tbody th"); len(first) != 100 || len(second) != 100 || first[0] == second[0] ||
		b.query().Get("page") != "2" {
		t.Errorf("the pages of the table have %d and %d rows; %v", len(first), len(second), b.query())
	}
}
