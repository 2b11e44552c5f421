// Package webtest_test tests the pages in a real browser. All tests share one browser process; each
// has its own profile.
package webtest_test

import (
	"flag"
	"os"
	"testing"

	"github.com/chromedp/cdproto/cdp"

	"herbarium/internal/browsertest"
)

var update = flag.Bool("update", false, "write the pictures of the documentation")

func TestMain(m *testing.M) {
	code := m.Run()
	chromium.Stop()
	shared.stop()
	press.stop()
	os.Exit(code)
}

// chromium is the browser that all tests share.
var chromium browsertest.Browser

type tabOptions = browsertest.Options

// tab is a tab that shows the pages of a site.
type tab struct {
	*browsertest.Tab
	*site
}

func open(t *testing.T, s *site, opts tabOptions) *tab {
	t.Helper()
	return &tab{Tab: browsertest.Open(t, &chromium, s.url, opts), site: s}
}

// eval evaluates a JavaScript expression in the page.
func eval[V any](b *tab, js string) V { b.Helper(); return browsertest.Eval[V](b.Tab, js) }

// call sends a DevTools command for the tab.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.Helper()
	return browsertest.Call(b.Tab, command, params)
}
