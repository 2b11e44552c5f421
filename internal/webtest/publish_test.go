package webtest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestPublishing publishes a new dataset: file, review, edits, publish, grid, versions.
func TestPublishing(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		t.Run(fmt.Sprintf("script=%v", script), func(t *testing.T) {
			t.Parallel()
			ref := fmt.Sprintf("nursery/new-%v", script)
			b := open(t, newPress(t, nil), tabOptions{NoScript: !script, Fails: []int{401}})
			b.enterKey()
			b.chooseFiles(ref, file(t, "Prices.csv", stockCSV()))
			b.send()
			if got := b.Text("#r3"); !strings.HasPrefix(got, "header") || b.Count("tr.left-out") != 4 {
				t.Errorf("row 3 is %q, %d rows are left out", got, b.Count("tr.left-out"))
			}
			if got := b.Text(".publish-foot .primary"); got != "Publish 40 records" {
				t.Errorf("the button is %q", got)
			}
			b.change(func() { b.setValue("#title", "What <b>we</b> sell") })
			b.change(func() { b.setValue("#name-2", "cost") })
			b.change(func() { b.setValue("#title-2", "Price in €") })
			b.edit(func() { b.Click("button[value='hide 3']") })
			b.change(func() {
				b.Click(".choose summary")
				b.Click("input[name=key][value=Code]")
			})
			if got := b.Text("#key-value"); got != "Code" {
				t.Errorf("the primary key is %q", got)
			}
			b.Click(".publish-foot .primary")
			b.live(ref)
			if got := b.Text(".bar1 h1"); got != "What <b>we</b> sell" {
				t.Errorf("the title is %q", got)
			}
			if got := strings.Join(b.Texts("#grid th .col-name"), " "); got != "Code Name Price in €" {
				t.Errorf("the columns are %s", got)
			}
			if got := b.Text(".done"); !strings.HasPrefix(got, "Published. 40 rows are live.") ||
				strings.Contains(got, "Undo") {
				t.Errorf("the page says %q", got)
			}
			if l := get(t, b.url+"/api/v1/"+ref+"/data?cost=1.50"); l.Meta.Total != 1 || l.Data[0]["Code"] != "00041" {
				t.Errorf("the API lists %+v", l)
			}
		})
	}
}

