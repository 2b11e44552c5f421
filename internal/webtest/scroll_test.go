package webtest_test

import (
	"bytes"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
	"herbarium/internal/testseed"
)

// journeys is a dataset with more rows than a browser lays out at once.
const journeys, journeyCount = "/datasets/values/journeys", 6000

// journeysCSV has numbers with different numbers of decimals, and numbers, missing values and words
// in a column of prices.
func journeysCSV() string {
	var b strings.Builder
	b.WriteString("id,name,distance,price,note\n")
	for i := 1; i <= journeyCount; i++ {
		price := fmt.Sprintf(`"%s,%02d €"`, strings.ReplaceAll(herb.Count(i*7), ",", "."), i%100)
		if i%10 == 3 {
			price = []string{"", "NA"}[i/10%2]
		}
		fmt.Fprintf(&b, "%d,Journey %d,%d.%0*d,%s,%s\n", i, i, i%90, 1+i%4, i%7, price,
			[]string{"12", "late", "3.5"}[i%3])
	}
	return b.String()
}

// scrolled waits until the rows in the window are loaded and the address names the first one.
func (b *tab) scrolled(first int) {
	b.Helper()
	hash := fmt.Sprintf("#row-%d", first)
	if first == 1 {
		hash = ""
	}
	b.Until(fmt.Sprintf(`!document.querySelector("#grid[data-fetching]") && document.getElementById("row-%d") && location.hash === %q`, first, hash))
	b.settled()
	summary := b.Text("#pages summary")
	if !strings.HasPrefix(summary, herb.Count(first)+"–") {
		b.Errorf("at row %d, the bar says %q", first, summary)
	}
	got := eval[int](b, `(() => { const top = document.querySelector("#grid thead th").getBoundingClientRect().bottom;
		return [...document.querySelectorAll("#grid tbody tr")].find((tr) => { const r = tr.getBoundingClientRect(); return r.top + r.height / 2 > top - 1; }).rowIndex; })()`)
	if id := eval[string](b, fmt.Sprintf(`document.querySelector("#grid table").rows[%d].id`,
		got)); id != fmt.Sprint("row-", first) {
		b.Errorf("the first row in the window is %s, want %d", id, first)
	}
	if n := b.Count("#grid tbody tr"); n > 250 {
		b.Errorf("the page has %d rows", n)
	}
}

// scrollTo scrolls the grid so that a row is the first one.
func (b *tab) scrollTo(row int) {
	b.Helper()
	eval[bool](b, fmt.Sprintf(
		`(document.getElementById("grid").scrollTop = %d * document.querySelector("#grid tbody tr").getBoundingClientRect().height, true)`, row-1))
}

// focusedRow returns the position of the row of the focused cell.
func (b *tab) focusedRow(want int) {
	b.Helper()
	b.Until(fmt.Sprintf(`document.activeElement.closest("tbody tr")?.id === "row-%d"`, want))
}

