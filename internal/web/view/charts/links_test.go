package charts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
)

// ranks returns a dataset in which series s00 has the most rows, s01 the second most, and so on.
func ranks(series int) (*herb.Dataset, []herb.Record) {
	d := &herb.Dataset{Fields: []herb.Field{{Name: "a", Type: herb.TypeText, Filterable: true},
		{Name: "b", Type: herb.TypeText, Filterable: true}}}
	var records []herb.Record
	for s := range series {
		for range series - s {
			records = append(records, herb.Record{"x", fmt.Sprintf("s%02d", s)})
		}
	}
	return d, records
}

// TestAnswer_toggle adds and removes series by the links of the table beside a chart: colors stay,
// and the default series need no parameters.
func TestAnswer_toggle(t *testing.T) {
	t.Parallel()
	d, records := ranks(30)
	const base = "?_by=a&_by=b"
	for _, tt := range []struct{ raw, click, href, series string }{
		{"", "s01", base + "&_series=s00&_series=s02&_series=s03&_series=s04", "s00 s1, s02 s3, s03 s4, s04 s5"},
		{"&_series=s00&_series=s02&_series=s03&_series=s04", "s01", base, "s00 s1, s01 s2, s02 s3, s03 s4, s04 s5"},
		{"&_series=s00&_series=s02&_series=s03", "s29", base + "&_series=s00&_series=s02&_series=s03&_series=s29",
			"s00 s1, s02 s3, s03 s4, s29 s2"},
		{"&_series=s29", "s29", "", "s29 s1"},
		{"&_series=gone&_series=s29", "s28", base + "&_series=gone&_series=s29&_series=s28", "s28 s1, s29 s2"},
		{"&_split=8", "s08", "", "s00 s1, s01 s2, s02 s3, s03 s4, s04 s5, s05 s6, s06 s7, s07 s8"},
		{"&_split=8", "s07", base +
			"&_series=s00&_series=s01&_series=s02&_series=s03&_series=s04&_series=s05&_series=s06",
			"s00 s1, s01 s2, s02 s3, s03 s4, s04 s5, s05 s6, s06 s7"},
	} {
		_, _, a := askOf(t, d, records, strings.TrimPrefix(base, "?")+tt.raw)
		i := slices.IndexFunc(a.Rows, func(r AnswerRow) bool { return r.Label == tt.click })
		if len(a.Rows) != 30 || i < 0 || a.Rows[i].Href != tt.href {
			t.Fatalf("%s: %s of %d rows leads to %q, want %q", tt.raw, tt.click, len(a.Rows),
				a.Rows[max(i, 0)].Href, tt.href)
		}
		if tt.href != "" {
			_, _, a = askOf(t, d, records, strings.TrimPrefix(tt.href, "?"))
		}
		var series, shown []string
		for _, k := range a.Figures[0].Keys {
			if k.Name != "other" {
				series = append(series, k.Name+" "+k.Class)
			}
		}
		for _, r := range a.Rows {
			if r.Shown {
				shown = append(shown, r.Label+" "+r.Class)
			}
		}
		if len(shown) > 1 {
			if diff := cmp.Diff(tt.series, strings.Join(series, ", ")); diff != "" {
				t.Errorf("%s, %s: series (-want +got)\n%s", tt.raw, tt.click, diff)
			}
		}
		if diff := cmp.Diff(tt.series, strings.Join(shown, ", ")); diff != "" {
			t.Errorf("%s, %s: rows (-want +got)\n%s", tt.raw, tt.click, diff)
		}
	}
}

// TestAnswer_toggleLong leaves out links that would be too long for a query.
func TestAnswer_toggleLong(t *testing.T) {
	t.Parallel()
	d, records := ranks(7)
	for _, r := range records {
		r[1] += strings.Repeat("x", 450)
	}
	_, _, a := askOf(t, d, records, "_by=a&_by=b")
	if a.Rows[0].Href == "" || a.Rows[6].Href != "" {
		t.Errorf("links of %d and %d bytes", len(a.Rows[0].Href), len(a.Rows[6].Href))
	}
}

// TestQuestion_divided checks that an interval of time leads to shorter intervals.
func TestQuestion_divided(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"_by=date:year": "date:month", "_by=date:quarter": "date:month", "_by=date:week": "date:day",
		"_by=date:day": "date:day", "_by=at:day": "at:hour", "_by=at:hour": "at:hour",
		"_by=date:month&_by=date:day": "date:month date:day", "_by=date:month&_by=category": "date:day category",
		"_by=category&_by=date:month": "category date:month",
		"_by=date:weekday":            "date:weekday", "_by=price:10": "price:10",
	} {
		_, q, _ := ask(t, raw)
		var got []string
		for _, b := range q.divided().By {
			got = append(got, b.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", raw, got, want)
		}
	}
}
