// Package webtest_test tests the pages in a real browser: headless Chromium, driven over the
// DevTools protocol. All tests share one browser process; each has its own profile.
package webtest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"herbarium/internal/programtest"
)

var update = flag.Bool("update", false, "write the pictures of the documentation")

func TestMain(m *testing.M) {
	code := m.Run()
	chromium.stop()
	shared.stop()
	press.stop()
	os.Exit(code)
}

// chromium is the browser that all tests share.
var chromium browserProcess

// browserProcess is a browser that is started on first use and stopped after the tests.
type browserProcess struct {
	start  sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	err    error
}

// errMissing reports that no browser is installed.
var errMissing = errors.New("no Chromium is installed; run `make parts` or `apt-get install chromium`")

// in returns the context of the running browser. Without a browser it skips the test, or fails it
// if a browser is required.
func (b *browserProcess) in(t testing.TB) context.Context {
	t.Helper()
	b.start.Do(func() { b.err = b.run() })
	if errors.Is(b.err, errMissing) {
		programtest.SkipWithout(t, "chromium", b.err.Error())
	}
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b.ctx
}

func (b *browserProcess) run() error {
	names := []string{"chromium", "chromium-browser", "google-chrome"}
	at := slices.IndexFunc(names, func(name string) bool { _, err := exec.LookPath(name); return err == nil })
	if at < 0 {
		return errMissing
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(names[at]), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true), chromedp.WindowSize(1280, 900),
		// Spare renderer processes cost more than they save: each tab would have several.
		chromedp.Flag("disable-features", "Translate,BlinkGenPropertyTrees,SpareRendererForSitePerProcess"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), // no request leaves this machine
	)
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator)
	b.ctx, b.cancel = ctx, func() { stop(); stopAllocator() }
	if err := chromedp.Do(ctx); err != nil {
		return fmt.Errorf("starting %s: %w", names[at], err)
	}
	return nil
}

func (b *browserProcess) stop() {
	if b.cancel != nil {
		b.cancel()
	}
}
