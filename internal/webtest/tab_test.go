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

	"herbarium/internal/must"
)

// waitTimeout is the timeout of every wait, long enough for a busy machine.
const waitTimeout = time.Minute

// tabOptions configures a tab. The zero value is a large screen with the light theme and scripts.
type tabOptions struct {
	noScript bool
	dark     bool
	phone    bool    // 360 by 740
	width    int64   // 0: default
	height   int64   // 0: default
	scale    float64 // device pixels per CSS pixel; 0: 1
	before   string  // script that runs in each page before all others
	fails    []int   // expected HTTP statuses other than 200
	also     string  // URL of another server that pages may use; empty: none
}

// tab is a browser tab with its own profile. Problems in it fail the test when it ends.
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
	must.NoError(t, chromedp.Do(ctx))
	b.events = listen(ctx, s.url, opts.also)
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

// dark sets the preferred color scheme of the system.
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

// screen sets the size of the screen and touch emulation.
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

// call sends a DevTools command for the tab.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.Helper()
	r, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.Fatalf("%s: %v", command.Method, err)
	}
	return r
}

// do runs actions in the tab.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	must.NoError(b, chromedp.Do(ctx, steps...))
}

// visit opens a path of the site and returns the HTTP status.
func (b *tab) visit(path string) int64 {
	b.Helper()
	return b.visitAddress(b.url + path)
}

func (b *tab) visitAddress(address string) int64 {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	response, err := chromedp.Run(ctx, chromedp.NavigateResponse(address))
	if err != nil {
		b.Fatalf("%s: %v", address, err)
	}
	return response.Status
}

// eval evaluates a JavaScript expression in the page.
func eval[V any](b *tab, js string) V {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[V](js, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", js, err)
	}
	return v
}

// until waits until a JavaScript expression is true. With scripts, the page observes its own
// mutations, which is cheaper than polling.
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
		return err == nil && ok // fails during navigation
	})
}

// wait waits for a condition and fails the test with its description after the timeout.
func (b *tab) wait(what string, met func() bool) {
	b.Helper()
	for deadline := time.Now().Add(waitTimeout); !met(); {
		if time.Now().After(deadline) || b.ctx.Err() != nil {
			where, _ := chromedp.Run(b.ctx, chromedp.Location()) // the message is useful without it
			b.Fatalf("timeout at %s: %s", where, what)
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-b.ctx.Done():
		}
	}
}

// settled waits until the page is complete, with scripts including the distributions in view and
// the values of open filters.
func (b *tab) settled() {
	b.Helper()
	b.until(`document.readyState === "complete" && !document.querySelector("#swap[data-was], #swap[aria-busy], #grid[data-loading], [data-pending], " +
		".js #swap:not([data-facets='']) details[data-facet][open] .facet-data:not([data-loaded])")`)
}

// next runs an action that leads to a new view, and waits for that view.
func (b *tab) next(act func()) {
	b.Helper()
	eval[bool](b, `document.getElementById("swap") ? (document.getElementById("swap").dataset.was = "") === "" : true`)
	act()
	b.settled()
}

