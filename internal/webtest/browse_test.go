package webtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
)

// eachWay runs a test with and without scripts.
func eachWay(t *testing.T, test func(b *tab, script bool)) {
	t.Helper()
	t.Parallel()
	for _, script := range []bool{true, false} {
		t.Run(fmt.Sprintf("script=%v", script), func(t *testing.T) {
			t.Parallel()
			test(open(t, newSite(t, nil), tabOptions{noScript: !script}), script)
		})
	}
}

// listing is a response of the API.
type listing struct {
	Data []map[string]string
	Meta struct {
		Total   int
		Page    int
		PerPage int `json:"per_page"`
	}
}

func get(t *testing.T, address string) (l listing) {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil {
		err = json.Unmarshal(body, &l)
	}
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v %s", address, res.StatusCode, err, body)
	}
	return l
}

// agree compares the page with the response to the API call that it shows, and returns the response.
func (b *tab) agree() listing {
	b.Helper()
	address := strings.TrimPrefix(b.text(".call .code.one code"), "GET ")
	l := get(b.T, address)
	var ids []string
	for _, r := range l.Data {
		ids = append(ids, r["id"])
	}
	if diff := cmp.Diff(ids, b.column("id")); diff != "" {
		b.Errorf("%s and the page differ (-API +page):\n%s", address, diff)
	}
	if want := fmt.Sprintf("%d row", l.Meta.Total); !strings.HasPrefix(b.text(".found"), want) {
		b.Errorf("the page says %q, the API %d", b.text(".found"), l.Meta.Total)
	}
	return l
}

// wantQuery checks the query string of the URL.
func (b *tab) wantQuery(want string) {
	b.Helper()
	if got := b.query().Encode(); got != want {
		b.Errorf("the address has the query %q, want %q", got, want)
	}
}

func TestSearch(t *testing.T) {
	eachWay(t, func(b *tab, script bool) {
		b.visit(catalog)
		b.settled()
		if script {
			eval[bool](b, "window.same = true")
			b.next(func() { b.fill("#search", "rose") })
			b.until(`location.search === "?search=rose*"`)
			b.settled()
			if !eval[bool](b, "window.same") || eval[string](b, "document.activeElement.id") != "search" {
				b.Error("typing has loaded another page, or taken the search box away")
			}
			if said := b.text("#status"); !strings.HasPrefix(said, b.text(".found strong")) {
				b.Errorf("those who listen are told %q", said)
			}
		} else {
			b.next(func() { b.fill("#search", "rose"+kb.Enter) })
			b.wantQuery("search=rose")
		}
		if l := b.agree(); l.Meta.Total == 0 || l.Meta.Total > 100 || !strings.Contains(b.text(".found"), "best matches first") {
			b.Errorf("found %d: %s", l.Meta.Total, b.text(".found"))
		}
		if got := eval[string](b, "document.getElementById('search').value"); got != "rose" && script {
			b.Errorf("the search box has %q", got)
		}
	})
}

func TestSort(t *testing.T) {
	eachWay(t, func(b *tab, _ bool) {
		b.visit(catalog)
		b.settled()
		for _, want := range []string{"ascending", "descending"} {
			b.follow(b.pick(".results thead th a", "price"))
			if got := b.texts("th[aria-sort=" + want + "]"); !slices.Equal(got, []string{"price"}) {
				b.Errorf("sorted %s: %q", want, got)
			}
			b.agree()
		}
		b.wantQuery("order=desc&sort=price")
	})
}

func TestFilter(t *testing.T) {
	eachWay(t, func(b *tab, script bool) {
		b.visit(catalog)
		b.settled()
		values := func(field string) string {
			selector := fmt.Sprintf("details[data-facet=%q] ", field)
			if !script && b.count(selector+"[data-loaded]") == 0 {
				b.follow(selector + "button.nojs")
			}
			return selector
		}
		b.follow(b.pick(values("category")+".values a", "herb"))
		if l := b.agree(); l.Meta.Total == 0 || slices.Compact(b.column("category"))[0] != "herb" || b.query().Get("category") != "herb" {
			b.Errorf("filtered by herb: %v", b.query())
		}
		herbs := b.text(".found strong")
		// The counts of a field ignore its own filter.
		if current := b.texts(values("category") + ".values a[aria-current]"); len(current) != 1 || current[0] != "herb"+herbs {
			b.Errorf("chosen are %q of %s", current, herbs)
		}
		b.follow(b.pick(values("category")+".values a", "tree"))
		if got := b.texts(".browse > .chips .chip"); len(got) != 2 {
			b.Errorf("the chips are %q", got)
		}
		b.agree()
		b.follow(b.pick(".chips .chip", "herb"))
		if l := b.agree(); l.Meta.Total == 0 || slices.Contains(b.column("category"), "herb") {
			b.Errorf("after herb was removed: %v", b.query())
		}
		b.follow(b.pick(".results td.tags a", "evergreen"))
		if l := b.agree(); l.Meta.Total == 0 || b.query().Get("tags") != "evergreen" {
			b.Errorf("a tag of a record leads to %v", b.query())
		}
		b.follow(".chips .clear")
		b.agree()
		if len(b.query().Encode()) > 40 || b.query().Has("tags") || b.query().Has("category") {
			b.Errorf("all cleared, and there is still %v", b.query())
		}
	})
}

