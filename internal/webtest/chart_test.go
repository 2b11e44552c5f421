package webtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// sentence returns the words of the sentence of a chart, without those that offer additions.
func (b *tab) sentence() string {
	b.Helper()
	return eval[string](b, `document.querySelector(".answer h2").textContent`)
}

// choose selects an item of a menu of the sentence.
func (b *tab) choose(menu, item string) {
	b.Helper()
	b.Click("#word-" + menu + " > summary")
	b.follow(b.Pick("#word-"+menu+" li a", item))
}

// TestChart changes the chart with the menus, the search and a filter, and follows a bar to its
// rows.
func TestChart(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(catalog + "?status=published")
	b.settled()
	b.Click(b.Pick(".tabs a", "Chart"))
	b.Until(`location.pathname.endsWith("/chart")`)
	b.settled()
	if got := b.sentence(); !strings.HasPrefix(got, "The mean of price by date per ") {
		t.Errorf("the first chart is %q", got)
	}
	b.choose("interval", "year")
	b.wantQuery("_by=date%3Ayear&_measure=mean%3Aprice&status=published")
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
	want := eval[string](b, `document.querySelector(".plot.wide .hits a").getAttribute("aria-label")`) // such as "herb: 12"
	b.Click(".plot.wide .hits a")
	b.Until(`!location.pathname.endsWith("/chart")`)
	b.settled()
	label, count, _ := strings.Cut(want, ": ")
	if l := b.agree(); fmt.Sprint(l.Meta.Total) != count || b.query().Get("category") != label || b.query().Get("search") != "garden*" {
		t.Errorf("%q leads to %d rows: %v", want, l.Meta.Total, b.query())
	}
}

// TestChart_keyboard moves through the parts of a chart, which show their exact values, and opens
// the rows of one.
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
	for range 20 { // menus, then the chart
		if b.Press(kb.Tab); eval[bool](b, `document.activeElement.closest(".hits") !== null`) {
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
	if got := eval[string](b, `document.querySelector(".tip").textContent`); got != second {
		t.Errorf("the tip is %q, the label %q", got, second)
	}
	b.Press(kb.Enter)
	b.Until(`!location.pathname.endsWith("/chart")`)
	b.settled()
	if b.agree(); b.query().Get("date[gte]") != "2017-01-01" || b.query().Get("date[lt]") != "2018-01-01" {
		t.Errorf("Enter leads to %v", b.query())
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
	b.Click("#word-by > summary")
	b.Click(b.Pick("#word-by li a", "status"))
	b.Until(`location.search === "?_by=status" && document.querySelectorAll(".groups tbody th").length`)
	if rows := b.Texts(".groups tbody th"); len(rows) != 3 {
		t.Errorf("the values are %v", rows)
	}
	b.Click(".suggestions li:first-child a")
	b.Until(`location.search.includes("mean%3Aprice") && document.querySelectorAll(".suggestions img").length === 5`)
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
	for _, query := range []string{
		"", "?_by=category", "?_by=date:month&_by=category&_measure=sum:price", "?_by=category&_by=status", "?_by=author&_by=category&_kind=grouped",
		"?_by=date:year&_by=category&_kind=heat", "?_by=price:10", "?_measure=mean:price", "?_by=date:year&_by=category&_kind=table",
	} {
		b.Visit(catalog + "/chart" + query)
		b.settled()
		for _, opts := range []tabOptions{
			{}, {Phone: true}, {Width: 360, Height: 700}, {Width: 512, Height: 700}, {Width: 640, Height: 700}, {Width: 800, Height: 600},
			{Width: 960, Height: 700}, {Width: 1280, Height: 800}, {Width: 1920, Height: 1080}, {Width: 2560, Height: 1440},
		} {
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
