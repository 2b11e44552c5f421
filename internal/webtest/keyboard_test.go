package webtest_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestKeyboard uses the pages with the keyboard only.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.visit(catalog)
	b.settled()
	focused := func(what, want string) {
		t.Helper()
		if !eval[bool](b, "document.activeElement.matches("+quote(want)+")") {
			t.Errorf("%s: the focus is on %s, want %s", what, eval[string](b, "document.activeElement.outerHTML.slice(0, 200)"), want)
		}
	}
	b.press("/")
	focused("/", "#search")
	b.next(func() { b.press("fern/?") })
	b.until("document.getElementById('search').value === 'fern/?'") // shortcuts are text in the search box
	b.settled()
	b.press(kb.Escape)
	focused("escape from the search", "body")
	b.press("/")
	b.next(func() { b.press("fern ") })
	b.until("new URLSearchParams(location.search).get('search') === 'fern '")
	b.settled()
	b.press(kb.Escape)

	b.press(kb.ArrowDown)
	focused("down", ".results tbody tr:nth-child(1) th a")
	b.press(kb.ArrowDown)
	focused("down", ".results tbody tr:nth-child(2) th a")
	b.press(kb.ArrowDown)
	b.press(kb.ArrowUp)
	focused("down and up", ".results tbody tr:nth-child(2) th a")
	b.next(func() { b.press(kb.Enter) })
	focused("enter", "#record")
	second := b.text("#record dl")
	b.next(func() { b.press(kb.ArrowRight) })
	if b.text("#record dl") == second {
		t.Error("right does not lead to the next record")
	}
	b.next(func() { b.press(kb.ArrowLeft) })
	if b.text("#record dl") != second {
		t.Error("left does not lead back")
	}
	b.next(func() { b.press(kb.Escape) })
	if b.count("#record") != 0 {
		t.Error("escape does not close the record")
	}
	focused("escape from the record", ".results tbody tr:nth-child(2) th a")

	b.visit(catalog)
	b.settled()
	b.next(func() { b.press(kb.ArrowRight) })
	b.wantQuery("page=2")
	b.next(func() { b.press(kb.ArrowLeft) })
	b.agree()
	b.wantQuery("")

	b.press("?")
	if !eval[bool](b, "document.querySelector('#help:modal')?.contains(document.activeElement) ?? false") {
		t.Error("? does not open the help")
	}
	if help := b.text("#help"); !strings.Contains(help, "next row") || !strings.Contains(help, "next page") {
		t.Errorf("the help says %q", help)
	}
	b.press("/") // shortcuts are inactive while the help is open
	focused("/ in the help", "#help *")
	b.press(kb.Escape)
	b.until("!document.getElementById('help').open")
	b.click("[data-help]")
	b.until("document.getElementById('help').open")
}

// TestRecordByKeyboard opens the record panel, tabs through it and closes it. If it fills the screen, focus stays within it;
// beside the table, it covers no focusable element.
func TestRecordByKeyboard(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	for _, screen := range []struct {
		name  string
		opts  tabOptions
		fills bool
	}{
		{"phone", tabOptions{phone: true}, true}, {"tablet", tabOptions{width: 768}, true},
		{"laptop", tabOptions{width: 1100}, false}, {"large", tabOptions{width: 1920}, false},
	} {
		b.screen(screen.opts)
		b.visit(catalog + "?per_page=5&category=herb")
		b.settled()
		b.press(kb.ArrowDown + kb.ArrowDown)
		b.next(func() { b.press(kb.Enter) })
		if got := eval[string](b, "document.activeElement.id"); got != "record" {
			t.Fatalf("%s: the focus is on %q", screen.name, got)
		}
		var seen []string
		outside := 0
		for range 40 { // more than the panel has
			b.press(kb.Tab)
			at := eval[struct {
				Name            string
				Within, Covered bool
			}](b, `(() => {
				const e = document.activeElement, r = e.getClientRects()[0], record = document.getElementById("record");
				const top = r && document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
				const none = e === document.body, within = record.contains(e);
				return { name: e.outerHTML.slice(0, 120), within: within || none, covered: !none && !within && record.contains(top) };
			})()`)
			seen = append(seen, at.Name)
			if at.Covered || screen.fills && !at.Within {
				t.Fatalf("%s: behind the record, the focus is on %s", screen.name, at.Name)
			}
			if !at.Within {
				outside++
			}
		}
		if !strings.Contains(strings.Join(seen, ""), `data-record="next"`) || outside == 0 && !screen.fills {
			t.Errorf("%s: the way leads over %q", screen.name, seen)
		}
		b.next(func() { b.press(kb.Escape) })
		if !eval[bool](b, `document.activeElement.matches(".results tbody tr:nth-child(2) th a")`) || b.count("#record") != 0 {
			t.Errorf("%s: after it is closed the focus is on %s", screen.name,
				eval[string](b, "document.activeElement.outerHTML.slice(0, 200)"))
		}
	}
}

// TestTabs tabs through all focusable elements and checks that they come in document order, visible and with a focus mark.
func TestTabs(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.visit(catalog + "?category=herb&per_page=10&_record=2")
	b.settled()
	eval[bool](b, `(() => {
		document.querySelector(".skip").focus(); // initially on the record
		scrollTo(0, 0);
		window.walk = { last: null, seen: 0, wrong: [] };
		window.look = () => {
			const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect(), name = e.outerHTML.slice(0, 120);
			if (e === document.body) return false;
			if (walk.last === e) return true; // a date has several parts
			if (walk.last && !(walk.last.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING)) return false;
			if (!e.matches(":focus-visible") || s.outlineStyle === "none" || parseFloat(s.outlineWidth) < 2)
				walk.wrong.push("not marked: " + name);
			if (r.width < 1 || r.height < 1 || r.right < 0 || r.bottom < 0 || r.top > innerHeight || r.left > innerWidth)
				walk.wrong.push("not in view: " + name);
			walk.last = e;
			walk.seen++;
			return true;
		};
		return true;
	})()`)
	for eval[bool](b, "look()") {
		b.press(kb.Tab)
	}
	if wrong := eval[[]string](b, "walk.wrong"); len(wrong) > 0 {
		t.Errorf("on the way:\n%s", strings.Join(wrong, "\n"))
	}
	reachable := eval[int](b, `
		[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary, [tabindex='0']")]
		.filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest("dialog")).length`)
	if seen := eval[int](b, "walk.seen"); seen != reachable {
		t.Errorf("%d elements were reached, there are %d; the last was %s", seen, reachable,
			eval[string](b, "walk.last.outerHTML.slice(0, 200)"))
	}
	// The first link skips the header.
	b.visit(catalog)
	b.press(kb.Tab)
	if got := b.text(":focus"); got != "Skip to content" {
		t.Errorf("first is %q", got)
	}
	b.press(kb.Enter)
	b.until("location.hash === '#main'")
	b.press(kb.Tab)
	if !eval[bool](b, "document.getElementById('main').contains(document.activeElement)") {
		t.Error("the first link does not skip the head of the page")
	}
}
