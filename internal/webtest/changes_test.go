package webtest_test

import (
	"strings"
	"testing"
)

// TestChanges chooses two versions, narrows their changes down, opens the history of a record, and
// checks the pages with axe-core: on wide and narrow screens, with and without a script.
func TestChanges(t *testing.T) {
	t.Parallel()
	script := axeScript(t)
	s := newSite(t, nil)
	for _, opts := range []tabOptions{{NoScript: true, Phone: true}, {}} {
		b := open(t, s, opts)
		b.Visit(catalog + "/versions")
		b.settled()
		b.Click("#compare button")
		b.Until(`location.pathname === ` + quote(catalog+"/changes"))
		b.settled()
		if got := b.query(); got.Get("_from") != b.olderVersion(t) {
			t.Errorf("%+v: the form leads to %v", opts, got)
		}
		b.follow(".kind.added")
		total := b.Text(".kind.added i")
		if got := b.Texts(".diff tbody .op"); b.query().Get("_op") != "added" || len(got) == 0 ||
			strings.TrimSpace(got[0]) != "+ added" {
			t.Errorf("%+v: %s changes are %q", opts, total, got)
		}
		if got := b.Text(".pages summary"); !strings.Contains(got, strings.TrimPrefix(total, "+")) {
			t.Errorf("%+v: the pages are %q, want %s changes", opts, got, total)
		}
		if w := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); w > 0 {
			t.Errorf("%+v: the page is %d pixels too wide", opts, w)
		}
		if opts.NoScript {
			if w := eval[int](b, `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector(".diff"))`); w > 0 {
				t.Errorf("cards are %d pixels too wide", w)
			}
			b.Click(".diff tbody .op a")
			b.Until(`document.querySelector(".history")`)
			if got := b.Texts(".diff tbody .what"); len(got) != 2 || !strings.Contains(got[0], "added") {
				t.Errorf("the history is %q", got)
			}
			continue
		}
		b.Visit(catalog + "/changes?per_page=3")
		b.settled()
		eval[bool](b, script)
		b.axe("changes, light", "", allRules)
		b.Dark(true)
		b.axe("changes, dark", "", colorRules)
	}
}