// TestPublishing_breaking replaces a dataset with a file whose prices have words, with each remedy.
func TestPublishing_breaking(t *testing.T) {
	t.Parallel()
	s := newPress(t, nil)
	const ref = "nursery/prices"
	press.publishText(t, ref, "stock.csv", liveCSV())
	b := open(t, s, tabOptions{Fails: []int{401, 409}})
	b.enterKey()
	b.chooseFiles(ref, file(t, "stock.csv", stockCSV("", "", "", "from 20", "from 20")))
	b.send()
	if got := b.Text(".breaking-change"); !strings.HasPrefix(got,
		"Breaking: Price would become text 2 values are not numbers: “from 20”.") {
		t.Fatalf("the change is %q", got)
	}
	if got := b.Text(".differences"); !strings.Contains(got, "+ 2 new records") ||
		!strings.Contains(got, "+ 1 column: Weight") {
		t.Errorf("the differences are %q", got)
	}
	if got := b.Texts("td.marked"); len(got) == 0 || got[0] != "from 20" {
		t.Errorf("the marked cells are %q", got)
	}
	b.Click(b.Pick(".breaking-change a", "Show the rows"))
	b.Until(`(() => { const cell = document.querySelector("tr:target td.marked"), r = cell?.getBoundingClientRect();
		return r && cell.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)); })()`)

	// Nothing is published without consent.
	b.Click(".publish-foot .primary")
	b.Until(`document.querySelector(".settings .notice")`)
	if got := b.Text(".settings .notice"); !strings.Contains(got, "select the checkbox") {
		t.Errorf("the reason is %q", got)
	}
	b.reviewed()

	// Each remedy, and back.
	b.edit(func() { b.Click(b.Pick(".breaking-change button", "Publish as text")) })
	if b.Count(".breaking-change") != 1 || b.Count("#type-2 option[value=text][selected]") != 1 {
		t.Error("the column is not published as text")
	}
	b.edit(func() { b.Click("button[value='undo 2']") })
	b.edit(func() { b.Click(b.Pick(".breaking-change button", "Treat as missing")) })
	if b.Count(".breaking-change") != 0 || b.Count("td.missing") == 0 {
		t.Errorf("treated as missing: %d breaking changes, %d missing cells", b.Count(".breaking-change"),
			b.Count("td.missing"))
	}
	b.Click(".publish-foot .primary")
	b.live(ref)
	if l := get(t, b.url+"/api/v1/"+ref+"/data?Price[gte]=40"); l.Meta.Total != 1 {
		t.Errorf("prices are not numbers: %+v", l)
	}

	// Undo brings the version before it back.
	b.Click(".done button")
	b.Until(`location.pathname.endsWith("/versions") && document.querySelector(".done")`)
	b.settled()
	if l := get(t, b.url+"/api/v1/"+ref+"/data"); l.Meta.Total != 38 {
		t.Errorf("%d records are live", l.Meta.Total)
	}
	b.Click(b.Pick(".rollback summary", "Make this version live again"))
	b.Click(".rollback[open] button")
	b.Until(`document.querySelector(".done") && document.querySelector(".versions li.live").textContent.includes("40 rows")`)
	if l := get(t, b.url+"/api/v1/"+ref+"/data"); l.Meta.Total != 40 {
		t.Errorf("%d records are live", l.Meta.Total)
	}

	// With consent, the column becomes text.
	b.Visit("/publish?namespace=nursery&dataset=prices")
	b.chooseFiles(ref, file(t, "stock.csv", stockCSV("ask", "us", "why")))
	b.send()
	if got := b.Text("th.wrong"); !strings.Contains(got, "“ask”") && !strings.Contains(got, `"ask"`) {
		t.Errorf("values that do not fit the declared type are not named: %q", got)
	}
	b.edit(func() { b.Click(b.Pick("th.wrong button", "Publish as text")) })
	b.Click("[name=consent]")
	b.Click(".publish-foot .primary")
	b.live(ref)
	if l := get(t, b.url+"/api/v1/"+ref+"/data?Price=why"); l.Meta.Total != 1 {
		t.Errorf("the text is not published: %+v", l)
	}
}

// TestPublishing_rows keeps, drops and names rows, and undoes a type that does not fit.
func TestPublishing_rows(t *testing.T) {
	t.Parallel()
	b := open(t, newPress(t, nil), tabOptions{Fails: []int{401}})
	b.enterKey()
	b.chooseFiles("nursery/rows", file(t, "rows.csv", stockCSV()))
	b.send()
	b.edit(func() { b.Click("#r45 .label") })
	if got := b.Text("#r45 .what"); !strings.HasPrefix(got, "kept by you") ||
		b.Text(".publish-foot .primary") != "Publish 41 records" {
		t.Errorf("the footnote is %q, the button %q", got, b.Text(".publish-foot .primary"))
	}
	b.edit(func() { b.Click("#r45 .label") })
	b.edit(func() { b.Click("#r4 .label") })
	if got := b.Text("#r4 .what"); !strings.HasPrefix(got, "left out by you") ||
		b.Text(".publish-foot .primary") != "Publish 39 records" {
		t.Errorf("the first record is %q, the button %q", got, b.Text(".publish-foot .primary"))
	}
	b.edit(func() { b.Click("#r4 .label") })
	b.edit(func() { b.Click("#r5 button.header") })
	if got := eval[string](b, `document.getElementById("name-1").value`); got != "Lady fern" {
		t.Errorf("the header of row 5 gives the column %q", got)
	}
	b.edit(func() { b.Click("#r3 .label") })
	b.change(func() { b.setValue("#type-1", "number") })
	if got := b.Text("th.wrong"); !strings.Contains(got, "Dog rose") || b.Count(".publish-foot .primary") != 0 {
		t.Errorf("the error at the column is %q", got)
	}
	b.edit(func() { b.Click("th.wrong button[value^=undo]") })
	if b.Count("th.wrong") != 0 || b.Text(".publish-foot .primary") != "Publish 40 records" {
		t.Errorf("the type is not undone: %q", b.Text(".publish-foot .primary"))
	}

	// A response arrives while one types into another input, which keeps its text.
	eval[bool](b, `(() => {
		const send = fetch;
		window.fetch = async (...request) => {
			const response = await send(...request);
			await new Promise((release) => (window.release = release));
			return response;
		};
		return true;
	})()`)
	b.setValue("#name-1", "plant")
	b.Until(`window.release`)
	if got := eval[string](b, `(() => {
		const typed = document.getElementById("name-2");
		typed.focus();
		typed.value = "sol";
		release();
		return typed.value;
	})()`); got != "sol" {
		t.Errorf("the input is %q", got)
	}
	b.Until(`!document.querySelector("#publish[aria-busy]")`)
	if got := eval[string](b, `document.getElementById("name-2").value`); got != "sol" {
		t.Errorf("after the response, the input is %q", got)
	}
	eval[bool](b, `Boolean(setInterval(() => window.release(), 10))`)
	b.edit(func() { b.setValue("#name-2", "sold") })
	if got := eval[string](b,
		`document.getElementById("name-1").value + " " + document.getElementById("name-2").value`); got != "plant sold" {
		t.Errorf("the names are %q", got)
	}
	b.Click(b.Pick(".publish-foot button", "Cancel"))
	b.Until(`location.pathname === "/publish" && document.getElementById("send")`)
}

