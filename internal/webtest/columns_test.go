package webtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
)

// oddColumns is a dataset with a price that has exceptions, texts, and numbers of all kinds.
const oddColumns = "/datasets/values/odd"

func oddColumnsCSV() string {
	var b strings.Builder
	b.WriteString("name,price,note,id,year,postal,mass,population,a,b,c,d,e,f\n")
	for i := range 200 {
		price, mass := fmt.Sprintf("%d.50", i), []string{"1.86300", "19.246", "7", "0.5"}[i%4]
		if i%80 == 7 {
			price = "on request"
		}
		note := fmt.Sprintf("The oak %d of the garden. ", i) + strings.Repeat("It has leaves. ", 1+i%20)
		if i%2 == 0 {
			note += "A beech stands beside it, " + strings.Repeat("and grows ", 10)
		}
		fmt.Fprintf(&b, "%s %d,%s,\"%s\",%d,%d,%d,%s,%d,0,0,0,0,0,secret%d\n", strings.Repeat("tree ", 1+i%5), i, price,
			note, 1000+3*i, 1850+i%100, 10115+7*i, mass, 999+i*4000, i)
	}
	return b.String()
}

// TestReportedDistributions checks the distributions that are drawn from the report: a link to the
// exceptions of a number, the lengths of texts, and frequent words that filter.
func TestReportedDistributions(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Width: 1600})
	b.Visit(oddColumns)
	b.settled()
	const price, name, note = "#grid th[data-field=price] ", "#grid th[data-field=name] ", "#grid th[data-field=note] "
	if got := b.Text(price + ".exceptions"); got != "3 not numbers" || b.Text(price+".lab") != "0 200" ||
		b.Count(price+".hist .bar") < 5 {
		t.Errorf("the chart of the price has %d bars and says %q", b.Count(price+".bar"), got)
	}
	if got := b.Text(name + ".lab"); got != "unique 7–29 characters" {
		t.Errorf("the lengths of names: %q", got)
	}
	b.Mouse(input.DispatchMouseEventTypeMouseMoved, b.Center(name+".hist"), input.MouseButtonNone)
	b.Until(`document.querySelector(".tip")`)
	if got := b.Text(".tip"); !strings.Contains(got, " characters: ") {
		t.Errorf("the tip of a length is %q", got)
	}
	b.Click(price + ".col-menu summary")
	if got := b.Text(price + ".evidence"); !strings.Contains(got, "3 exceptions (on request: 3)") {
		t.Errorf("the menu says %q", got)
	}
	b.follow(price + ".exceptions")
	if l := b.agree(); l.Meta.Total != 3 || b.query().Get("price") != "on request" {
		t.Errorf("%d rows, %v", l.Meta.Total, b.query())
	}
	b.Visit(oddColumns)
	b.settled()
	if got := b.Texts(note + ".distribution .words a"); !slices.Equal(got,
		[]string{"garden", "leaves", "oak", "beech", "beside", "grows", "stands"}) {
		t.Errorf("the frequent words are %q", got)
	}
	b.Click(note + ".col-menu summary")
	b.follow(b.Pick(note+".popover .words a", "beech"))
	if l := b.agree(); l.Meta.Total != 100 || b.query().Get("note[match]") != "beech" {
		t.Errorf("%d rows, %v", l.Meta.Total, b.query())
	}
	b.settled()
	b.follow(note + ".distribution .words [aria-current]")
	b.wantQuery("")
}

// TestNumbers checks that numbers are shown as they are, with their decimal points below
// each other, and that a filter changes neither; that the digits of keys, years and codes are not
// grouped; and that a value of a record with many is found.
func TestNumbers(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Width: 1600})
	b.Visit(oddColumns + "?_record=2")
	for field, want := range map[string][]string{
		"mass": {"1.86300", "19.246", "7", "0.5"}, "id": {"1000", "1003"}, "year": {"1850", "1851"},
		"postal": {"10115", "10122"}, "population": {"999", "4,999"},
	} {
		if got := b.column(field); !slices.Equal(got[:len(want)], want) {
			t.Errorf("%s: %q, want %q", field, got[:len(want)], want)
		}
	}
	const points = `(() => {
		const at = document.querySelector("#grid th[data-field=mass]").cellIndex, edge = document.createRange();
		return [...document.querySelectorAll("#grid tbody tr")].slice(0, 20).map((tr) => {
			const text = tr.cells[at].firstChild, dot = text.data.indexOf(".");
			edge.setStart(text, 0), edge.setEnd(text, dot < 0 ? text.length : dot);
			return Math.round(edge.getBoundingClientRect().right);
		}).filter((x, i, all) => all.indexOf(x) === i);
	})()`
	before := eval[[]int](b, points)
	b.Visit(oddColumns + "?mass=0.5")
	if after := eval[[]int](b, points); len(before) != 1 || !slices.Equal(after, before) {
		t.Errorf("the decimal points are at %v, of a filter at %v", before, after)
	}
	if got := b.column("mass")[0]; got != "0.5" {
		t.Errorf("the filter changes 0.5 to %q", got)
	}
	b.Visit(oddColumns + "?_record=2")
	values := func() []string { return b.Texts("#record dl > div:not([hidden]) dt") }
	for text, want := range map[string][]string{"POP": {"population"}, "secret1": {"f"}, "nothing": nil} {
		b.Fill(".find-value", text)
		if got := values(); !slices.Equal(got, want) {
			t.Errorf("%q finds %q, want %q", text, got, want)
		}
	}
	b.Fill(".find-value", "popul")
	b.follow("#record [data-record=next]")
	if got := values(); !slices.Equal(got, []string{"population"}) {
		t.Errorf("of the next record, %q are shown", got)
	}
}