func TestRange(t *testing.T) {
	eachWay(t, func(b *tab, script bool) {
		b.visit(catalog + "?_facet=price")
		b.settled()
		price := `details[data-facet="price"] `
		if bars := b.count(price + ".histogram a"); bars < 5 {
			b.Fatalf("the histogram has %d bars", bars)
		}
		bar := eval[string](b, `[...document.querySelectorAll('details[data-facet="price"] .histogram a')]
			.find((a) => !/ 0 rows/.test(a.title)).title`)
		b.follow(fmt.Sprintf("%s.histogram a[title=%q]", price, bar))
		if l := b.agree(); !strings.HasSuffix(strings.TrimSuffix(bar, "s"), fmt.Sprintf(": %d row", l.Meta.Total)) {
			b.Errorf("the bar %q leads to %d records", bar, l.Meta.Total)
		}
		b.visit(catalog)
		b.settled()
		eval[bool](b, `document.querySelector('details[data-facet="price"]').open = true`)
		b.settled()
		for _, in := range [][2]string{{"price[gte]", "10"}, {"price[lte]", "20"}} {
			type_ := func() { b.fill(fmt.Sprintf("[name=%q]", in[0]), in[1]) }
			if script {
				b.next(type_)
				b.until(fmt.Sprintf(`new URLSearchParams(location.search).get(%q) === %q`, in[0], in[1]))
				b.settled()
			} else {
				type_()
			}
		}
		if !script {
			b.follow("#filters p > button.nojs")
		}
		l := b.agree()
		if l.Meta.Total == 0 || b.query().Get("price[gte]") != "10" || b.query().Get("price[lte]") != "20" {
			b.Errorf("%d records for %v", l.Meta.Total, b.query())
		}
		if chips := b.texts(".browse > .chips .chip"); len(chips) == 0 {
			b.Error("there is no chip to remove the range with")
		}
		b.follow(".browse > .chips .chip")
		b.agree()
	})
}

func TestPaging(t *testing.T) {
	eachWay(t, func(b *tab, _ bool) {
		b.visit(catalog + "?sort=title")
		b.settled()
		page := func(want int) {
			t := b.T
			t.Helper()
			current := b.text(".pager [aria-current]")
			if l := b.agree(); l.Meta.Page != want || strings.TrimPrefix(current, "Page ") != fmt.Sprint(want) {
				t.Errorf("on page %d (%q), want %d", l.Meta.Page, current, want)
			}
		}
		page(1)
		b.follow(".pager a[rel=next]")
		page(2)
		b.follow(".pager a[rel=next]")
		page(3)
		b.follow(".pager a[rel=prev]")
		page(2)
		b.next(func() { b.fill(".jump input[name=page]", "20"+kb.Enter) })
		page(20)
		b.follow(b.pick(".pager a", "21"))
		page(21)
		b.follow(b.pick(".sizes a", "50"))
		if l := b.agree(); l.Meta.PerPage != 50 || b.query().Get("per_page") != "50" {
			b.Errorf("%d records on a page, %v", l.Meta.PerPage, b.query())
		}
	})
}

func TestColumns(t *testing.T) {
	eachWay(t, func(b *tab, script bool) {
		b.visit(catalog + "?sort=price")
		b.settled()
		b.click(b.pick(".menu summary", "Columns"))
		for _, c := range []string{"description", "url", "image", "author"} {
			box := fmt.Sprintf("input[type=checkbox][value=%q]", c)
			if script {
				b.follow(box)
				if eval[string](b, "document.activeElement.value") != c {
					b.Errorf("the focus has left the box of %s", c)
				}
			} else {
				b.click(box)
			}
		}
		if !script {
			b.follow("form[data-columns] button")
		}
		want := []string{"Row#", "id", "title", "category", "status", "date", "price", "tags"}
		if got := b.texts(".results thead th"); !cmp.Equal(got, want) {
			b.Errorf("the columns are %q", got)
		}
		if script && b.count("details.menu[open]") != 1 {
			b.Error("the menu closes while one chooses")
		}
		b.agree()
		b.visit(catalog + "?_column=id&_column=title")
		if got := b.texts(".results thead th"); len(got) != 3 {
			b.Errorf("an address with columns shows %q", got)
		}
	})
}