// TestPublishing_quickEdits clicks three buttons before the server has answered the first one.
func TestPublishing_quickEdits(t *testing.T) {
	t.Parallel()
	b := open(t, newPress(t, nil), tabOptions{Fails: []int{401}})
	b.enterKey()
	b.chooseFiles("nursery/quick", file(t, "Prices.csv", stockCSV()))
	b.send()
	b.edit(func() {
		eval[bool](b, `([1, 2, 3].forEach((i) => document.querySelector(`+"`button[value='hide ${i}']`"+
			`).click()), true)`)
	})
	if got := b.Count("button[value^='show ']"); got != 3 {
		t.Errorf("%d columns are hidden", got)
	}
}

// TestPublishing_name names a dataset after its file, with and without a script.
func TestPublishing_name(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		b := open(t, newPress(t, nil), tabOptions{NoScript: !script, Fails: []int{401}})
		b.enterKey()
		b.Fill("#namespace", "nursery")
		b.Do(chromedp.SetUploadFiles("#file", []string{file(t, "розы 2024.csv", stockCSV())}))
		b.send()
		if got := b.Text("#publish dl.field dd bdi"); got != "nursery / rozy-2024" {
			t.Errorf("script=%v: the dataset is %q", script, got)
		}
	}
}

// TestPublishing_paste pastes a table from a spreadsheet.
func TestPublishing_paste(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		t.Run(fmt.Sprintf("script=%v", script), func(t *testing.T) {
			t.Parallel()
			b := open(t, newPress(t, nil), tabOptions{NoScript: !script, Fails: []int{401}})
			b.enterKey()
			b.Fill("#namespace", "nursery")
			b.Fill("#dataset", fmt.Sprintf("pasted-%v", script))
			if script {
				eval[bool](b, `(() => {
					const data = new DataTransfer();
					data.setData("text/plain", "name\tprice\nYew\t1.5\nHazel\t2.5\n");
					document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
					return document.querySelector(".paste").open;
				})()`)
				b.send()
			} else {
				b.Click(".paste summary")
				eval[bool](b, `(document.getElementById("table").value = "name\tprice\nYew\t1.5\nHazel\t2.5\n", true)`)
				b.Click(".paste button")
				b.reviewed()
			}
			if got := b.Text(".publish-foot .primary"); got != "Publish 2 records" || b.Count("#name-1") != 1 {
				t.Errorf("the button is %q", got)
			}
		})
	}
}

