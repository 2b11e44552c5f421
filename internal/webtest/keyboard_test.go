package webtest_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"herbarium/internal/must"
)

// position returns the row and the column of the focused cell, the header being row 0; -1 outside
// the grid.
func (b *tab) position() [2]int {
	b.Helper()
	return eval[[2]int](b, `(() => {
		const cell = document.activeElement;
		return cell.matches("#grid th, #grid td") ? [cell.parentElement.rowIndex, cell.cellIndex] : [-1, -1];
	})()`)
}

// wantFocus checks that the focused element matches a selector.
func (b *tab) wantFocus(what, selector string) {
	b.Helper()
	if !eval[bool](b, "document.activeElement.matches("+quote(selector)+")") {
		b.Errorf("%s: the focus is on %s, want %s", what,
			eval[string](b, "document.activeElement.outerHTML.slice(0, 200)"), selector)
	}
}

// pressWith presses a key with modifiers.
func (b *tab) pressWith(modifiers int64, key, code string) {
	b.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown,
		input.DispatchKeyEventTypeKeyUp} {
		call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: key, Code: code,
			Modifiers: modifiers})
	}
	b.Handled()
}

// maxTabs is how often Tab may have to be pressed to reach the grid.
const maxTabs = 18

// TestKeyboard uses the grid with the keyboard only.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(catalog)
	b.settled()
	tabs := 0
	for ; tabs <= maxTabs && b.position()[0] < 0; tabs++ {
		b.Press(kb.Tab)
	}
	if tabs > maxTabs {
		t.Fatalf("after %d tabs the focus is on %s", tabs,
			eval[string](b, "document.activeElement.outerHTML.slice(0, 200)"))
	}
	if stops := eval[int](b,
		`[...document.querySelectorAll("#grid, #grid *")].filter((e) => e.tabIndex >= 0 && e.checkVisibility() &&
		!e.closest("details:not([open]) > :not(summary)")).length`); stops != 1 {
		t.Errorf("the grid has %d tab stops", stops)
	}
	rows, columns := b.Count("#grid tr")-1, b.Count("#grid thead th")-1
	start := b.position()
	for _, step := range []struct {
		name, keys string
		want       [2]int
	}{
		{"down", kb.ArrowDown, [2]int{start[0] + 1, start[1]}},
		{"right", kb.ArrowRight, [2]int{start[0] + 1, start[1] + 1}},
		{"end", kb.End, [2]int{start[0] + 1, columns}},
		{"right at the end", kb.ArrowRight, [2]int{start[0] + 1, columns}},
		{"home", kb.Home, [2]int{start[0] + 1, 0}},
		{"left at the start", kb.ArrowLeft, [2]int{start[0] + 1, 0}},
		{"up to the header", kb.ArrowUp + kb.ArrowUp, [2]int{0, 0}},
		{"right in the header", kb.ArrowRight, [2]int{0, 1}},
	} {
		b.Press(step.keys)
		if got := b.position(); got != step.want {
			t.Errorf("%s leads to %v, want %v", step.name, got, step.want)
		}
	}
	b.Press(kb.ArrowDown + kb.PageDown)
	if got := b.position(); got[0] < 10 || got[0] > rows {
		t.Errorf("page down leads to %v", got)
	}
	if !eval[bool](b, `(() => { const r = document.activeElement.getBoundingClientRect();
		return document.activeElement.contains(document.elementFromPoint(r.x + 3, r.y + 3)); })()`) {
		t.Error("the focused cell is covered")
	}
	b.pressWith(2, "End", "End")
	b.focusedRow(eval[int](b, `Number(document.querySelector("#grid table").ariaRowCount) - 1`))
	if got := b.position(); got[1] != columns {
		t.Errorf("ctrl+end leads to %v", got)
	}
	b.Press(kb.Tab)
	if got := b.position(); got[0] >= 0 {
		t.Errorf("tab stays in the grid at %v", got)
	}

	// The header opens the menu of a column.
	b.Visit(catalog)
	b.settled()
	eval[bool](b, `(document.querySelector("#grid th[data-field=price]").focus(), true)`)
	b.Press(kb.Enter)
	b.wantFocus("enter in the header", "th[data-field=price] .popover a")
	first := eval[string](b, "document.activeElement.textContent")
	for _, step := range []struct{ name, keys, want string }{
		{"down in the menu", kb.ArrowDown, "Sort descending"}, {"up", kb.ArrowUp, first},
		{"up at the start", kb.ArrowUp, "Copy name"},
		{"down at the end", kb.ArrowDown, first}, {"end", kb.End, "Copy name"}, {"home", kb.Home, first},
	} {
		b.Press(step.keys)
		if got := eval[string](b, "document.activeElement.textContent"); got != step.want {
			t.Errorf("%s leads to %q, want %q", step.name, got, step.want)
		}
	}
	b.Press(kb.Escape)
	b.wantFocus("escape from the menu", "th[data-field=price]")
	if b.Count("#grid details[open]") > 0 {
		t.Error("escape leaves the menu open")
	}

	// Arrows outside the grid belong to the browser.
	b.Press("/")
	b.wantFocus("/", "#search")
	b.Press(kb.ArrowRight)
	b.wantFocus("arrows in the search", "#search")
	b.Press(kb.Escape)
	b.Press(kb.ArrowDown + kb.ArrowLeft)
	b.wantFocus("arrows outside", "body")
	b.wantQuery("")
	b.Press("?")
	b.Until("document.querySelector('#help:modal')?.contains(document.activeElement)")
	if help := b.Text("#help"); !strings.Contains(help, "menu of the cell") || !strings.Contains(help, "next record") {
		t.Errorf("the help says %q", help)
	}
	b.Press("/") // shortcuts are inactive while the help is open
	b.wantFocus("/ in the help", "#help *")
	b.Press(kb.Escape)
	b.Until("!document.getElementById('help').open")
}

