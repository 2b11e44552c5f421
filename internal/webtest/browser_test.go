// Package webtest_test holds the pages against what a real browser makes of them: Chromium, headless, driven over its own
// protocol. One browser serves all tests; each has a profile of its own in it.
package webtest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "write the pictures of the documentation")

func TestMain(m *testing.M) {
	code := m.Run()
	chromium.stop()
	shared.stop()
	os.Exit(code)
}

// chromium is the browser of all tests.
var chromium browserProcess

// browserProcess is a browser that starts when it is first needed and ends with the tests.
type browserProcess struct {
	start  sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	err    error
}

// errMissing says that there is no browser to run.
var errMissing = errors.New("there is no Chromium; `make parts` or `apt-get install chromium` installs it")

// in returns the context of the running browser. Without one the test is skipped, or fails if that is asked for.
func (b *browserProcess) in(t testing.TB) context.Context {
	t.Helper()
	b.start.Do(func() { b.err = b.run() })
	if errors.Is(b.err, errMissing) {
		skipUnlessRequired(t, "chromium", b.err.Error())
	}
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b.ctx
}

// skipUnlessRequired skips a test for which a part is missing, or fails it where HERBARIUM_TEST_REQUIRE asks for the part.
func skipUnlessRequired(t testing.TB, part, missing string) {
	t.Helper()
	if required := os.Getenv("HERBARIUM_TEST_REQUIRE"); required == "all" || strings.Contains(required, part) {
		t.Fatal(missing)
	}
	t.Skip(missing)
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
		// A process in store for the next page costs more than it saves: each tab would have several.
		chromedp.Flag("disable-features", "Translate,BlinkGenPropertyTrees,SpareRendererForSitePerProcess"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), // nothing leaves this machine
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