// TestPublishing_files sends several files, a workbook of several sheets, and a broken file.
func TestPublishing_files(t *testing.T) {
	t.Parallel()
	b := open(t, newPress(t, nil), tabOptions{Fails: []int{401, 422}})
	b.enterKey()
	eval[bool](b, `(() => {
		const data = new DataTransfer();
		data.items.add(new File(["a,b\n"], "Été 2026.csv.gz"));
		document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
		return true;
	})()`)
	if got := eval[string](b, `document.getElementById("file").files[0].name`); got != "Été 2026.csv.gz" {
		t.Errorf("the dropped file is %q", got)
	}
	b.chooseFiles("several/", file(t, "First table.csv", "a,b\n1,2\n"), file(t, "second.csv", "a,b\n1,2\n3,4\n"))
	if !eval[bool](b, `document.getElementById("dataset").disabled`) {
		t.Error("several files can have one name")
	}
	b.Click(".send .primary")
	// other tests have drafts, too
	b.Until(`["several/first-table", "several/second"].every((name) => [...document.querySelectorAll(".waiting code")].some((c) => c.textContent === name))`)

	b.Visit("/publish")
	b.chooseFiles("nursery/sheets",
		file(t, "book.xlsx", workbook(t, "Prices", "code,price;a,1;b,2", "Staff", "name,room;Ana,7;Bo,8;Cy,9")))
	b.send()
	b.edit(func() { b.Click(b.Pick(".tables button", "Only this one: Staff")) })
	if got := b.Text(".publish-foot .primary"); got != "Publish 3 records" ||
		!strings.Contains(b.Text(".publish-head .line"), "Staff") {
		t.Errorf("the second sheet has the button %q and the line %q", got, b.Text(".publish-head .line"))
	}
	b.change(func() { b.setValue("#table", "Prices") })
	if got := b.Text(".publish-foot .primary"); got != "Publish 2 records" {
		t.Errorf("the first sheet has the button %q", got)
	}

	b.Visit("/publish")
	b.chooseFiles("nursery/broken", file(t, "broken.json", "[{\"a\": 1},\n{\"a\": 2},\n{\"a\": oops}]\n"))
	b.Click(".send .primary")
	b.Until(`document.querySelector(".sending .failure").textContent`)
	if got := b.Text(".sending .failure"); !strings.Contains(got, "broken.json") || !strings.Contains(got, "3") {
		t.Errorf("the reason is %q", got)
	}
	if strings.Contains(b.Text(".drafts"), "broken.json") {
		t.Error("the broken file is a draft")
	}
}

// TestPublishing_lost loses the connection while a file is sent and while an edit is saved.
func TestPublishing_lost(t *testing.T) {
	t.Parallel()
	var lose atomic.Bool
	s := newPress(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/publish") && lose.Load() {
				panic(http.ErrAbortHandler)
			}
			next.ServeHTTP(w, r)
		})
	})
	b := open(t, s, tabOptions{Fails: []int{401}})
	b.Expect("net::ERR_EMPTY_RESPONSE")
	b.enterKey()
	b.chooseFiles("nursery/lost", file(t, "lost.csv", stockCSV()))
	lose.Store(true)
	b.Click(".send .primary")
	b.Until(`document.querySelector(".sending .retry:not([hidden])")`)
	if got := b.Text(".sending .failure"); !strings.Contains(got, "The connection was lost") ||
		!strings.Contains(got, "still here") {
		t.Errorf("the page says %q", got)
	}
	lose.Store(false)
	b.Click(".sending .retry")
	b.reviewed()
	lose.Store(true)
	b.setValue("#title", "Kept")
	b.Until(`document.querySelector(".failed button")`)
	if got := eval[string](b, `document.getElementById("title").value`); got != "Kept" {
		t.Errorf("the edit is %q", got)
	}
	lose.Store(false)
	b.edit(func() { b.Click(".failed button") })
	b.VisitAddress(eval[string](b, "location.href"))
	if got := eval[string](b, `document.getElementById("title").value`); got != "Kept" {
		t.Errorf("the edit is not saved: %q", got)
	}
}