func TestRecord(t *testing.T) {
	eachWay(t, func(b *tab, script bool) {
		b.visit(catalog + "?sort=title&per_page=10")
		b.settled()
		l := b.agree()
		check := func(r map[string]string) {
			b.Helper()
			got := eval[map[string]string](b, `Object.fromEntries([...document.querySelectorAll("#record dl > div")].map((d) =>
				[d.querySelector("dt").textContent, d.querySelector("dd .raw")?.textContent ?? ""]))`)
			if diff := cmp.Diff(r, got); diff != "" {
				b.Errorf("the record differs (-API +page):\n%s", diff)
			}
		}
		b.follow(".results tbody tr:nth-child(9) th a")
		check(l.Data[8])
		if script && eval[string](b, "document.activeElement.id") != "record" {
			b.Error("the focus is not on the record")
		}
		b.follow("[data-record=next]")
		check(l.Data[9])
		b.follow("[data-record=next]")
		check(get(b.T, b.url+"/api/v1/garden/catalog/data?sort=title&per_page=10&page=2").Data[0])
		b.follow("[data-record=prev]")
		check(l.Data[9])
		b.click("#record details summary")
		var shown map[string]string
		decode(b.T, eval[string](b, `document.querySelector("#record pre").textContent`), &shown)
		if !cmp.Equal(shown, l.Data[9]) {
			b.Errorf("the JSON of the record is %v", shown)
		}
		b.follow("[data-record=close]")
		if b.count("#record") != 0 {
			b.Error("the record does not close")
		}
		b.follow(".results tbody tr:nth-child(1) th a")
		b.follow(b.pick("#record .same", "category"))
		if got := b.query().Get("category"); got != l.Data[0]["category"] {
			b.Errorf("records with the same category as %v are those of %q", l.Data[0], got)
		}
	})
}

// TestLink opens the URL of a view in another browser profile, with and without scripts, and expects the same view.
func TestLink(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := open(t, s, tabOptions{})
	b.visit(catalog)
	b.settled()
	b.next(func() { b.fill("#search", "garden ") })
	b.until("location.search.includes('search=garden')")
	b.settled()
	b.follow(b.pick(`details[data-facet="status"] .values a`, "published"))
	b.follow(b.pick(".results thead th a", "price"))
	b.follow(b.pick(".sizes a", "10"))
	b.follow(".results tbody tr:nth-child(2) th a")
	if q := b.query(); len(q) < 5 {
		t.Fatalf("the address says only %v", q)
	}
	for _, noScript := range []bool{false, true} {
		other := open(t, s, tabOptions{noScript: noScript})
		if status := other.visitAddress(eval[string](b, "location.href")); status != 200 {
			t.Fatalf("the link gives %d", status)
		}
		other.settled()
		if diff := cmp.Diff(strings.Fields(b.view()), strings.Fields(other.view())); diff != "" {
			t.Errorf("without scripts %v: the link shows something else (-before +link):\n%s", noScript, diff)
		}
	}
}

// TestHistory goes back and forward through the history and expects each view unchanged.
func TestHistory(t *testing.T) {
	eachWay(t, func(b *tab, script bool) {
		b.visit(catalog)
		b.settled()
		var views, addresses []string
		keep := func() {
			views, addresses = append(views, b.view()), append(addresses, eval[string](b, "location.href"))
		}
		step := func(act func()) { b.Helper(); b.next(act); keep() }
		keep()
		if script {
			// Typing a word creates one history entry.
			b.next(func() { b.fill("#search", "r") })
			b.until(`location.search === "?search=r*"`)
			b.next(func() { b.press("ose") })
			b.until(`location.search === "?search=rose*"`)
			b.settled()
			keep()
		} else {
			step(func() { b.fill("#search", "rose"+kb.Enter) })
		}
		step(func() { b.click(b.pick(".results thead th a", "price")) })
		step(func() { b.click(".results tbody tr:nth-child(3) th a") })
		step(func() { b.click("[data-record=close]") })
		at := len(views) - 1
		move := func(by int) {
			b.Helper()
			b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("history.go(%d)", by)))
			b.until(fmt.Sprintf("location.href === %q && document.readyState === 'complete'", addresses[at+by]))
			eval[bool](b, "delete document.getElementById('swap').dataset.was") // the browser may restore the page with the mark
			b.settled()
			at += by
			// Browsers may restore the text of the search box, with scripts without the star.
			plain := func(s string) []string { return strings.Fields(s[:strings.LastIndex(s, "\nsearch ")]) }
			if diff := cmp.Diff(plain(views[at]), plain(b.view())); diff != "" {
				b.Errorf("view %d is not as it was (-then +now):\n%s", at, diff)
			}
		}
		for range views[1:] {
			move(-1)
		}
		for range views[1:] {
			move(+1)
		}
	})
}

// decode unmarshals JSON.
func decode(t *testing.T, from string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(from), into); err != nil {
		t.Fatalf("%v: %s", err, from)
	}
}
