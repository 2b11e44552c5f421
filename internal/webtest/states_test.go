package webtest_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp/kb"
)

// quote returns a JavaScript string literal.
func quote(s string) string { return strconv.Quote(s) }

func TestCatalogue(t *testing.T) {
	eachWay(t, func(b *tab, script bool) {
		b.Visit("/")
		b.settled()
		got := b.Text("main")
		if !strings.Contains(got, "Garden catalogue garden/catalog") ||
			!strings.Contains(got, "Staff locked/staff requires a key") {
			b.Errorf("the catalogue is %q", got)
		}
		keys := "garden"
		if !script {
			keys += kb.Enter
		}
		b.next(func() { b.Fill("#search", keys) })
		b.Until("location.search === '?search=garden' && document.querySelectorAll('.dataset').length === 1")
		b.Click(".dataset h3 a")
		b.Until("location.pathname === " + quote(catalog) + " && document.readyState === 'complete'")
		b.settled()
		b.agree()
		b.Visit("/?search=nothingofthekind")
		if got := b.Text(".empty-state"); !strings.Contains(got, "No matching datasets") {
			b.Errorf("without a match: %q", got)
		}
	})
}

func TestEmptyStates(t *testing.T) {
	eachWay(t, func(b *tab, _ bool) {
		b.Visit(catalog + "?search=nosuchword&category=herb")
		b.settled()
		got, chips := b.Text("#grid .empty-state"), b.Count("#grid .removable .button")
		if !strings.Contains(got, "No matching rows") || chips != 2 {
			b.Errorf("no matches: %q, %d chips", got, chips)
		}
		b.follow(b.Pick("#grid .removable .button", "category"))
		b.follow(b.Pick("#grid .removable a", "Show all rows"))
		if l := b.agree(); l.Meta.Total == 0 {
			b.Error("removing what does not fit leaves nothing")
		}
		b.Visit(catalog + "?page=999")
		b.settled()
		b.follow(b.Pick("#grid .empty-state a", "last page"))
		b.wantQuery("page=11")
		if l, ids := get(b.T, eval[string](b, `document.querySelector("#call code").dataset.url`)),
			b.column("id"); len(l.Data) == 0 || ids[len(ids)-1] != l.Data[len(l.Data)-1]["id"] {
			b.Errorf("the last page ends with %q, the API call with %v", ids, l.Data)
		}
		b.Visit(none)
		if got := b.Text("#grid .empty-state"); !strings.Contains(got, "No rows") {
			b.Errorf("an empty dataset: %q", got)
		}
	})
}

