package webtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
)

// lightness returns the lightness of the page background, from 0 to 255.
func (b *tab) lightness() int { b.Helper(); return b.lightnessOf("html") }

// lightnessOf returns the lightness of the background of the first element that matches a selector.
func (b *tab) lightnessOf(selector string) int {
	b.Helper()
	return eval[int](b, `(() => { const c = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
		c.fillStyle = getComputedStyle(document.querySelector(`+quote(selector)+`)).backgroundColor; c.fillRect(0, 0, 1, 1);
		return Math.max(...c.getImageData(0, 0, 1, 1).data.slice(0, 3)); })()`)
}

func TestTheme(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for _, noScript := range []bool{false, true} {
		b := open(t, s, tabOptions{NoScript: noScript})
		for _, dark := range []bool{false, true} {
			b.Dark(dark)
			call(b, network.ClearBrowserCookies, cdp.Empty{})
			b.Visit("/")
			if got := b.lightness(); got < 100 != dark {
				t.Errorf("dark %v, without scripts %v: the background has lightness %d", dark, noScript, got)
			}
			if noScript {
				continue
			}
			b.Click("[data-theme-toggle]")
			if got := b.lightness(); got < 100 == dark {
				t.Errorf("the other theme after %v: the background has lightness %d", dark, got)
			}
			b.Visit(catalog)
			if got := b.lightness(); got < 100 == dark {
				t.Errorf("the theme is not saved: the background has lightness %d", got)
			}
		}
	}
}

// TestPhone checks every view on a narrow screen: only tables scroll horizontally, and touch
// targets are large enough.
func TestPhone(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Phone: true, Fails: []int{400, 401, 404}})
	for _, path := range []string{
		"/", "/?search=rose", catalog, catalog + "?category=herb&search=garden", catalog + "?_record=3",
		catalog + "?sort=prize", catalog + "/chart", wide + "/map",
		catalog + "/about", catalog + "/api", catalog + "/versions",
		staff, nasty, nasty + "?_record=24", none, "/datasets/garden/nothing",
	} {
		b.Visit(path)
		b.settled()
		if w := eval[int](b, "Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)"); w > 360 {
			t.Errorf("%s is %d wide: %s", path, w, eval[string](b, `[...document.querySelectorAll("body *")]
				.filter((e) => e.getBoundingClientRect().right > 361 && !e.closest(".grid, .scroll, pre, .vh"))
				.map((e) => e.outerHTML.slice(0, 100)).slice(0, 3).join("\n")`))
		}
		if cut := eval[[]string](b, `[...document.querySelectorAll(".tabs, .map-scale:not([hidden])")].filter((e) => {
			const r = e.getBoundingClientRect(), at = document.elementsFromPoint(r.left + r.width / 2, r.top + r.height / 2);
			return e.scrollWidth > e.clientWidth || at.some((o) => o.matches(".map-note"));
		}).map((e) => e.outerHTML.slice(0, 80))`); len(cut) > 0 {
			t.Errorf("%s: cut or covered: %q", path, cut)
		}
		if empty := eval[bool](b,
			`[...document.querySelectorAll("footer.call")].some((e) => !e.innerText.trim() && e.checkVisibility({ visibilityProperty: true }))`); empty {
			t.Errorf("%s has an empty bar", path)
		}
		if eval[bool](b, `document.querySelector(".more-chips")?.hidden === false`) {
			t.Errorf("%s counts filters that are not cut", path)
		}
		small := eval[[]string](b,
			`[...document.querySelectorAll("button, summary, input:not([type=hidden], label *), label:has(input), select, .button, .chip, " +
			".values label, .pages a, .tabs a, #grid tbody th a, .popover a")]
			.filter((e) => e.checkVisibility({ visibilityProperty: true }))
			.map((e) => [e, (e.closest("label") ?? e).getBoundingClientRect()]).filter(([, r]) => r.width < 24 || r.height < 24)
			.map(([e, r]) => Math.round(r.width) + "x" + Math.round(r.height) + " " + e.outerHTML.slice(0, 120))`)
		if len(small) > 0 {
			t.Errorf("%s: too small to touch: %d, such as\n%s", path, len(small),
				strings.Join(small[:min(3, len(small))], "\n"))
		}
	}
	b.Visit(catalog)
	b.settled()
	if w := eval[int](b, `(document.querySelector("#pages summary").firstChild.data = "99,999,951–100,000,000 of 100,000,000",
		document.documentElement.scrollWidth)`); w > 360 {
		t.Errorf("the last page of a large dataset is %d wide", w)
	}
	before := len(b.Requested(catalog))
	b.Click(".sheet-open")
	b.Until("location.hash === '#filters' && document.getElementById('add-filter').checkVisibility()")
	if n := len(b.Requested(catalog)) - before; n != 0 {
		t.Errorf("opening the filters of a page asks for it again (%d requests)", n)
	}
	b.Click("#add-filter summary")
	b.follow("#add-filter button[value=category]")
	b.follow(`details[data-facet="category"] input[value=tree]`)
	l := b.agree()
	if got := b.Text(".sheet-close"); got != fmt.Sprintf("Show %d rows", l.Meta.Total) {
		t.Errorf("the sheet says %q, there are %d rows", got, l.Meta.Total)
	}
	b.Click(".sheet-close")
	b.Until("!document.getElementById('filters').checkVisibility()")
	b.agree()
}

// TestProxy uses the pages behind a proxy with a path prefix, which the server knows from
// --public-url only.
func TestProxy(t *testing.T) {
	t.Parallel()
	b := open(t, newProxiedSite(t, "/open/data"), tabOptions{Fails: []int{401}})
	b.Visit("/")
	b.settled()
	b.Click(b.Pick(".dataset h3 a", "Garden"))
	b.Until("location.pathname === '/open/data" + catalog + "'")
	b.settled()
	b.next(func() { b.Fill("#search", "rose ") })
	b.Until("location.search.includes('rose')")
	b.settled()
	b.follow("#grid .proportion[data-value=shrub]")
	b.follow("#grid tbody tr:nth-child(1) th a")
	b.agree()
	if got := eval[string](b, `document.querySelector("#call code").dataset.url`); !strings.HasPrefix(got,
		b.url+"/api/v1/") {
		t.Errorf("the call is %q", got)
	}
	if got := eval[string](b, "document.querySelector('link[rel=canonical]').href"); got != b.url+catalog {
		t.Errorf("the canonical address is %q", got)
	}
	b.follow("[data-record=close]")
	b.Click("[data-theme-toggle]")
	for _, tab := range []string{"API", "Versions", "Table"} {
		b.Click(b.Pick(".tabs a", tab))
		b.Until("document.readyState === 'complete' && document.querySelector('.tabs [aria-current]').textContent === " + quote(tab))
	}
	b.Visit("/docs")
	b.Until("document.querySelector('#swagger .opblock')")
	b.Visit(staff)
	b.Fill("#key", b.staffKey+"\r")
	b.Until("document.querySelector('#grid tbody tr')")
	for _, c := range call(b, network.GetCookies, network.GetCookiesParams{}).Cookies {
		if !strings.HasPrefix(c.Path, "/open/data/") {
			t.Errorf("the cookie %s is sent to %s", c.Name, c.Path)
		}
	}
}