// TestCellMenu copies, filters and excludes the value of a cell, with the keyboard and the mouse.
func TestCellMenu(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.AllowClipboard()
	b.Visit(catalog + "?sort=id")
	b.settled()
	focus := func(field string) string {
		t.Helper()
		cell := eval[string](b, `(() => { const cell = document.querySelector("#grid tbody tr:nth-child(3)").cells[
			document.querySelector("#grid th[data-field=`+field+`]").cellIndex]; cell.focus();
			return cell.dataset.raw ?? ([...cell.querySelectorAll(".tag")].map((tag) => tag.textContent).join() || cell.textContent); })()`)
		return cell
	}
	menu := func() []string {
		b.Helper()
		b.Until(`document.querySelector("#popup:popover-open")`)
		return b.Texts("#popup button")
	}
	price := focus("price")
	b.Press("m")
	if diff := cmp.Diff([]string{"Copy value", "Filter by " + price, "Exclude " + price, "At least " + price,
		"At most " + price}, menu()); diff != "" {
		t.Errorf("the menu differs (-want +got):\n%s", diff)
	}
	b.Press(kb.ArrowDown + kb.ArrowUp + kb.Enter)
	b.Until("document.getElementById('status').textContent === 'Value copied'")
	if got := eval[string](b, "navigator.clipboard.readText()"); got != price {
		t.Errorf("copied %q, the value is %q", got, price)
	}
	b.wantFocus("after the menu", "#grid tbody tr:nth-child(3) td")
	focus("description") // too long to be part of the page
	b.pressWith(2, "c", "KeyC")
	want := b.agree().Data[2]["description"]
	b.Wait("the description is copied",
		func() bool { return eval[string](b, "navigator.clipboard.readText()") == want })
	b.Click("#share > summary")
	b.Click("[data-share]")
	b.Until("document.querySelector('[data-share]').textContent === 'Link copied'")
	if got, want := eval[string](b, "navigator.clipboard.readText()"), eval[string](b, "location.href"); got != want {
		t.Errorf("shared %q, want %q", got, want)
	}
	category := focus("category")
	b.pressWith(8, "F10", "F10")
	menu()
	b.next(func() { b.Press(kb.ArrowDown + kb.ArrowDown + kb.Enter) })
	b.wantQuery("category%5Bne%5D=" + category + "&sort=id")
	if l := b.agree(); l.Meta.Total == 0 || strings.Contains(strings.Join(b.column("category"), " "), category) {
		t.Errorf("%s is not excluded", category)
	}
	b.wantFocus("after the page has changed", "#grid tbody tr:nth-child(3) td")
	tags := strings.Split(focus("tags"), ",")
	b.pressWith(0, "ContextMenu", "ContextMenu")
	if got := menu(); got[1] != "Filter by "+tags[0] || len(got) != 1+2*len(tags) {
		t.Errorf("the menu of a list is %q", got)
	}
	b.Press(kb.Escape)
	b.Until(`!document.querySelector("#popup:popover-open")`)
	b.Visit(catalog + "?sort=id")
	b.settled()
	at := b.Center("#grid tbody tr:nth-child(2) td:nth-child(5)")
	b.Mouse(input.DispatchMouseEventTypeMousePressed, at, input.MouseButtonRight)
	b.Mouse(input.DispatchMouseEventTypeMouseReleased, at, input.MouseButtonRight)
	menu()
	b.follow(b.Pick("#popup button", "Filter by"))
	if l := b.agree(); l.Meta.Total == 0 || len(b.query()) != 2 {
		t.Errorf("%d rows for %v", l.Meta.Total, b.query())
	}
}