// TestPublishing_expired uses a key that expires before a file is sent, before an edit and before
// the publish. The page asks for a key, and keeps the file and the edits.
func TestPublishing_expired(t *testing.T) {
	t.Parallel()
	s := newPress(t, nil)
	b := open(t, s, tabOptions{Fails: []int{401}})
	b.enterKey()
	b.chooseFiles("nursery/expired", file(t, "expired.csv", stockCSV()))
	expire := func() { call(b, network.ClearBrowserCookies, cdp.Empty{}) }
	answer := func() {
		t.Helper()
		b.Until(`document.querySelector("dialog.ask-key[open] #key")`)
		b.Fill("dialog #key", press.publisher+"\r")
	}
	expire()
	b.Click(".send .primary")
	b.Until(`document.querySelector("dialog.ask-key[open] #key")`)
	b.Fill("dialog #key", "herb_wrong\r")
	b.Until(`document.querySelector("dialog.ask-key .notice")`)
	answer()
	b.reviewed()
	expire()
	b.edit(func() {
		b.setValue("#title", "Still here")
		answer()
	})
	expire()
	b.Click(".publish-foot .primary")
	answer()
	b.live("nursery/expired")
	if got := b.Text(".bar1 h1"); got != "Still here" {
		t.Errorf("the title is %q", got)
	}
}

// TestPublishing_twoTabs publishes the same dataset from two tabs. The second learns that another
// version is live.
func TestPublishing_twoTabs(t *testing.T) {
	t.Parallel()
	s := newPress(t, nil)
	const ref = "nursery/tabs"
	press.publishText(t, ref, "tabs.csv", liveCSV())
	var tabs [2]*tab
	for i := range tabs {
		tabs[i] = open(t, s, tabOptions{Fails: []int{401, 409}})
		tabs[i].enterKey()
		tabs[i].chooseFiles(ref, file(t, "tabs.csv", strings.Replace(liveCSV(), "Plant 7", fmt.Sprint("Tab ", i), 1)))
		tabs[i].send()
	}
	tabs[0].Click(".publish-foot .primary")
	tabs[0].live(ref)
	b := tabs[1]
	b.Click(".publish-foot .primary")
	b.Until(`document.querySelector(".settings .notice")`)
	if got := b.Text(".settings .notice"); !strings.Contains(got, "another version of "+ref+" went live") ||
		!strings.Contains(got, "publish again") {
		t.Errorf("the second tab says %q", got)
	}
	if l := get(t, s.url+"/api/v1/"+ref+"/data?Name=Tab+0"); l.Meta.Total != 1 {
		t.Errorf("the first version is not live: %+v", l)
	}
	b.reviewed()
	b.Click(".publish-foot .primary")
	b.live(ref)
	if l := get(t, s.url+"/api/v1/"+ref+"/data?Name=Tab+1"); l.Meta.Total != 1 {
		t.Errorf("the second version is not live: %+v", l)
	}
}

// TestPublishing_keyboard publishes with the keyboard only. One check takes longer: the page shows
// its progress, and then the review, while the focus stays in the input.
func TestPublishing_keyboard(t *testing.T) {
	t.Parallel()
	var checking atomic.Int32 // requests until the check has ended
	b := open(t, newPress(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || !strings.HasPrefix(r.URL.Path, "/publish/") || checking.Load() <= 0 ||
				checking.Add(-1) < 0 {
				next.ServeHTTP(w, r)
				return
			}
			r.Header.Del("Accept-Encoding")
			answer := httptest.NewRecorder()
			next.ServeHTTP(answer, r)
			page := strings.Replace(answer.Body.String(), `class="frame review has-rows"`,
				`class="frame review has-rows" data-refresh="1"`, 1)
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, page) // the page waits for another answer then
		})
	}), tabOptions{Fails: []int{401}})
	b.enterKey()
	b.chooseFiles("nursery/keyboard", file(t, "keyboard.csv", stockCSV()))
	focus := func(selector string) {
		t.Helper()
		for range 200 {
			if eval[bool](b, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
				return
			}
			b.Press(kb.Tab)
		}
		t.Fatalf("%s cannot be reached", selector)
	}
	focus(".send .primary")
	b.Press(kb.Enter)
	b.reviewed()
	focus("#title")
	checking.Store(2)
	b.edit(func() { b.Fill("#title", "By keyboard\r") })
	b.wantFocus("after an edit", "#title")
	if n := checking.Load(); n > 0 {
		t.Errorf("the review was requested too rarely: %d requests left", n)
	}
	focus(".choose summary")
	b.Press(kb.Enter)
	focus("input[name=key][value=Code]")
	b.edit(func() { b.Press(" ") })
	b.wantFocus("after a choice", "input[name=key][value=Code]")
	focus("#type-1")
	focus("button[value='hide 3']")
	b.edit(func() { b.Press(kb.Enter) })
	focus("#r45 .label")
	if !eval[bool](b, `(() => { const r = document.activeElement.getBoundingClientRect(), e = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
		return document.activeElement.contains(e); })()`) {
		t.Error("the focused row is covered")
	}
	b.edit(func() { b.Press(kb.Enter) })
	b.wantFocus("after a row was kept", "#r45 .label")
	focus(".publish-foot .primary")
	b.Press(kb.Enter)
	b.live("nursery/keyboard")
	if got := b.Text(".done"); !strings.HasPrefix(got, "Published. 41 rows") {
		t.Errorf("the page says %q", got)
	}
}