// TestScroll scrolls through all rows of a listing with the scrollbar and the keyboard.
func TestScroll(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Width: 1100, Height: 700})
	b.Visit(journeys + "?sort=id&order=desc")
	b.settled()
	if got := eval[[]string](b,
		`[document.querySelector("#grid table").ariaRowCount, document.querySelector("#grid thead tr").ariaRowIndex, document.querySelector("#row-1").ariaRowIndex]`); strings.Join(got, " ") != fmt.Sprint(journeyCount+1, " 1 2") {
		t.Errorf("the count and indexes of rows are %v", got)
	}
	if n := len(b.Requested("/rows?")); n != 0 {
		t.Errorf("%d requests for rows before one scrolls", n)
	}
	b.scrollTo(4321)
	b.scrolled(4321)
	b.wantQuery("order=desc&page=87&sort=id")
	if got, want := b.Text("#row-4321 td"), fmt.Sprint(journeyCount-4320); got != want {
		t.Errorf("row 4321 is %q, want %s", got, want)
	}
	b.Until(`document.querySelector("#call code").dataset.url.includes("&page=87&")`)
	if l := get(t, eval[string](b, `document.querySelector("#call code").dataset.url`)); l.Data[20]["id"] != fmt.Sprint(
		journeyCount-4320) {
		t.Errorf("the API call below returns %v", l.Data[20])
	}
	if got := eval[string](b, `document.querySelector("#row-4321").ariaRowIndex`); got != "4322" {
		t.Errorf("row 4321 has the index %s", got)
	}
	b.scrollTo(4400) // small steps load the adjacent pages
	b.scrolled(4400)

	// A record opens beside the rows, and Back returns to them.
	b.next(func() { b.Click("#row-4405 td:nth-child(3)") })
	first := eval[int](b, `Number(document.querySelector("#pages summary").firstChild.data.split("–")[0].replace(",", ""))`)
	b.scrolled(first)
	if got := b.Text("#record h2"); got != fmt.Sprint("Journey ", journeyCount-4404) {
		t.Errorf("the record is %q", got)
	}
	b.next(func() { b.Press("j") })
	b.Until(`document.querySelector("#grid tr.open")?.id === "row-4406" && document.querySelectorAll("#grid tr.open").length === 1`)
	b.next(func() { eval[bool](b, `(history.back(), true)`) })
	b.next(func() { eval[bool](b, `(history.back(), true)`) })
	b.scrolled(first)
	if b.Count("#record") != 0 || b.Count("#grid tr.open") != 0 {
		t.Error("Back leaves the record open")
	}

	// The keyboard reaches every row.
	eval[bool](b, fmt.Sprintf(`(document.querySelector("#row-%d").cells[2].focus({ preventScroll: true }), true)`,
		first))
	b.pressWith(2, "End", "End")
	b.focusedRow(journeyCount)
	b.Press(kb.ArrowDown)
	b.focusedRow(journeyCount)
	b.Press(kb.ArrowUp)
	b.focusedRow(journeyCount - 1)
	rows := eval[int](b, `Math.max(1, Math.floor((document.getElementById("grid").clientHeight - document.querySelector("#grid thead").offsetHeight) / document.querySelector("#grid tbody tr").offsetHeight) - 1)`)
	for i := 1; i <= 8; i++ { // beyond the rows that were loaded at first
		b.Press(kb.PageUp)
		b.focusedRow(journeyCount - 1 - i*rows)
	}
	b.scrollTo(3000) // the focused row leaves the page
	b.scrolled(3000)
	b.Press(kb.ArrowDown)
	b.focusedRow(journeyCount - 8*rows)
	b.pressWith(2, "Home", "Home")
	b.focusedRow(1)
	b.scrolled(1)
	b.wantQuery("order=desc&sort=id")

	// Finding text in the page scrolls, and other rows are loaded there.
	b.scrollTo(30)
	b.scrolled(30)
	if !eval[bool](b, `window.find("Journey 5905")`) {
		t.Fatal("the browser does not find a row that is loaded")
	}
	// headless browsers do not scroll
	eval[bool](b, `(getSelection().anchorNode.parentElement.scrollIntoView({ block: "center" }), true)`)
	b.Until(`(() => { const r = document.getElementById("row-96").getBoundingClientRect(); return r.top > 0 && r.bottom < innerHeight && document.getElementById("row-150"); })()`)

	// Another listing begins at the top; hiding a column does not.
	b.scrollTo(2000)
	b.scrolled(2000)
	eval[bool](b, `(document.querySelector("#grid th[data-field=note] details").open = true)`)
	hide := b.Pick("#grid th[data-field=note] .fields button", "Hide")
	b.next(func() { eval[bool](b, `(document.querySelector(`+quote(hide)+`).click(), true)`) })
	b.scrolled(2000)
	b.follow("#grid th[data-field=name] .col-name")
	b.Until(`document.getElementById("grid").scrollTop === 0 && !location.hash`)
	b.Click("#pages summary")
	b.Fill(".jump input[name=_at]", "5,555"+kb.Enter)
	b.scrolled(5555)
}