// TestCellMenu_lists filters by the elements of lists as they are written: trimmed, and those of
// JSON arrays.
func TestCellMenu_lists(t *testing.T) {
	t.Parallel()
	l := &library{}
	t.Cleanup(l.stop)
	must.NoError(t, l.open(t.Context()))
	must.NoError(t, l.publishFiles(t.Context(), map[string]string{
		"lists/plants.json": `[{"id": 1, "tags": "red, tall", "parts": ["leaf, green", "stem"]},
			{"id": 2, "tags": "tall, r1, r2, r3, r4, r5, r6", "parts": ["stem"]}, {"id": 3, "tags": "", "parts": []}]`,
	}))
	must.NoError(t, l.data.Library.Refresh(t.Context()))
	b := open(t, l.serve(t, nil), tabOptions{})
	for _, tt := range []struct {
		column, menu string
		total        int
	}{
		{"tags", "Filter by tall", 2},
		{"tags", "Exclude tall", 1},
		{"parts", "Filter by leaf, green", 1},
		{"parts", "Exclude stem", 1},
	} {
		b.Visit("/datasets/lists/plants")
		b.settled()
		eval[bool](b, `(document.querySelector("#grid tbody tr").cells[document.querySelector("#grid th[data-field=`+
			tt.column+`]").cellIndex].focus(), true)`)
		b.Press("m")
		b.Until(`document.querySelector("#popup:popover-open")`)
		b.next(func() { b.Click(b.Pick("#popup button", tt.menu)) })
		if l := b.agree(); l.Meta.Total != tt.total {
			t.Errorf("%s of %s finds %d rows with %v, want %d", tt.menu, tt.column, l.Meta.Total, b.query(), tt.total)
		}
	}
	b.Visit("/datasets/lists/plants")
	b.settled()
	eval[bool](b, `(document.querySelector("#grid tbody tr:nth-child(2)").cells[document.querySelector("#grid th[data-field=tags]").cellIndex].focus(), true)`)
	b.Press("m")
	b.Until(`document.querySelector("#popup:popover-open")`)
	if got := b.Texts("#popup button"); len(got) != 1+2*7 || got[7] != "Filter by r6" {
		t.Errorf("the menu of a list with more elements than the cell shows is %q", got)
	}
}

