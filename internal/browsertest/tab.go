package browsertest

import (
	"cmp"
	"context"
	"fmt"
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

// WaitTimeout is the timeout of every wait, long enough for a busy machine.
const WaitTimeout = time.Minute

// Options configures a tab. The zero value is a large screen with the light theme and scripts.
type Options struct {
	NoScript bool
	Dark     bool
	Phone    bool    // 360 by 740
	Width    int64   // 0: default
	Height   int64   // 0: default
	Scale    float64 // device pixels per CSS pixel; 0: 1
	Before   string  // script that runs in each page before all others
	Fails    []int   // expected HTTP statuses other than 200
	Also     string  // URL of another server that pages may use; empty: none
}

// Tab is a browser tab with its own profile. Problems in it fail the test when it ends.
type Tab struct {
	*testing.T
	*events
	DevTools context.Context // of commands to the tab
	URL      string          // of the site
	NoScript bool
}

// Open opens a tab for the pages of a site.
func Open(t *testing.T, browser *Browser, url string, opts Options) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser.in(t), chromedp.WithNewBrowserContext())
	b := &Tab{T: t, URL: url, DevTools: ctx, NoScript: opts.NoScript}
	must.NoError(t, chromedp.Do(ctx))
	b.events = listen(ctx, url, opts.Also)
	t.Cleanup(func() {
		cancel()
		b.report(t, opts.Fails)
	})
	Call(b, audits.Enable, cdp.Empty{})
	Call(b, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "https://*"}}})
	Call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	b.Dark(opts.Dark)
	b.Screen(opts)
	Call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: opts.NoScript})
	if opts.Before != "" {
		Call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: opts.Before})
	}
	return b
}

// Dark sets the preferred color scheme of the system.
func (b *Tab) Dark(on bool) {
	b.Helper()
	scheme := "light"
	if on {
		scheme = "dark"
	}
	Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// Screen sets the size of the screen and touch emulation.
func (b *Tab) Screen(opts Options) {
	b.Helper()
	width, height := int64(1280), int64(900)
	if opts.Phone {
		width, height = 360, 740
	}
	Call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: cmp.Or(opts.Width, width), Height: cmp.Or(opts.Height, height), DeviceScaleFactor: max(opts.Scale, 1),
		Mobile: opts.Phone,
	})
	Call(b, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: opts.Phone})
}

// Call sends a DevTools command for the tab.
func Call[P, R any](b *Tab, command cdp.Command[P, R], params P) R {
	b.Helper()
	r, err := chromedp.Call(b.DevTools, command, params)
	if err != nil {
		b.Fatalf("%s: %v", command.Method, err)
	}
	return r
}

// Do runs actions in the tab.
func (b *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.DevTools, WaitTimeout)
	defer cancel()
	must.NoError(b, chromedp.Do(ctx, steps...))
}

// Visit opens a path of the site and returns the HTTP status.
func (b *Tab) Visit(path string) int64 {
	b.Helper()
	return b.VisitAddress(b.URL + path)
}

func (b *Tab) VisitAddress(address string) int64 {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.DevTools, WaitTimeout)
	defer cancel()
	response, err := chromedp.Run(ctx, chromedp.NavigateResponse(address))
	if err != nil {
		b.Fatalf("%s: %v", address, err)
	}
	return response.Status
}

// Eval evaluates a JavaScript expression in the page.
func Eval[V any](b *Tab, js string) V {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.DevTools, WaitTimeout)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[V](js, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", js, err)
	}
	return v
}

// Until waits until a JavaScript expression is true. With scripts, the page observes its own
// mutations, which is cheaper than polling.
func (b *Tab) Until(js string) {
	b.Helper()
	watch := fmt.Sprintf(`new Promise((resolve) => {
		const met = () => { try { return Boolean(%s); } catch { return false; } };
		if (met()) return resolve(true);
		const look = () => met() && end(true);
		const changes = new MutationObserver(look), often = setInterval(look, 50), late = setTimeout(() => end(false), 1000);
		const end = (result) => { changes.disconnect(); clearInterval(often); clearTimeout(late); resolve(result); };
		changes.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
	})`, js)
	if b.NoScript {
		watch = "Boolean(" + js + ")"
	}
	b.Wait(js, func() bool {
		ok, err := chromedp.Run(b.DevTools, chromedp.Evaluate[bool](watch, chromedp.EvalAwaitPromise))
		return err == nil && ok // fails during navigation
	})
}

// Wait waits for a condition and fails the test with its description after the timeout.
func (b *Tab) Wait(what string, met func() bool) {
	b.Helper()
	for deadline := time.Now().Add(WaitTimeout); !met(); {
		if time.Now().After(deadline) || b.DevTools.Err() != nil {
			where, _ := chromedp.Run(b.DevTools, chromedp.Location()) // the message is useful without it
			b.Fatalf("timeout at %s: %s", where, what)
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-b.DevTools.Done():
		}
	}
}

