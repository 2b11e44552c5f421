package webtest_test

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long a test waits for what should happen at once. Machines may be busy.
const patience = time.Minute

// tabOptions of a tab. The zero value is a large light screen with scripts.
type tabOptions struct {
	noScript bool
	dark     bool
	phone    bool    // 360 by 740
	width    int64   // 0: as wide as it is
	height   int64   // 0: as high as it is
	scale    float64 // 0: one pixel to a pixel
	before   string  // script that runs in each page before any other
	fails    []int   // statuses other than 200 that the test means to get
}

// tab is a page of a browser, in a profile of its own. What goes wrong in it fails the test when that ends.
type tab struct {
	*testing.T
	*site
	*events
	ctx      context.Context
	noScript bool
}

func open(t *testing.T, s *site, opts tabOptions) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chromium.in(t), chromedp.WithNewBrowserContext())
	b := &tab{T: t, site: s, ctx: ctx, noScript: opts.noScript}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	b.events = listen(ctx, s.url)
	t.Cleanup(func() {
		cancel()
		b.report(t, opts.fails)
	})
	call(b, audits.Enable, cdp.Empty{})
	call(b, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "https://*"}}})
	call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	b.dark(opts.dark)
	b.screen(opts)
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: opts.noScript})
	if opts.before != "" {
		call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: opts.before})
	}
	return b
}

// dark sets which colours the system asks for.
func (b *tab) dark(on bool) {
	b.Helper()
	scheme := "light"
	if on {
		scheme = "dark"
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// screen sets the size of the screen, and whether it is touched.
func (b *tab) screen(opts tabOptions) {
	b.Helper()
	width, height := int64(1280), int64(900)
	if opts.phone {
		width, height = 360, 740
	}
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: cmp.Or(opts.width, width), Height: cmp.Or(opts.height, height), DeviceScaleFactor: max(opts.scale, 1), Mobile: opts.phone,
	})
	call(b, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: opts.phone})
}

// call sends the browser a command about the tab.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.Helper()
	r, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.Fatalf("%s: %v", command.Method, err)
	}
	return r
}

// do does things in the tab.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.Fatal(err)
	}
}

// visit opens an address of the site and returns the status of the answer.
func (b *tab) visit(path string) int64 {
	b.Helper()
	return b.visitAddress(b.url + path)
}

func (b *tab) visitAddress(address string) int64 {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	response, err := chromedp.Run(ctx, chromedp.NavigateResponse(address))
	if err != nil {
		b.Fatalf("%s: %v", address, err)
	}
	return response.Status
}

// eval returns what an expression of JavaScript yields in the page.
func eval[V any](b *tab, js string) V {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[V](js, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", js, err)
	}
	return v
}

// until waits for an expression of JavaScript to be true. Where scripts run, the page looks itself whenever something in it has
// changed, and says so; asking it again and again would cost more than the pages do.
func (b *tab) until(js string) {
	b.Helper()
	watch := fmt.Sprintf(`new Promise((resolve) => {
		const met = () => { try { return Boolean(%s); } catch { return false; } };
		if (met()) return resolve(true);
		const look = () => met() && end(true);
		const changes = new MutationObserver(look), often = setInterval(look, 50), late = setTimeout(() => end(false), 1000);
		const end = (result) => { changes.disconnect(); clearInterval(often); clearTimeout(late); resolve(result); };
		changes.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
	})`, js)
	if b.noScript {
		watch = "Boolean(" + js + ")"
	}
	b.wait(js, func() bool {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](watch, chromedp.EvalAwaitPromise))
		return err == nil && ok // between two pages there is nothing to ask
	})
}

// wait waits for a condition, and says what it was if it does not come true.
func (b *tab) wait(what string, met func() bool) {
	b.Helper()
	for deadline := time.Now().Add(patience); !met(); {
		if time.Now().After(deadline) || b.ctx.Err() != nil {
			where, _ := chromedp.Run(b.ctx, chromedp.Location()) // the message is of use without it
			b.Fatalf("this never came true at %s: %s", where, what)
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-b.ctx.Done():
		}
	}
}

// settled waits until the page is there, with the counts of its opened filters if scripts run, and nothing is under way.
func (b *tab) settled() {
	b.Helper()
	b.until(`document.readyState === "complete" && !document.querySelector("#swap[data-was], #swap[aria-busy], " +
		".js #swap[data-facets]:not([data-facets=\"\"]) details[data-facet][open]:not([data-mode=prefix]) .facet-data:not([data-loaded])")`)
}