// center returns the center of the first element that matches a selector, once no other element
// covers it.
func (b *tab) center(selector string) (at []float64) {
	b.Helper()
	place := fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e?.scrollIntoView({ block: "center", inline: "center" });
		const r = e?.getClientRects()[0];
		const [x, y] = r ? [r.x + r.width / 2, r.y + r.height / 2] : [];
		return r && e.contains(document.elementFromPoint(x, y)) ? [x, y] : [];
	})()`, selector)
	b.wait(selector+" can be clicked", func() bool { at = eval[[]float64](b, place); return len(at) == 2 })
	return at
}

// click clicks the center of the first element that matches a selector.
func (b *tab) click(selector string) {
	b.Helper()
	at := b.center(selector)
	b.do(chromedp.MouseClickXY(at[0], at[1]))
	b.handled()
}

// handled waits until the page has handled an input and the events that follow from it, such as
// "toggle", which the browser sends later. Without scripts, nothing follows.
func (b *tab) handled() {
	b.Helper()
	if b.noScript {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, waitTimeout)
	defer cancel()
	// Fails if the input leads to another page, for which tests wait themselves.
	_ = chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void]("new Promise((done) => setTimeout(() => setTimeout(done)))", chromedp.EvalAwaitPromise))
}

// mouse sends one event of the mouse.
func (b *tab) mouse(kind input.DispatchMouseEventType, at []float64, button input.MouseButton) {
	b.Helper()
	count := int64(0)
	if kind != input.DispatchMouseEventTypeMouseMoved {
		count = 1
	}
	call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at[0], Y: at[1], Button: button, ClickCount: count})
	b.handled()
}

// follow clicks an element and waits for the new view.
func (b *tab) follow(selector string) { b.Helper(); b.next(func() { b.click(selector) }) }

// press types keys.
func (b *tab) press(keys string) {
	b.Helper()
	for _, r := range keys {
		events := kb.Encode(r)
		down := *events[0]
		if len(events) == 3 { // send the character with the key, so that the page can prevent it
			down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
		}
		call(b, input.DispatchKeyEvent, down)
		call(b, input.DispatchKeyEvent, *events[len(events)-1])
	}
	b.handled()
}

// text returns the visible text of the first element that matches a selector; empty if there is
// none.
func (b *tab) text(selector string) string {
	b.Helper()
	return eval[string](b, fmt.Sprintf(`(document.querySelector(%q)?.innerText ?? "").replace(/\s+/g, " ").trim()`, selector))
}

// texts returns the texts of all elements that match a selector.
func (b *tab) texts(selector string) []string {
	b.Helper()
	return eval[[]string](b, fmt.Sprintf(
		`[...document.querySelectorAll(%q)].map((e) => e.textContent.replace(/\s+/g, " ").trim())`, selector))
}

// count returns the number of elements that match a selector.
func (b *tab) count(selector string) int {
	b.Helper()
	return eval[int](b, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector))
}

// column returns the values of a column of the grid.
func (b *tab) column(field string) []string {
	b.Helper()
	return eval[[]string](b, fmt.Sprintf(`(() => {
		const at = document.querySelector("#grid th[data-field=" + CSS.escape(%q) + "]").cellIndex;
		return [...document.querySelectorAll("#grid tbody tr")].map((tr) => tr.cells[at].innerText.trim());
	})()`, field))
}

// query returns the query parameters of the URL.
func (b *tab) query() url.Values {
	b.Helper()
	q, err := url.ParseQuery(strings.TrimPrefix(eval[string](b, "location.search"), "?"))
	must.NoError(b, err)
	return q
}

// view returns the visible text of a listing, for comparison.
func (b *tab) view() string {
	b.Helper()
	return strings.Join([]string{
		"found " + b.text(".found"), "chips " + strings.Join(b.texts(".chip summary"), " "),
		"headings " + strings.Join(b.texts("#grid th .col-name"), " "), "distributions " + strings.Join(b.texts("#grid .distribution"), " "),
		"rows " + strings.Join(b.texts("#grid tbody tr"), "\n"), "record " + b.text("#record dl"), "pages " + b.text("#pages summary"),
		"call " + b.text("#call code"), "search " + eval[string](b, `document.getElementById("search").value`),
	}, "\n")
}

// allowClipboard grants the tab access to the clipboard.
func (b *tab) allowClipboard() {
	b.Helper()
	for _, name := range []string{"clipboard-write", "clipboard-read"} {
		_, err := chromedp.CallBrowser(b.ctx, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted,
			BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
		})
		must.NoError(b, err)
	}
}

// pick marks the first element that matches a selector and contains a text, and returns a selector
// for the mark.
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

// fill replaces the text of an input with the keyboard.
func (b *tab) fill(selector, text string) {
	b.Helper()
	eval[bool](b, fmt.Sprintf(`(document.querySelector(%q).focus(), document.activeElement.select?.(), true)`, selector))
	b.press(text)
}