// TestScroll_scale scrolls a listing that is higher than browsers permit: the scrollbar has another
// scale than the rows.
func TestScroll_scale(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Width: 1100, Height: 700})
	b.Visit(journeys)
	b.settled()
	eval[bool](b, `(document.querySelector("#grid table").dataset.maxHeight = "30000", dispatchEvent(new Event("resize")), true)`)
	if got := eval[int](b, `document.getElementById("grid").scrollHeight`); got > 31000 {
		t.Fatalf("the grid is %d pixels high", got)
	}
	// check scrolls, and returns the first row in the window.
	check := func(what, scroll string, least, most int) int {
		b.Helper()
		eval[bool](b, `(window.before = location.hash, grid.scrollTop `+scroll+`, true)`)
		b.Until(`location.hash !== window.before && !document.querySelector("#grid[data-fetching]") && location.hash === "#row-" + document.querySelector("#pages summary").firstChild.data.split("–")[0].replace(",", "")`)
		first := eval[int](b, `Number(location.hash.slice(5))`)
		b.scrolled(first)
		if first < least || first > most {
			b.Errorf("%s: the first row is %d, want %d to %d", what, first, least, most)
		}
		return first
	}
	const row = ` * document.querySelector("#grid tbody tr").getBoundingClientRect().height`
	middle := check("the middle", "= (grid.scrollHeight - grid.clientHeight) / 2", 2950, 3050)
	check("ten rows further", "+= 10"+row, middle+10, middle+10)
	last := check("the end", "= 1e9", 5970, 5999)
	if !eval[bool](b, `document.getElementById("row-6000").getBoundingClientRect().bottom <= document.querySelector("footer").getBoundingClientRect().top + 1`) {
		t.Error("the last row is not in the window")
	}
	check("five rows before the end", "-= 5"+row, last-5, last-5)
	eval[bool](b, `(document.querySelector("#row-5990").cells[1].focus(), true)`)
	b.pressWith(2, "Home", "Home")
	b.focusedRow(1)
	b.scrolled(1)
}

// TestScroll_withoutScript goes to a row without a script: the page has it, and the address names
// it.
func TestScroll_withoutScript(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{NoScript: true})
	b.Visit(journeys + "?sort=id")
	b.Click("#pages summary")
	b.Fill(".jump input[name=_at]", "4,321"+kb.Enter)
	b.Until(`location.hash === "#row-4321" && document.readyState === "complete"`)
	b.wantQuery("page=87&sort=id")
	if got := b.Count("#grid tbody tr"); got != 50 || b.Text("#row-4321 td") == "" {
		t.Errorf("the page has %d rows", got)
	}
	b.follow(".pages a[rel=next]")
	b.wantQuery("page=88&sort=id")
}

// TestScroll_version shows the rows of another version that goes live while one scrolls, at the
// same position.
func TestScroll_version(t *testing.T) {
	t.Parallel()
	var isNew atomic.Bool
	b := open(t, newSite(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !isNew.Load() || !strings.HasPrefix(r.URL.Path, journeys) ||
				strings.HasSuffix(r.URL.Path, "/distributions") {
				next.ServeHTTP(w, r)
				return
			}
			r.Header.Del("Accept-Encoding")
			r.Header.Del("If-None-Match")
			recorder := httptest.NewRecorder()
			next.ServeHTTP(recorder, r)
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.Copy(w, bytes.NewReader(
				bytes.ReplaceAll(bytes.ReplaceAll(recorder.Body.Bytes(), []byte(`data-version="`),
					[]byte(`data-version="new`)), []byte("Journey"), []byte("Trip"))))
		})
	}), tabOptions{Width: 1100, Height: 700})
	b.Visit(journeys + "?sort=id")
	b.settled()
	b.scrollTo(2000)
	b.scrolled(2000)
	isNew.Store(true)
	b.scrollTo(5000)
	b.scrolled(5000)
	if got := strings.Join(b.column("name"), " "); strings.Contains(got, "Journey") ||
		!strings.Contains(got, "Trip 5000") {
		t.Errorf("rows of two versions are shown: %.100s", got)
	}
}

