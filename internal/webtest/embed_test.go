package webtest_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"herbarium/internal/must"
)

// otherSite starts a server of another origin with one page, and returns its address.
func otherSite(t *testing.T, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		// a client that is gone needs no page
		_, _ = fmt.Fprint(w, "<!DOCTYPE html><title>Other</title><link rel=icon href=data:,>"+body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// frames returns the frames of the page.
func (b *tab) frames() (found []*cdp.Frame) {
	b.Helper()
	for _, child := range call(b, page.GetFrameTree, cdp.Empty{}).FrameTree.ChildFrames {
		found = append(found, child.Frame)
	}
	return found
}

// evalFrame evaluates a JavaScript expression in the first frame of the page, which may be of
// another origin. It returns the zero value while the frame loads another page.
func evalFrame[V any](b *tab, js string) (v V) {
	b.Helper()
	world, err := chromedp.Call(b.DevTools, page.CreateIsolatedWorld,
		page.CreateIsolatedWorldParams{FrameID: b.frames()[0].ID})
	if err != nil {
		return v
	}
	byValue := true
	result, err := chromedp.Call(b.DevTools, runtime.Evaluate,
		runtime.EvaluateParams{Expression: js, ContextID: world.ExecutionContextID, ReturnByValue: &byValue})
	if err == nil && result.ExceptionDetails == nil {
		must.NoError(b, json.Unmarshal([]byte(result.Result.Value), &v))
	}
	return v
}

// TestEmbed shows a view on a page of another origin, with the HTML that the menu of the view
// offers: the frame shows the rows and is as high as they are, also after a click and on phones.
func TestEmbed(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := open(t, s, tabOptions{})
	b.Visit(catalog + "?category=tree")
	b.settled()
	b.Click("#share > summary")
	b.Click("#share [data-embed] > summary")
	b.Until(`document.querySelector("#share iframe")?.contentDocument.querySelectorAll("tbody tr").length === 10`)
	codes := eval[[]string](b, `[...document.querySelectorAll("#share [data-embed] code")].map((c) => c.textContent)`)

	other := otherSite(t, strings.Join(codes, "\n"))
	b = open(t, s, tabOptions{
		Also: other, Before: `addEventListener("message", ({ data }) => (window.heights ??= []).push(data))`})
	b.VisitAddress(other)
	rows := func(first string) string {
		return fmt.Sprintf(`document.querySelector("tbody th")?.textContent === %q && document.querySelectorAll("tbody tr").length`, first)
	}
	// fits reports whether the frame of the page is as high as its content.
	fits := func() bool {
		return evalFrame[bool](b,
			`((root) => root.scrollWidth === innerWidth && Math.ceil(root.getBoundingClientRect().height) === innerHeight)(document.documentElement)`)
	}
	b.Wait("the frame has rows", func() bool { return evalFrame[any](b, rows("1")) == 10.0 })
	b.Wait("the frame is as high as they are", fits)
	if got := eval[[]map[string]any](b, "heights"); len(got) == 0 || len(got[0]) != 2 ||
		got[0]["type"] != "herbarium-height" || got[0]["height"].(float64) < 300 {
		t.Errorf("the messages are %v", got)
	}
	evalFrame[any](b, `document.querySelector("a[rel=next]").click() ?? true`)
	b.Wait("the frame has the next rows", func() bool { return evalFrame[any](b, rows("11")) == 10.0 })
	b.Screen(tabOptions{Phone: true})
	b.Wait("the frame fits on a phone", fits)
	if got := evalFrame[[]any](b,
		`[document.cookie, document.querySelector("header a").target, location.pathname]`); got[0] != "" ||
		got[1] != "_blank" || !strings.HasPrefix(got[2].(string), "/embed/") {
		t.Errorf("the frame has %v", got)
	}
}

// TestEmbed_refused shows pages in a frame that must not be there, on a page of another origin.
func TestEmbed_refused(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	paths := []string{catalog, catalog + "/about", catalog + "/versions", "/embed/locked/staff", "/", "/key"}
	var body strings.Builder
	for _, path := range paths {
		fmt.Fprintf(&body, `<iframe title="x" src="%s"></iframe>`, html.EscapeString(s.url+path))
	}
	other := otherSite(t, body.String())
	b := open(t, s, tabOptions{Also: other, Fails: []int{400, 401}})
	b.Expect("frame-ancestors", "X-Frame-Options", "ERR_BLOCKED_BY_RESPONSE")
	b.VisitAddress(other)
	b.Until("document.readyState === 'complete'")
	frames := b.frames()
	for i, f := range frames {
		if f.UnreachableURL != s.url+paths[i] {
			t.Errorf("the frame of %s shows %s", paths[i], f.URL)
		}
	}
	if len(frames) != len(paths) {
		t.Errorf("the page has %d frames", len(frames))
	}
}
