package webtest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/programtest"
)

// eachWay runs a test with and without scripts.
func eachWay(t *testing.T, test func(b *tab, script bool)) {
	t.Helper()
	t.Parallel()
	for _, script := range []bool{true, false} {
		t.Run(fmt.Sprintf("script=%v", script), func(t *testing.T) {
			t.Parallel()
			test(open(t, newSite(t, nil), tabOptions{NoScript: !script}), script)
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
	res, err := programtest.Send(t.Context(), http.DefaultClient, http.MethodGet, address, "")
	if err == nil {
		err = json.Unmarshal([]byte(res.Body), &l)
	}
	if err != nil || res.Status != http.StatusOK {
		t.Fatalf("%s: %d %v %s", address, res.Status, err, res.Body)
	}
	return l
}

// agree compares the page with the response to the API call that it shows, and returns the
// response.
func (b *tab) agree() listing {
	b.Helper()
	address := eval[string](b, `document.querySelector("#call code").dataset.url`)
	l := get(b.T, address)
	var ids []string
	for _, r := range l.Data {
		ids = append(ids, r["id"])
	}
	if diff := cmp.Diff(ids, b.column("id")); diff != "" {
		b.Errorf("%s and the page differ (-API +page):\n%s", address, diff)
	}
	if want := herb.Count(l.Meta.Total) + " row"; !strings.HasPrefix(b.Texts(".found")[0], want) {
		b.Errorf("the page says %q, the API %d", b.Text(".found"), l.Meta.Total)
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
		b.Visit(catalog)
		b.settled()
		if script {
			eval[bool](b, "window.same = true")
			b.next(func() { b.Fill("#search", "rose") })
			b.Until(`location.search === "?search=rose*"`)
			b.settled()
			if !eval[bool](b, "window.same") || eval[string](b, "document.activeElement.id") != "search" {
				b.Error("typing has loaded another page, or replaced the search box")
			}
			if said := b.Text("#status"); !strings.HasPrefix(said, b.Texts(".found strong")[0]) {
				b.Errorf("screen readers announce %q", said)
			}
		} else {
			b.next(func() { b.Fill("#search", "rose"+kb.Enter) })
			b.wantQuery("search=rose")
		}
		if l := b.agree(); l.Meta.Total == 0 || l.Meta.Total > 100 || b.Text("#order summary") != "Best matches" {
			b.Errorf("found %d: %s", l.Meta.Total, b.Text("#order summary"))
		}
		if got := eval[string](b, "document.getElementById('search').value"); got != "rose" && script {
			b.Errorf("the search box has %q", got)
		}
	})
}

func TestSort(t *testing.T) {
	eachWay(t, func(b *tab, _ bool) {
		b.Visit(catalog)
		b.settled()
		for _, want := range []string{"ascending", "descending"} {
			b.follow("#grid th[data-field=price] .col-name")
			if got := eval[string](b, `document.querySelector("th[data-field=price]").ariaSort`); got != want {
				b.Errorf("sorted %q, want %s", got, want)
			}
			b.agree()
		}
		b.wantQuery("order=desc&sort=price")
		b.Click("#order summary")
		b.follow("#order .key a")
		b.wantQuery("sort=price")
		b.Click("#grid th[data-field=date] summary")
		b.follow(b.Pick("#grid th[data-field=date] .fields a", "Sort descending"))
		b.wantQuery("order=desc&sort=date")
		b.agree()
	})
}

// apply changes an open form and, without a script, submits it.
func (b *tab) apply(form string, choose func()) {
	b.Helper()
	if b.NoScript {
		choose()
		b.follow(form + " .actions button")
	} else {
		b.next(choose)
	}
}

func TestFilter(t *testing.T) {
	eachWay(t, func(b *tab, script bool) {
		b.Visit(catalog)
		b.settled()
		if !script {
			b.follow("#grid a[href*=_distributions]")
		}
		b.follow("#grid .proportion[data-value=herb]") // in the distribution
		l := b.agree()
		if l.Meta.Total == 0 || slices.Compact(b.column("category"))[0] != "herb" ||
			b.query().Get("category") != "herb" {
			b.Errorf("filtered by herb: %v", b.query())
		}
		// The values of a field ignore its own filter.
		chip := `details[data-facet="category"] `
		b.Click(chip + "summary")
		if !script {
			b.follow(chip + "button.nojs")
		}
		b.settled()
		if current := b.Texts(chip + ".values label:has(:checked)"); len(current) != 1 ||
			current[0] != fmt.Sprintf("herb %d", l.Meta.Total) {
			b.Errorf("chosen are %q of %d", current, l.Meta.Total)
		}
		b.apply(chip, func() { b.Click(chip + "input[value=tree]") })
		if got := b.Text(".chip summary"); got != "category is any of tree, herb" {
			b.Errorf("the chip says %q", got)
		}
		if script && b.Count(chip+"[open]") == 0 &&
			!eval[bool](b, `document.querySelector('details[data-facet="category"]').open`) {
			b.Error("the form closes while one chooses")
		}
		b.agree()
		if !script {
			b.Click(chip + "summary")
		}
		b.apply(chip, func() { b.Click(chip + "input[value=herb]") })
		if l := b.agree(); l.Meta.Total == 0 || slices.Contains(b.column("category"), "herb") {
			b.Errorf("after herb was removed: %v", b.query())
		}
		b.Visit(catalog + "?category=tree&status=published")
		b.settled()
		b.follow(".chip .x")
		b.wantQuery("status=published")
		b.Visit(catalog + "?category=tree&status=published&sort=title")
		b.follow(".clear")
		b.wantQuery("sort=title")
		b.agree()
	})
}

func TestRange(t *testing.T) {
	eachWay(t, func(b *tab, _ bool) {
		b.Visit(catalog)
		b.settled()
		b.Click("#add-filter summary")
		b.follow("#add-filter button[value=price]")
		form := `details[data-facet="price"] `
		b.apply(form, func() { b.Fill(`[name="price[gte]"]`, "10") })
		if b.NoScript {
			b.Click(form + "summary")
		}
		b.Until(`new URLSearchParams(location.search).get("price[gte]") === "10"`)
		b.settled()
		b.apply(form, func() { b.Fill(`[name="price[lte]"]`, "20,000") }) // as the page prints numbers
		b.Until(`new URLSearchParams(location.search).get("price[lte]") === "20000"`)
		b.settled()
		if l := b.agree(); l.Meta.Total == 0 || b.query().Get("price[gte]") != "10" {
			b.Errorf("%d records for %v", l.Meta.Total, b.query())
		}
		if got := b.Text(".chip summary"); got != "price between 10 – 20,000" {
			b.Errorf("the chip says %q", got)
		}
		b.follow(".chip .x")
		b.agree()
	})
}

func TestPaging(t *testing.T) {
	eachWay(t, func(b *tab, _ bool) {
		b.Visit(catalog + "?sort=title&per_page=10")
		b.settled()
		page := func(want int) {
			b.Helper()
			if l := b.agree(); l.Meta.Page != want ||
				!strings.HasPrefix(b.Text("#pages summary"), fmt.Sprintf("%d–", 10*want-9)) {
				b.Errorf("on page %d (%q), want %d", l.Meta.Page, b.Text("#pages summary"), want)
			}
		}
		page(1)
		b.follow(".pages a[rel=next]")
		page(2)
		b.follow(".pages a[rel=next]")
		page(3)
		b.follow(".pages a[rel=prev]")
		page(2)
		b.Click("#pages summary")
		b.next(func() { b.Fill(".jump input[name=page]", "20"+kb.Enter) })
		page(20)
		eval[bool](b, `document.getElementById("pages").open = true`)
		b.follow(b.Pick(".sizes a", "100"))
		if l := b.agree(); l.Meta.PerPage != 100 || b.query().Get("per_page") != "100" {
			b.Errorf("%d records on a page, %v", l.Meta.PerPage, b.query())
		}
	})
}

func TestColumns(t *testing.T) {
	eachWay(t, func(b *tab, script bool) {
		b.Visit(catalog + "?sort=price")
		b.settled()
		b.Click("#columns summary")
		for _, c := range []string{"description", "url", "image", "author"} {
			box := fmt.Sprintf("#columns input[value=%q]", c)
			if script {
				b.follow(box)
				if eval[string](b, "document.activeElement.value") != c {
					b.Errorf("the focus has left the box of %s", c)
				}
			} else {
				b.Click(box)
			}
		}
		if !script {
			b.follow("#columns .actions button")
		}
		want := []string{"id", "title", "category", "status", "date", "price", "tags"}
		if got := b.Texts("#grid th .col-name bdi"); !cmp.Equal(got, want) {
			b.Errorf("the columns are %q", got)
		}
		if script && !eval[bool](b, `document.getElementById("columns").open`) {
			b.Error("the menu closes while one chooses")
		}
		b.agree()
		menu := "#grid th[data-field=category] "
		for _, step := range []struct{ choice, want string }{
			{"Move right", "id,title,status,category,date,price,tags"},
			{"Move left", "id,title,category,status,date,price,tags"},
			{"Pin", "category,id,title,status,date,price,tags"}, {"Hide", "id,title,status,date,price,tags"},
		} {
			if !script && step.choice != "Pin" {
				continue
			}
			b.Press(kb.Escape)
			b.Click(menu + "summary")
			b.follow(b.Pick(menu+".fields :is(a, button)", step.choice))
			if got := strings.Join(b.Texts("#grid th .col-name bdi"), ","); got != step.want {
				b.Errorf("%s: the columns are %s, want %s", step.choice, got, step.want)
			}
		}
		b.Visit(catalog + "?_column=id&_column=title")
		if got := b.query().Get("_fields"); got != "id,title" {
			b.Errorf("the former parameter leads to %q", got)
		}
	})
}

func TestRecord(t *testing.T) {
	eachWay(t, func(b *tab, script bool) {
		b.Visit(catalog + "?sort=title&per_page=10")
		b.settled()
		l := b.agree()
		check := func(r map[string]string) {
			b.Helper()
			got := eval[map[string]string](b,
				`Object.fromEntries([...document.querySelectorAll("#record dl > div")].map((d) => {
				const value = d.querySelector("dd");
				return [d.querySelector("dt").title, value.dataset.raw ?? value.querySelector(".raw")?.textContent ?? ""];
			}))`)
			if diff := cmp.Diff(r, got); diff != "" {
				b.Errorf("the record differs (-API +page):\n%s", diff)
			}
		}
		b.follow("#grid tbody tr:nth-child(9) th a")
		check(l.Data[8])
		if got := b.Text("#record h2"); got != l.Data[8]["title"] {
			b.Errorf("the title is %q", got)
		}
		if script && eval[string](b, "document.activeElement.id") != "record" {
			b.Error("the focus is not on the record")
		}
		b.follow("[data-record=next]")
		check(l.Data[9])
		b.follow("[data-record=next]")
		check(get(b.T, b.url+"/api/v1/garden/catalog/data?sort=title&per_page=10&page=2").Data[0])
		b.follow("[data-record=prev]")
		check(l.Data[9])
		b.Click("#record details summary")
		var shown map[string]string
		decode(b.T, eval[string](b, `document.querySelector("#record pre").textContent`), &shown)
		if !cmp.Equal(shown, l.Data[9]) {
			b.Errorf("the JSON of the record is %v", shown)
		}
		b.follow("[data-record=close]")
		if b.Count("#record") != 0 {
			b.Error("the record does not close")
		}
		b.follow("#grid tbody tr:nth-child(1) th a")
		b.follow(b.Pick("#record .same", "category"))
		if got := b.query().Get("category"); got != l.Data[0]["category"] {
			b.Errorf("records with the same category as %v are those of %q", l.Data[0], got)
		}
		b.Visit(catalog + "?sort=title&per_page=10&_record=3")
		b.settled()
		b.follow(b.Pick("#record a", "Permalink"))
		check(l.Data[2])
		b.wantQuery("_record=1&id=" + l.Data[2]["id"])
	})
}

// TestLink opens the URL of a view in another browser profile, with and without scripts, and
// expects the same view.
func TestLink(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := open(t, s, tabOptions{})
	b.Visit(catalog)
	b.settled()
	b.next(func() { b.Fill("#search", "garden ") })
	b.Until("location.search.includes('search=garden')")
	b.settled()
	b.follow("#grid .proportion[data-value=published]")
	b.follow("#grid th[data-field=price] .col-name")
	b.follow("#grid tbody tr:nth-child(2) th a")
	if q := b.query(); len(q) < 4 {
		t.Fatalf("the address says only %v", q)
	}
	for _, noScript := range []bool{false, true} {
		other := open(t, s, tabOptions{NoScript: noScript})
		if status := other.VisitAddress(eval[string](b, "location.href")); status != 200 {
			t.Fatalf("the link gives %d", status)
		}
		other.settled()
		plain := func(v string) []string { // without the distributions, which only a script loads
			before, after, _ := strings.Cut(v, "\ndistributions ")
			_, after, _ = strings.Cut(after, "\nrows ")
			return strings.Fields(before + " " + after)
		}
		if diff := cmp.Diff(plain(b.view()), plain(other.view())); diff != "" {
			t.Errorf("without scripts %v: the link shows something else (-before +link):\n%s", noScript, diff)
		}
	}
}

// TestHistory goes back and forward through the history and expects each view unchanged.
func TestHistory(t *testing.T) {
	eachWay(t, func(b *tab, script bool) {
		b.Visit(catalog)
		b.settled()
		var views, addresses []string
		keep := func() {
			views, addresses = append(views, b.view()), append(addresses, eval[string](b, "location.href"))
		}
		step := func(act func()) { b.Helper(); b.next(act); keep() }
		keep()
		if script {
			// Typing a word creates one history entry.
			b.next(func() { b.Fill("#search", "r") })
			b.Until(`location.search === "?search=r*"`)
			b.next(func() { b.Press("ose") })
			b.Until(`location.search === "?search=rose*"`)
			b.settled()
			keep()
		} else {
			step(func() { b.Fill("#search", "rose"+kb.Enter) })
		}
		step(func() { b.Click("#grid th[data-field=price] .col-name") })
		step(func() { b.Click("#grid tbody tr:nth-child(3) th a") })
		step(func() { b.Click("[data-record=close]") })
		at := len(views) - 1
		move := func(by int) {
			b.Helper()
			entries := call(b, page.GetNavigationHistory, cdp.Empty{})
			call(b, page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{
				EntryID: entries.Entries[int(entries.CurrentIndex)+by].ID})
			b.Until(fmt.Sprintf("location.href === %q && document.readyState === 'complete'", addresses[at+by]))
			// the browser may restore the page with the mark
			eval[bool](b, "delete document.getElementById('swap').dataset.was")
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