// TestRecordByKeyboard opens a record, goes to the next one and closes it. If the record fills the
// screen, focus stays within it; beside the grid, it covers no focusable element.
func TestRecordByKeyboard(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	for _, screen := range []struct {
		name  string
		opts  tabOptions
		fills bool
		row   string // what opens a record
	}{{"phone", tabOptions{Phone: true}, true, "th a"}, {"laptop", tabOptions{Width: 1100}, false, "td"}} {
		b.Screen(screen.opts)
		b.Visit(catalog + "?per_page=10&category=herb")
		b.settled()
		eval[bool](b, `(document.querySelector("#grid tbody tr:nth-child(2) `+screen.row+`").focus(), true)`)
		b.next(func() { b.Press(kb.Enter) })
		b.wantFocus(screen.name+": enter", "#record")
		second := b.Text("#record dl")
		b.next(func() { b.Press("j") })
		if b.Text("#record dl") == second {
			t.Errorf("%s: j does not lead to the next record", screen.name)
		}
		b.next(func() { b.Press("k") })
		if b.Text("#record dl") != second {
			t.Errorf("%s: k does not lead back", screen.name)
		}
		var seen []string
		for range 30 { // more than the record has
			b.Press(kb.Tab)
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
		}
		if !strings.Contains(strings.Join(seen, ""), `data-record="next"`) {
			t.Errorf("%s: the tab order is %q", screen.name, seen)
		}
		eval[bool](b, `(document.querySelector("[data-record=next]").focus(), true)`)
		b.next(func() { b.Press(kb.Escape) })
		if b.Count("#record") != 0 {
			t.Errorf("%s: escape does not close the record", screen.name)
		}
		b.wantFocus(screen.name+": after it is closed", "#grid tbody tr:nth-child(2) "+screen.row)
	}
	b.Screen(tabOptions{})
	b.Visit(catalog)
	b.settled()
	b.follow("#grid tbody tr:nth-child(4) td:nth-child(3)") // a click on a row opens it, too
	b.wantQuery("_record=4")
}

// TestTabs tabs through all focusable elements and checks that they come in document order, visible
// and with a focus mark.
func TestTabs(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Width: 1440})
	b.Visit(catalog + "?category=herb&per_page=10&_record=2")
	b.settled()
	eval[bool](b, `(() => {
		document.querySelector(".skip").focus(); // initially on the record
		window.walk = { last: null, seen: 0, wrong: [] };
		window.look = () => {
			const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect(), name = e.outerHTML.slice(0, 120);
			if (e === document.body) return false;
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
		b.Press(kb.Tab)
	}
	if wrong := eval[[]string](b, "walk.wrong"); len(wrong) > 0 {
		t.Errorf("on the way:\n%s", strings.Join(wrong, "\n"))
	}
	reachable := eval[int](b, `
		[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary, [tabindex='0']")]
		.filter((e) => e.tabIndex >= 0 && e.checkVisibility({ visibilityProperty: true }) && !e.closest("dialog")).length`)
	if seen := eval[int](b, "walk.seen"); seen != reachable {
		t.Errorf("%d elements were reached, there are %d; the last was %s", seen, reachable,
			eval[string](b, "walk.last.outerHTML.slice(0, 200)"))
	}
	// The first link skips the header.
	b.Visit(catalog)
	b.settled()
	b.Press(kb.Tab)
	if got := b.Text(":focus"); got != "Skip to content" {
		t.Errorf("first is %q", got)
	}
	b.Press(kb.Enter)
	b.Until("location.hash === '#main'")
	b.Press(kb.Tab)
	if b.position()[0] < 0 {
		t.Error("the first link does not lead to the grid")
	}
}

// TestCopyWithoutClipboard copies a cell of a page that is not served over https: browsers give it
// no clipboard. The command that copies is replaced, because all tabs share the clipboard.
func TestCopyWithoutClipboard(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Before: `
		Object.defineProperty(navigator, "clipboard", { value: undefined });
		document.execCommand = (command) => {
			const event = new ClipboardEvent(command, { clipboardData: new DataTransfer(), bubbles: true, cancelable: true });
			document.activeElement.dispatchEvent(event);
			window.copied = event.clipboardData.getData("text/plain");
			return event.defaultPrevented;
		};`})
	b.Visit(catalog + "?id=7")
	b.settled()
	const title = "#grid tbody td"
	eval[bool](b, `(document.querySelector("`+title+`").focus(), true)`)
	b.pressWith(2, "c", "KeyC") // Ctrl
	b.Until("document.getElementById('status').textContent === 'Value copied'")
	if got, want := eval[string](b, "copied"), b.Text(title); got != want {
		t.Errorf("%q is copied, want %q", got, want)
	}
}