// Center returns the center of the first element that matches a selector, once no other element
// covers it.
func (b *Tab) Center(selector string) (at []float64) {
	b.Helper()
	place := fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e?.scrollIntoView({ block: "center", inline: "center" });
		const r = e?.getClientRects()[0];
		const [x, y] = r ? [r.x + r.width / 2, r.y + r.height / 2] : [];
		return r && e.contains(document.elementFromPoint(x, y)) ? [x, y] : [];
	})()`, selector)
	b.Wait(selector+" can be clicked", func() bool { at = Eval[[]float64](b, place); return len(at) == 2 })
	return at
}

// Click clicks the center of the first element that matches a selector.
func (b *Tab) Click(selector string) {
	b.Helper()
	at := b.Center(selector)
	b.Do(chromedp.MouseClickXY(at[0], at[1]))
	b.Handled()
}

// Handled waits until the page has handled an input and the events that follow from it, such as
// "toggle", which the browser sends later. Without scripts, nothing follows.
func (b *Tab) Handled() {
	b.Helper()
	if b.NoScript {
		return
	}
	ctx, cancel := context.WithTimeout(b.DevTools, WaitTimeout)
	defer cancel()
	// Fails if the input leads to another page, for which tests wait themselves.
	_ = chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void]("new Promise((done) => setTimeout(() => setTimeout(done)))",
		chromedp.EvalAwaitPromise))
}

// Mouse sends one event of the mouse.
func (b *Tab) Mouse(kind input.DispatchMouseEventType, at []float64, button input.MouseButton) {
	b.Helper()
	count := int64(0)
	if kind != input.DispatchMouseEventTypeMouseMoved {
		count = 1
	}
	Call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at[0], Y: at[1], Button: button,
		ClickCount: count})
	b.Handled()
}

// Press types keys.
func (b *Tab) Press(keys string) {
	b.Helper()
	for _, r := range keys {
		events := kb.Encode(r)
		down := *events[0]
		if len(events) == 3 { // send the character with the key, so that the page can prevent it
			down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
		}
		Call(b, input.DispatchKeyEvent, down)
		Call(b, input.DispatchKeyEvent, *events[len(events)-1])
	}
	b.Handled()
}

// Text returns the visible text of the first element that matches a selector; empty if there is
// none.
func (b *Tab) Text(selector string) string {
	b.Helper()
	return Eval[string](b, fmt.Sprintf(`(document.querySelector(%q)?.innerText ?? "").replace(/\s+/g, " ").trim()`,
		selector))
}

// Texts returns the texts of all elements that match a selector.
func (b *Tab) Texts(selector string) []string {
	b.Helper()
	return Eval[[]string](b, fmt.Sprintf(
		`[...document.querySelectorAll(%q)].map((e) => e.textContent.replace(/\s+/g, " ").trim())`, selector))
}

// Count returns the number of elements that match a selector.
func (b *Tab) Count(selector string) int {
	b.Helper()
	return Eval[int](b, fmt.Sprintf(`document.querySelectorAll(%q).length`, selector))
}

// AllowClipboard grants the tab access to the clipboard.
func (b *Tab) AllowClipboard() {
	b.Helper()
	for _, name := range []string{"clipboard-write", "clipboard-read"} {
		_, err := chromedp.CallBrowser(b.DevTools, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: name}, Setting: browser.PermissionSettingGranted,
			BrowserContextID: chromedp.FromContext(b.DevTools).BrowserContextID,
		})
		must.NoError(b, err)
	}
}

// Pick marks the first element that matches a selector and contains a text, and returns a selector
// for the mark.
func (b *Tab) Pick(selector, text string) string {
	b.Helper()
	if !Eval[bool](b, fmt.Sprintf(`(() => {
		for (const e of document.querySelectorAll("[data-pick]")) e.removeAttribute("data-pick");
		const found = [...document.querySelectorAll(%q)].find((e) => e.textContent.replace(/\s+/g, " ").includes(%q));
		found?.setAttribute("data-pick", "");
		return Boolean(found);
	})()`, selector, text)) {
		b.Fatalf("no %s has the text %q; there are %q", selector, text, b.Texts(selector))
	}
	return "[data-pick]"
}

// Fill replaces the text of an input with the keyboard.
func (b *Tab) Fill(selector, text string) {
	b.Helper()
	Eval[bool](b, fmt.Sprintf(`(document.querySelector(%q).focus(), document.activeElement.select?.(), true)`,
		selector))
	b.Press(text)
}