// TestSums compares the sum and the mean of selected cells with those of the API.
func TestSums(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Width: 1280, Height: 700})
	b.Visit(journeys + "?sort=id&_fields=id,distance,price,note")
	b.settled()
	// total returns what the API computes for the first rows of a column.
	total := func(column string, from, to int) (sum, mean string) {
		var l struct{ Data []struct{ Values []string } }
		res, err := programtest.Send(t.Context(), http.DefaultClient, http.MethodGet,
			fmt.Sprintf("%s/api/v1/values/journeys/aggregate?_measure=sum:%s&_measure=mean:%s&id[gte]=%d&id[lte]=%d",
				b.url, column, column, from, to), "")
		must.NoError(t, err)
		decode(t, res.Body, &l)
		return l.Data[0].Values[0], l.Data[0].Values[1]
	}
	want := func(what, sums string) {
		t.Helper()
		b.Wait(what, func() bool { return strings.ReplaceAll(b.Text("#sums"), ",", "") == sums })
	}
	eval[bool](b, `(document.querySelector("#row-1").cells[2].focus(), true)`)
	for range 3 {
		b.pressWith(8, "ArrowDown", "ArrowDown")
	}
	sum, mean := total("distance", 1, 4)
	want("sums of four cells", "Count 4 Sum "+sum+" Mean "+mean)
	b.Press(kb.ArrowDown)
	b.Until(`document.getElementById("sums").hidden`)

	eval[bool](b, `(document.querySelector("#row-1").cells[3].focus(), true)`)
	rows := 1
	for rows < 130 { // over several pages of rows
		rows += eval[int](b, `Math.max(1, Math.floor((grid.clientHeight - document.querySelector("#grid thead").offsetHeight) / document.querySelector("#grid tbody tr").offsetHeight) - 1)`)
		b.pressWith(8, "PageDown", "PageDown")
		b.focusedRow(rows)
	}
	filled, numbers := 0, 0
	for i := 1; i <= rows; i++ {
		if i%10 != 3 {
			filled, numbers = filled+1, numbers+1
		} else if i/10%2 == 1 {
			filled++
		}
	}
	sum, mean = total("price", 1, rows)
	want("sums of prices", fmt.Sprintf("Count %d Numbers %d Sum %s Mean %s", filled, numbers, sum, mean))

	// The pointer: a column of numbers and one of texts.
	b.Visit(journeys + "?sort=id&_fields=id,distance,price,note")
	b.settled()
	from, to := b.Center("#row-2 td:nth-child(5)"), b.Center("#row-5 td:nth-child(3)")
	b.Mouse(input.DispatchMouseEventTypeMouseMoved, from, input.MouseButtonNone)
	b.Until(`performance.getEntriesByName(new URL("selection.js", document.querySelector("script[src$='app.js']").src).href).length`)
	b.Mouse(input.DispatchMouseEventTypeMousePressed, from, input.MouseButtonLeft)
	b.Mouse(input.DispatchMouseEventTypeMouseMoved, to, input.MouseButtonLeft)
	b.Until(`document.querySelectorAll("#grid td.chosen").length === 12`)
	b.Mouse(input.DispatchMouseEventTypeMouseReleased, to, input.MouseButtonLeft)
	if got := b.Text("#sums"); !strings.HasPrefix(got, "Count 11 Numbers 7 Sum") {
		t.Errorf("the sums of numbers and texts are %q", got)
	}
	if b.Count("#record") != 0 {
		t.Error("the end of a selection opens a record")
	}
	b.Press(kb.Escape)
	b.Until(`!document.querySelector("#grid td.chosen") && document.getElementById("sums").hidden`)
}

// TestSums_exact compares sums and means of random decimals with exact arithmetic.
func TestSums_exact(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(testseed.Seed(t), 1))
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(catalog + "?per_page=1")
	for range 40 {
		var numbers []string
		sum := new(big.Rat)
		places := 0
		for range 1 + rng.IntN(12) {
			n := fmt.Sprint(rng.Int64N(1 << (1 + rng.IntN(50))))
			if rng.IntN(2) == 0 {
				n = "-" + n
			}
			if digits := rng.IntN(12); digits > 0 {
				n += "." + fmt.Sprintf("%0*d", digits, rng.IntN(10))
				places = max(places, digits)
			}
			r, _ := new(big.Rat).SetString(n)
			sum.Add(sum, r)
			numbers = append(numbers, n)
		}
		got := eval[[]string](b,
			`import(new URL("sums.js", document.querySelector("script[src$='app.js']").src)).then(({ addDecimals, meanOf }) => {
			const numbers = `+quote(strings.Join(numbers, " "))+`.split(" "), sum = addDecimals(numbers);
			return [sum, meanOf(sum, numbers.length)]; })`)
		if want := sum.FloatString(places); got[0] != want && got[0] != strings.Replace(want, "-0", "0", 1) {
			t.Errorf("the sum of %v is %s, want %s", numbers, got[0], want)
		}
		mean := new(big.Rat).Quo(sum, big.NewRat(int64(len(numbers)), 1))
		found, ok := new(big.Rat).SetString(got[1])
		if !ok {
			t.Fatalf("the mean of %v is %q", numbers, got[1])
		}
		difference := new(big.Rat).Abs(new(big.Rat).Sub(found, mean)) // at most half a unit of the 15th digit
		limit := new(big.Rat).Mul(new(big.Rat).Abs(mean), big.NewRat(5, 1e15))
		if difference.Cmp(limit) > 0 || len(strings.Trim(strings.ReplaceAll(got[1], ".", ""), "-0")) > 15 {
			t.Errorf("the mean of %v is %s, want about %s", numbers, got[1], mean.FloatString(20))
		}
	}
}