func TestErrorStates(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		b := open(t, newSite(t, nil), tabOptions{NoScript: !script, Fails: []int{400, 404}})
		if status := b.Visit(catalog + "?sort=prize&category=herb"); status != 400 {
			t.Errorf("a wrong parameter gives %d", status)
		}
		b.settled()
		if got := b.Text("[role=alert]"); !strings.Contains(got, `did you mean "price"?`) {
			t.Errorf("the page says %q", got)
		}
		b.follow(b.Pick("[role=alert] a", "Show all rows"))
		b.agree()
		if script { // an invalid value stays in its input, with the focus
			focused := func() string {
				return eval[string](b, `document.activeElement.name + "=" + document.activeElement.value + " " + document.getElementById(document.activeElement.getAttribute("aria-describedby"))?.textContent`)
			}
			b.Visit(catalog + "?_facet=price")
			b.settled()
			b.next(func() { b.Fill(`[name="price[gte]"]`, "cheap") })
			b.Until("document.querySelector('[role=alert]')")
			if got := focused(); !strings.HasPrefix(got, `price[gte]=cheap price is a number field`) ||
				b.Count("#grid tbody tr") == 0 {
				t.Errorf("the focus or what was typed is gone: %q", got)
			}
			b.next(func() { b.Fill(`[name="price[gte]"]`, "100") })
			b.Until("!document.querySelector('[role=alert]') && location.search.includes('100')")
			if got := focused(); got != "price[gte]=100 undefined" {
				t.Errorf("the focus is gone: %q", got)
			}
			b.settled()
			b.agree()
		}
		status := b.Visit("/datasets/garden/nothing")
		if status != 404 || !strings.Contains(b.Text("main"), "404") || b.Count("main a.button") == 0 {
			t.Errorf("an unknown dataset gives %d %q", status, b.Text("main"))
		}
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		b := open(t, newSite(t, nil), tabOptions{NoScript: !script, Fails: []int{401, 403}})
		if status := b.Visit(staff + "?room=7"); status != 401 || strings.Contains(b.Text("body"), "Secretive") {
			t.Fatalf("without a key: %d %s", status, b.Text("main"))
		}
		b.Until("document.activeElement.id === 'key'") // focused on load
		enter := func(key string) {
			t.Helper()
			eval[string](b, "document.body.dataset.was = 'before'")
			b.Fill("#key", key+kb.Enter)
			b.Until("document.readyState === 'complete' && document.body && document.body.dataset.was === undefined")
		}
		for key, want := range map[string]string{"herb_wrong": "key", b.otherKey: "not for this dataset"} {
			enter(key)
			if got := b.Text("[role=alert]"); !strings.Contains(got, want) {
				t.Errorf("a wrong key: %q", got)
			}
			if strings.Contains(eval[string](b, "document.documentElement.outerHTML"), key) {
				t.Error("the page repeats the key")
			}
		}
		enter(b.staffKey)
		b.settled()
		if got := b.Text("#grid tbody"); !strings.Contains(got, "Secretive Ana") || strings.Contains(got, "Bo") {
			t.Errorf("with the key: %q", got)
		}
		b.wantQuery("room=7")
		var kept []*network.Cookie
		for _, c := range call(b, network.GetCookies, network.GetCookiesParams{}).Cookies {
			if c.Name == "herbarium_key" {
				kept = append(kept, c)
			}
		}
		if len(kept) != 1 || !kept[0].HTTPOnly || kept[0].SameSite != network.CookieSameSiteStrict ||
			!kept[0].Session || kept[0].Path != staff {
			t.Errorf("the cookie is %+v", kept)
		}
		if seen := eval[string](b, "document.cookie + document.documentElement.outerHTML"); strings.Contains(seen,
			b.staffKey) {
			t.Error("a script can read the key")
		}
		b.follow(".chip .x")
		if got := b.Text("#grid tbody"); !strings.Contains(got, "Secretive Bo") {
			t.Errorf("all records are %q", got)
		}
		b.next(func() { b.Click(".forget button") })
		b.Until("document.getElementById('key')")
		if got := b.Text("body"); strings.Contains(got, "Secretive") {
			t.Error("after the key is forgotten the records are still there")
		}
		if urls := b.Requested(b.staffKey); len(urls) > 0 {
			t.Errorf("the key is in an address: %q", urls)
		}
	}
}

func TestHostile(t *testing.T) {
	eachWay(t, func(b *tab, script bool) {
		for _, path := range []string{"/", nasty, nasty + "?per_page=100&_record=1", nasty + "/about", nasty + "/api",
			nasty + "/versions"} {
			if status := b.Visit(path); status != 200 {
				b.Fatalf("%s gives %d", path, status)
			}
			b.settled()
			if bad := eval[[]string](b,
				`[...document.querySelectorAll("script:not([src]):not([type='application/ld+json']), iframe, base, " +
				"main style, main [onerror], main [onload], main [onclick], main [onmouseover], a[href^='javascript:' i], " +
				"a[href^='data:' i], a[href^='vbscript:' i], img[src^='http:']")].map((e) => e.outerHTML.slice(0, 200))`); len(bad) > 0 {
				b.Errorf("%s has %q", path, bad)
			}
			if eval[bool](b, "document.documentElement.scrollWidth > innerWidth") {
				b.Errorf("%s is made wider than the screen", path)
			}
		}
		if title := eval[string](b, "document.title"); !strings.Contains(title, "<script>") {
			b.Errorf("the title is %q", title)
		}
		b.Visit(nasty + "?per_page=100&_fields=image")
		b.settled()
		shown := strings.Join(b.Texts("#grid tbody td"), "\n")
		for _, v := range hostileValues() {
			// links are shown without the scheme
			v = strings.TrimPrefix(strings.Join(strings.Fields(v), " "), "http://")
			if len(v) < 200 && !strings.Contains(shown, v) {
				b.Errorf("the table lacks %q", v)
			}
		}
		b.follow("#grid tbody tr:nth-child(1) th a") // the record panel
		for i, v := range hostileValues() {
			raw := eval[[]string](b,
				`[...document.querySelectorAll("#record dd")].map((e) => e.dataset.raw ?? e.querySelector(".raw").textContent)`)
			const most = 32 << 10 // of a value that is shown
			if len(v) <= most && (len(raw) != 5 || raw[1] != v) ||
				len(v) > most && (len(raw) != 5 || len(raw[1]) < most/2 ||
					!strings.HasPrefix(v, strings.TrimRight(raw[1], "…"))) {
				b.Errorf("record %d shows %.300q, want %.100q", i+1, raw, v)
			}
			if i+1 < len(hostileValues()) && (script || i < 3) {
				b.follow("[data-record=next]")
			} else {
				break
			}
		}
	})
}