// TestPublishing_phone checks the pages on a narrow screen, and all of them with axe-core.
func TestPublishing_phone(t *testing.T) {
	t.Parallel()
	script := axeScript(t)
	s := newPress(t, nil)
	const ref = "nursery/phone"
	press.publishText(t, ref, "phone.csv", liveRows(23)) // axe-core takes time for each row
	b := open(t, s, tabOptions{Fails: []int{401}})
	check := func(name string) {
		t.Helper()
		eval[bool](b, script)
		b.axe(name+", light", "", allRules)
		b.Dark(true)
		b.axe(name+", dark", "", colorRules)
		b.Dark(false)
		b.Screen(tabOptions{Phone: true})
		if w := eval[int](b, "Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)"); w > 360 {
			t.Errorf("%s is %d wide: %s", name, w, eval[string](b, `[...document.querySelectorAll("body *")]
				.filter((e) => e.getBoundingClientRect().right > 361 && !e.closest(".rows-scroll, .vh, template"))
				.map((e) => e.outerHTML.slice(0, 100)).slice(0, 3).join("\n")`))
		}
		small := eval[[]string](b,
			`[...document.querySelectorAll("button, summary, input:not([type=hidden], [type=checkbox]), select, .button, a.link")]
			.filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest(".vh") && !e.matches(".vh"))
			.map((e) => [e, (e.closest("label") ?? e).getBoundingClientRect()]).filter(([, r]) => r.width < 24 || r.height < 24)
			.map(([e, r]) => Math.round(r.width) + "x" + Math.round(r.height) + " " + e.outerHTML.slice(0, 120))`)
		if len(small) > 0 {
			t.Errorf("%s: too small to touch: %d, such as\n%s", name, len(small),
				strings.Join(small[:min(3, len(small))], "\n"))
		}
		b.Screen(tabOptions{})
	}
	b.Visit("/publish")
	check("key")
	b.enterKey()
	b.Click(".paste summary")
	check("start")
	b.chooseFiles(ref, file(t, "phone.csv", stockRows(24, "", "", "from 20")))
	b.send()
	b.change(func() { b.setValue("#type-1", "date") })
	b.Click(".choose summary")
	check("review")
	b.Screen(tabOptions{Phone: true})
	b.Click(".choose summary")
	b.edit(func() { b.Click("th.wrong button[value^=undo]") })
	b.edit(func() { b.Click(b.Pick(".breaking-change button", "Treat as missing")) })
	b.Click(".publish-foot .primary")
	b.live(ref)
	b.Screen(tabOptions{})
	check("live")
	b.Visit("/datasets/" + ref + "/versions")
	b.settled()
	eval[bool](b, `(document.querySelectorAll(".rollback").forEach((d) => (d.open = true)), true)`)
	check("versions")
	b.Click(b.Pick("button", "Change the settings"))
	b.reviewed()
	b.change(func() { b.setValue("#type-1", "date") })
	b.change(func() { b.setValue("#format-1", "%d") })
	check("settings")
	b.Visit("/publish")
	b.chooseFiles("nursery/phone-book", file(t, "book.xlsx", workbook(t, "January", "day,sold;2024-01-31,2",
		"February", "day,sold;2024-02-01,3")))
	b.send()
	check("tables")
	b.Click(b.Pick("button", "Select all"))
	b.Until(`document.readyState === "complete" && document.querySelectorAll(".tables [type=checkbox]:checked").length === 2`)
	b.Click(b.Pick("button", "Review them as one dataset"))
	b.Until(`document.readyState === "complete" && document.querySelector(".file tbody")`)
	b.reviewed()
	check("joined")
}

