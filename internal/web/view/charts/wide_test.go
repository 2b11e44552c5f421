package charts

import (
	"fmt"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/web/view/plot"
)

// wideTable returns months with the shares of three browsers.
func wideTable(months int) *table {
	var records []herb.Record
	for i := range months {
		records = append(records, herb.Record{fmt.Sprintf("%d-%02d", 1997+i/12, 1+i%12), number(float64(i)),
			number(float64(2 * i)), number(float64(i) / 3)})
	}
	t := newTable([]string{"month date", "Chrome\nbrowser number", "Firefox number", "Opera number"}, records)
	t.Fields[0].Notation.DateFormat = "%Y-%m"
	return t
}

// TestAnswer_wide checks charts of several columns: series of a line, bars of a category, or points
// of a line.
func TestAnswer_wide(t *testing.T) {
	t.Parallel()
	d := wideTable(355)
	const all = "_measure=mean:Chrome%0Abrowser&_measure=mean:Firefox&_measure=mean:Opera"
	for raw, want := range map[string]string{
		"": "The mean of Chrome browser, Firefox, Opera by month per month as lines: lines of 355 groups, Jan 1997 to Jul 2026, " +
			"in Chrome browser, Firefox, Opera",
		"_by=month:year&" + all: "The mean of Chrome browser, Firefox, Opera by month per year as lines: lines of 30 groups, " +
			"1997 to 2026, in Chrome browser, Firefox, Opera",
		"_by=month:year&" + all + "&_kind=grouped": "The mean of Chrome browser, Firefox, Opera by month per year as grouped " +
			"bars: grouped of 30 groups, 1997 to 2026, in Chrome browser, Firefox, Opera",
		all: "The mean of Chrome browser – Opera: bars of 3 groups, Chrome browser to Opera, in ",
	} {
		_, q, a := askOf(t, &d.Dataset, d.records, raw)
		groups := a.data.Groups
		var series []string
		for _, s := range a.data.Series {
			series = append(series, s.Name)
		}
		got := fmt.Sprintf("%s: %s of %d groups, %s to %s, in %s", a.Title, q.Kind, len(groups), groups[0].Label,
			groups[len(groups)-1].Label, strings.Join(series, ", "))
		if got != want {
			t.Errorf("%s: %s\nwant %s", raw, got, want)
		}
		if again := q.with(func(*Question) {}); again.params().Encode() != q.params().Encode() || !again.isWide() {
			t.Errorf("%s: becomes %s", raw, again.params().Encode())
		}
	}
	s, q, _ := askOf(t, &d.Dataset, d.records, "_by=month:year&"+all)
	const call = "_by=month%3Ayear&_measure=mean%3AChrome%0Abrowser&_measure=mean%3AFirefox&_measure=mean%3AOpera&_top=20000"
	if got := q.Call(s, Aggregates{Filled: true}).Encode(); got != call {
		t.Errorf("the call is %s", got)
	}
	for set, want := range map[string]string{
		"measure=max":   "_by=month%3Ayear&_measure=max%3AChrome%0Abrowser&_measure=max%3AFirefox&_measure=max%3AOpera",
		"measure=count": "_by=month%3Ayear", "field=Opera": "_by=month%3Ayear&_measure=mean%3AOpera",
		"by=Opera": "_by=Opera%3A10&_measure=mean%3AChrome%0Abrowser&_measure=mean%3AFirefox&_measure=mean%3AOpera",
	} {
		if got, err := change(t, &d.Dataset, "_by=month:year&"+all, set); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", set, got, err, want)
		}
	}
}

// TestAnswer_months checks that months are an axis of time whose labels and links are months, and
// that values in tables and tips have three decimals more than the data.
func TestAnswer_months(t *testing.T) {
	t.Parallel()
	d := wideTable(355)
	_, q, a := askOf(t, &d.Dataset, d.records, "_by=month:month&_measure=mean:Firefox")
	if q.Kind != plot.Lines || len(a.data.Groups) != 355 || a.Rows[354].Label != "Jul 2026" {
		t.Errorf("%s of %d groups", q.Kind, len(a.data.Groups))
	}
	if got := a.Rows[0].Href; !strings.Contains(got, "month%5Bgte%5D=1997-01&month%5Blt%5D=1997-02") {
		t.Errorf("a month leads to %s", got)
	}
	d.Report.Columns[3].Decimals = 2
	_, _, a = askOf(t, &d.Dataset, d.records, "_by=month:year&_measure=stddev:Firefox")
	if r := a.Rows[0]; r.Value != "7.211" || r.Exact != r.Value {
		t.Errorf("%s, %s", r.Value, r.Exact)
	}
}