// next does something that leads to a new view, and waits until that is there.
func (b *tab) next(act func()) {
	b.Helper()
	eval[bool](b, `document.getElementById("swap") ? (document.getElementById("swap").dataset.was = "") === "" : true`)
	act()
	b.settled()
}

// click clicks with the mouse into the middle of the first element that a selector finds, once nothing lies over it.
func (b *tab) click(selector string) {
	b.Helper()
	place := fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e?.scrollIntoView({ block: "center", inline: "center" });
		const r = e?.getClientRects()[0];
		const [x, y] = r ? [r.x + r.width / 2, r.y + r.height / 2] : [];
		return r && e.contains(document.elementFromPoint(x, y)) ? [x, y] : [];
	})()`, selector)
	var at []float64
	b.wait(selector+" can be clicked", func() bool { at = eval[[]float64](b, place); return len(at) == 2 })
	b.do(chromedp.MouseClickXY(at[0], at[1]))
}

// follow clicks and waits for the new view.
func (b *tab) follow(selector string) { b.Helper(); b.next(func() { b.click(selector) }) }

// press presses keys, one after the other.
func (b *tab) press(keys string) {
	b.Helper()
	for _, r := range keys {
		events := kb.Encode(r)
		down := *events[0]
		if len(events) == 3 { // the character comes with the key, so that a page that handles the key can keep it away
			down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
		}
		call(b, input.DispatchKeyEvent, down)
		call(b, input.DispatchKeyEvent, *events[len(events)-1])
	}
}

// text returns the visible text of the first element that a selector finds; empty if there is none.
func (b *tab) text(selector string) string {
	b.Helper()
	return eval[string](b, fmt.Sprintf(`(document.querySelector(%q)?.innerText ?? "").replace(/\s+/g, " ").trim()`, selector))
}

// texts returns the texts of all elements that a selector finds.
func (b *tab) texts(selector string) []string {
	b.Helper()
	return eval[[]string](b, fmt.Sprintf(
		`[...document.querySelectorAll(%q)].map((e) => e.textContent.replace(/\s+/g, " ").trim())`, selector))
}

// count returns how many elements a selector finds.
func (b *tab) count(selector string) int {
	b.Helper()
	return eval[int](b, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector))
}

// column returns the values that the table shows for a field, by its heading.
func (b *tab) column(heading string) []string {
	b.Helper()
	return eval[[]string](b, fmt.Sprintf(`(() => {
		const at = [...document.querySelectorAll(".results thead th")].findIndex((th) => th.innerText.trim() === %q);
		return [...document.querySelectorAll(".results tbody tr")].map((tr) => tr.cells[at].innerText.trim());
	})()`, heading))
}

// query returns the query of the address.
func (b *tab) query() url.Values {
	b.Helper()
	q, err := url.ParseQuery(strings.TrimPrefix(eval[string](b, "location.search"), "?"))
	if err != nil {
		b.Fatal(err)
	}
	return q
}

// view returns what a person sees of a listing, to compare one with another.
func (b *tab) view() string {
	b.Helper()
	return strings.Join([]string{
		"found " + b.text(".found"), "chips " + strings.Join(b.texts(".chips li"), " "),
		"headings " + strings.Join(b.texts(".results thead th"), " "),
		"rows " + strings.Join(b.texts(".results tbody tr"), "\n"), "record " + b.text("#record dl"), "pages " + b.text(".pager"),
		"call " + b.text(".call .code.one code"), "search " + eval[string](b, `document.getElementById("search").value`),
	}, "\n")
}

// allowClipboard lets pages of the tab write to the clipboard without a question.
func (b *tab) allowClipboard() {
	b.Helper()
	for _, name := range []string{"clipboard-write", "clipboard-read"} {
		_, err := chromedp.CallBrowser(b.ctx, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted,
			BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// pick marks the first element that a selector finds with a text, and returns the selector of the mark.
func (b *tab) pick(selector, text string) string {
	b.Helper()
	if !eval[bool](b, fmt.Sprintf(`(() => {
		for (const e of document.querySelectorAll("[data-pick]")) e.removeAttribute("data-pick");
		const found = [...document.querySelectorAll(%q)].find((e) => e.textContent.replace(/\s+/g, " ").includes(%q));
		found?.setAttribute("data-pick", "");
		return Boolean(found);
	})()`, selector, text)) {
		b.Fatalf("no %s has the text %q; there are %q", selector, text, b.texts(selector))
	}
	return "[data-pick]"
}

// fill puts a text into an input, in place of what is in it, by the keyboard.
func (b *tab) fill(selector, text string) {
	b.Helper()
	eval[bool](b, fmt.Sprintf(`(document.querySelector(%q).focus(), document.activeElement.select?.(), true)`, selector))
	b.press(text)
}