// TestPublishing_sameNames gives a column the name of another one. The error stands at that column,
// and everything else can be edited. A key that was chosen before a rename follows it.
func TestPublishing_sameNames(t *testing.T) {
	t.Parallel()
	b := open(t, newPress(t, nil), tabOptions{Fails: []int{401}})
	b.enterKey()
	b.chooseFiles("nursery/names", file(t, "Prices.csv", stockCSV()))
	b.send()
	b.change(func() {
		b.Click(".choose summary")
		b.Click("input[name=key][value=Code]")
	})
	b.change(func() { b.setValue("#name-0", "number") })
	if got := b.Text("#key-value"); got != "number" {
		t.Errorf("the key is %q", got)
	}
	b.change(func() { b.setValue("#name-2", "Name") })
	if got := b.Text("th.wrong .error"); b.Count("th.wrong") != 1 ||
		!strings.Contains(got, `another column has the name "Name"`) ||
		strings.Contains(b.Text("#publish"), "resources[") {
		t.Errorf("%d columns are wrong: %q", b.Count("th.wrong"), got)
	}
	b.change(func() { b.setValue("#title-3", "When") })
	b.edit(func() { b.Click("button[value='hide 1']") })
	if got := eval[string](b,
		`[0, 2].map((i) => document.getElementById("name-" + i).value).join() + document.getElementById("title-3").value`); got != "number,NameWhen" || b.Count("th.wrong") != 0 {
		t.Errorf("the names and the title are %q; %d columns are wrong", got, b.Count("th.wrong"))
	}
	b.Click(".publish-foot .primary")
	b.live("nursery/names")
	if got := strings.Join(b.Texts("#grid th .col-name"), " "); got != "number Name When" {
		t.Errorf("the columns are %s", got)
	}
}

// TestPublishing_staleTab chooses another table in a second tab. The first one, which still shows
// the table before, changes the title and a column.
func TestPublishing_staleTab(t *testing.T) {
	t.Parallel()
	s := newPress(t, nil)
	first := open(t, s, tabOptions{Fails: []int{401, 409}})
	first.enterKey()
	first.chooseFiles("nursery/stale",
		file(t, "book.xlsx", workbook(t, "Prices", "code,price;a,1;b,2", "Staff", "name,room;Ana,7;Bo,8;Cy,9")))
	first.send()
	first.edit(func() { first.Click(first.Pick(".tables button", "Prices")) })
	second := open(t, s, tabOptions{Fails: []int{401}})
	second.enterKey()
	second.VisitAddress(eval[string](first, "location.href"))
	second.reviewed()
	second.change(func() { second.setValue("#table", "Staff") })
	first.Expect("409")
	first.edit(func() { first.Click("button[value='hide 1']") })
	if got := first.Text(".settings .notice"); !strings.Contains(got, `The table "Staff" was chosen elsewhere`) {
		t.Errorf("the first tab says %q", got)
	}
	if got := first.Text(".publish-foot .primary"); got != "Publish 3 records" ||
		first.Count("button[value^='show ']") != 0 {
		t.Errorf("the button is %q, %d columns are hidden", got, first.Count("button[value^='show ']"))
	}
	second.VisitAddress(eval[string](second, "location.href"))
	if got := eval[string](second, `document.getElementById("table").value`); got != "Staff" {
		t.Errorf("the table is %q", got)
	}
}
