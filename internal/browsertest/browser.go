// Package browsertest drives a real browser in tests: headless Chromium, over the DevTools
// protocol. Only tests import it.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"herbarium/internal/programtest"
)

// Browser is a browser that is started on first use. The tests of a package share one process.
type Browser struct {
	start  sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	err    error
}

// errMissing reports that no browser is installed.
var errMissing = errors.New("no Chromium is installed; run `make parts` or `apt-get install chromium-headless-shell`")

// in returns the context of the running browser. Without a browser it skips the test, or fails it
// if a browser is required.
func (b *Browser) in(t testing.TB) context.Context {
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

func (b *Browser) run() error {
	names := []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}
	at := slices.IndexFunc(names, func(name string) bool { _, err := exec.LookPath(name); return err == nil })
	if at < 0 {
		return errMissing
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(names[at]), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.WindowSize(1280, 900),
		// Spare renderer processes cost more than they save: each tab would have several.
		chromedp.Flag("disable-features", "Translate,BlinkGenPropertyTrees,SpareRendererForSitePerProcess"),
		// Drawing and network in the process of the browser take a quarter less processor time.
		chromedp.Flag("in-process-gpu", true), chromedp.Flag("enable-features", "NetworkServiceInProcess2"),
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

// Stop ends the browser, after the tests.
func (b *Browser) Stop() {
	if b.cancel != nil {
		b.cancel()
	}
}
