package charts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/segmenttest"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/plot"
	"herbarium/internal/web/view/state"
)

// sales returns a dataset with a field of each type.
func sales() (*herb.Dataset, []herb.Record) {
	field := func(name string, t herb.Type) herb.Field {
		return herb.Field{Name: name, Type: t, Searchable: t == herb.TypeText, Filterable: true, Sortable: true}
	}
	d := &herb.Dataset{Ref: herb.Ref{Namespace: "shop", Name: "sales"}, Fields: []herb.Field{
		field("id", herb.TypeNumber), field("category", herb.TypeText), field("price", herb.TypeNumber),
		field("date", herb.TypeDate),
		field("at", herb.TypeDateTime), field("tags", herb.TypeList), field("page", herb.TypeText),
	}}
	d.Fields[2].Notation.Affix = "€"
	records := []herb.Record{
		{"1", "tree", "10.50", "2024-01-05", "2024-01-05T10:00:00Z", "a,b", "x"},
		{"2", "tree", "20.25", "2024-01-20", "2024-01-05T11:30:00Z", "a", "x"},
		{"3", "fern", "5", "2024-03-01", "2024-01-06T00:00:00Z", "b", "y"}, {"4", "", "7", "", "", "", "y"},
		{"5", "fern", "", "2024-03-31", "2024-01-06T01:00:00Z", "", "z"},
		{"6", "moss", "1", "2024-04-30", "2024-01-07T01:00:00Z", "c", "z"},
	}
	d.Records = len(records)
	reports := map[string]herb.ColumnReport{
		"id": {Distinct: 6, Filled: 6, Min: "1", Max: "6"}, "category": {Distinct: 3, Filled: 5},
		"price": {Distinct: 5, Filled: 5, Min: "1", Max: "20.25"},
		"date":  {Distinct: 5, Filled: 5, Min: "2024-01-05", Max: "2024-04-30"},
		"at":    {Distinct: 5, Filled: 5, Min: "2024-01-05T10:00:00Z", Max: "2024-01-07T01:00:00Z"},
		"tags":  {Distinct: 3, Filled: 4}, "page": {Distinct: 3, Filled: 6},
	}
	d.Report = &herb.Report{}
	for _, f := range d.Fields {
		r := reports[f.Name]
		r.Field, r.Type = f.Name, f.Type
		d.Report.Columns = append(d.Report.Columns, r)
	}
	return d, records
}

// ask answers the question of a query.
func ask(t *testing.T, raw string) (*state.State, *Question, *Answer) {
	t.Helper()
	d, records := sales()
	return askOf(t, d, records, raw)
}

func askOf(t *testing.T, d *herb.Dataset, records []herb.Record, raw string) (*state.State, *Question, *Answer) {
	t.Helper()
	s, canonical, err := state.ParseState("/p/chart", query.Split(raw), columns.Read(d))
	if err != nil || !canonical {
		t.Fatalf("%s: canonical %v, %v", raw, canonical, err)
	}
	q, err := ParseQuestion(&s)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	source := segmenttest.NewOracle(d.Fields, records)
	a, err := q.Run(func(r *query.AggregateRequest) (query.Aggregate, error) {
		return source.Aggregate(context.Background(), r)
	})
	if err != nil {
		t.Fatal(err)
	}
	return &s, q, NewAnswer(&s, q, a, Paths{Table: "/p"})
}

// TestSentence checks that the sentence reads well in every combination.
func TestSentence(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"":                                      "The mean of price by date per month as lines",
		"_by=category":                          "Rows by category",
		"_measure=count":                        "The number of rows",
		"_measure=mean%3Aprice":                 "The mean of price",
		"_by=category&_measure=p90%3Aprice":     "The 90th percentile of price by category",
		"_by=category&_measure=p1%3Aprice":      "The 1st percentile of price by category",
		"_by=category&_measure=distinct%3Atags": "The number of distinct values of tags by category",
		"_by=category&_measure=filled%3Aprice&_sort=by1": "The number of values of price by category, " +
			"in order",
		"_by=category&_top=2":             "Rows by category, the 2 largest",
		"_by=category&_top=2&_sort=count": "Rows by category, the 2 smallest",
		"_by=date%3Aweek&_kind=bars":      "Rows by date per week as bars",
		"_by=date":                        "Rows by date per value",
		"_by=price%3A10":                  "Rows by price in steps of 10 as bars",
		"_by=at%3Ahour&_zone=Europe%2FBerlin": "Rows by at per hour as lines, times in " +
			"Europe/Berlin",
		"_by=date%3Amonth&_by=category&_measure=sum%3Aprice&_split=2": "The sum of price by date per month, split by " +
			"category, the 2 largest as lines",
		"_by=category&_by=tags&_split=1": "Rows by category, split by tags, the largest " +
			"as stacked bars",
		"_by=category&_by=date%3Ayear&_measure=mean%3Aprice": "The mean of price by category, split by date " +
			"per year as grouped bars",
		"_by=date%3Amonth&_by=category&_kind=heat": "Rows by date per month, split by category as " +
			"a heat map",
	} {
		if _, _, a := ask(t, raw); a.Title != want {
			t.Errorf("%s: %q, want %q", raw, a.Title, want)
		}
	}
}

// TestSentence_years checks that the sentence does not say that years are steps of 1.
func TestSentence_years(t *testing.T) {
	t.Parallel()
	d := openTables()["population"]
	for raw, want := range map[string]string{
		"":              "The mean of value by year, split by country, the 5 largest as lines",
		"_by=year%3A10": "Rows by year in steps of 10 as lines",
	} {
		if _, _, a := askOf(t, &d.Dataset, d.records, raw); a.Title != want {
			t.Errorf("%s: %q, want %q", raw, a.Title, want)
		}
	}
}

// TestNewAnswer_cycle draws all groups of a cycle in their order. They have no links, because no
// filter selects their rows.
func TestNewAnswer_cycle(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"_by=date:weekday":     "Mon Tue Wed Thu Fri Sat Sun",
		"_by=at:month_of_year": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
		"_by=at:hour_of_day":   "00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 22 23",
	} {
		_, q, a := ask(t, raw)
		var labels []string
		for _, g := range a.data.Groups {
			labels = append(labels, g.Label)
		}
		for _, hit := range a.Figures[0].Hits {
			if hit.Href != "" {
				t.Errorf("%s: %s links to %s", raw, hit.Title, hit.Href)
			}
		}
		if !a.data.Axis.Whole {
			t.Errorf("%s: the labels of the axis are not in the middle of the bars", raw)
		}
		if got := strings.Join(labels, " "); got != want || q.Kind != plot.Bars {
			t.Errorf("%s: %s of %s; want bars of %s", raw, q.Kind, got, want)
		}
		if last := a.Rows[len(a.Rows)-1]; last.Label != "empty" || !strings.Contains(last.Href, "empty") {
			t.Errorf("%s: the last row is %+v; want rows without a value", raw, last)
		}
	}
	if _, _, a := ask(t, "_by=at:weekday&_by=category"); a.Title != "Rows by at per weekday, split by category as "+
		"stacked bars" || a.Figures[0].Hits[0].Href != "" {
		t.Errorf("%s: %+v", a.Title, a.Figures[0].Hits[0])
	}
}

// TestNewAnswer_hoursWithoutZone draws hours of datetimes without a zone.
func TestNewAnswer_hoursWithoutZone(t *testing.T) {
	t.Parallel()
	d, records := sales()
	for i := range records {
		records[i][4] = strings.TrimSuffix(records[i][4], "Z")
	}
	_, _, a := askOf(t, d, records, "_by=at:hour")
	if n := len(a.data.Groups); n != 40 || a.data.Groups[0].Label != "5 Jan 2024 10:00" ||
		a.data.Groups[0].At != 1704448800 {
		t.Errorf("%d groups, the first is %+v", n, a.data.Groups[0])
	}
}

func TestParseQuestion_invalid(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"_by=categry": `did you mean "category"`, "_measure=sum:category": "fields with a sum",
		"_measure=count&_measure=sum:price":                        "the same measure of two columns",
		"_measure=sum:price&_measure=mean:id":                      "the same measure of two columns",
		"_by=category&_by=page&_measure=sum:price&_measure=sum:id": "a chart of two fields shows one measure",
		"_by=category&_sort=sum:price":                             "-count, count or by1",
		"_by=category&_top=101":                                    "1 to 100",
		"_by=category&_by=page&_split=9":                           "from 1 to 8",
		"_by=date&_kind=lines":                                     `it must be one of: bars, table; lines need intervals, such as "_by=date:week"`,
		"_by=price&_by=category&_kind=lines":                       `stacked, grouped, heat, table; lines need intervals, such as "_by=price:1"`,
		"_by=category&_kind=pie":                                   "one of: bars", "_kind=pie": "one of: lines, bars",
		"_measure=count&_kind=bars": "no groups", "_by=date:month&_kind=stacked": "one of: lines, bars",
		"_by=date:fortnight": "valid grains", "_zone=Mars": "IANA",
	} {
		d, _ := sales()
		s, _, err := state.ParseState("/p", query.Split(raw), columns.Read(d))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseQuestion(&s); herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", raw, err, want)
		}
	}
}

// TestAnswer_rows checks the values of charts, where they lead, and what is said about them.
func TestAnswer_rows(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ raw, rows, hrefs, question, note string }{
		{"_by=category", "fern 2, tree 2, moss 1, empty 1", "?category=fern ?category=tree ?category=moss ?category=",
			"&_by=category",
			"6 rows in 4 groups. Rows without a value of category form the group “empty”."},
		{"_by=date%3Amonth&_measure=sum%3Aprice&category=fern&category=tree",
			"Jan 2024 30.75\u00a0€, Mar 2024 5\u00a0€",
			"?category=fern&category=tree&date%5Bgte%5D=2024-01-01&date%5Blt%5D=2024-02-01 " +
				"?category=fern&category=tree&date%5Bgte%5D=2024-03-01&date%5Blt%5D=2024-04-01",
			"&_by=date%3Aday&_measure=sum%3Aprice",
			"4 rows in 2 groups, total 35.75\u00a0€. Not included: 1 row without a value of price."},
		{"_by=date%3Aquarter", "Q1 2024 4, Q2 2024 1, empty 1", "?date%5Bgte%5D=2024-01-01&date%5Blt%5D=2024-04-01 " +
			"?date%5Bgte%5D=2024-04-01&date%5Blt%5D=2024-07-01 /p?date%5Bempty%5D=true", "&_by=date%3Amonth",
			"6 rows in 3 groups. Not drawn: 1 row without a value of date."},
		{"_by=price%3A10&_measure=mean%3Aprice",
			"0 – 10 4.333\u00a0€, 10 – 20 10.5\u00a0€, 20 – 30 20.25\u00a0€, empty –",
			"?price%5Bgte%5D=0&price%5Blt%5D=10 ?price%5Bgte%5D=10&price%5Blt%5D=20 " +
				"?price%5Bgte%5D=20&price%5Blt%5D=30 /p?price%5Bempty%5D=true",
			"&_by=price%3A10&_measure=mean%3Aprice", ""},
		{"_by=date%3Amonth&date%5Bgte%5D=2024-01-10&date%5Blte%5D=2024-03-15", "Jan 2024 1, Feb 2024 0, Mar 2024 1",
			"?date%5Bgte%5D=2024-01-10&date%5Blt%5D=2024-02-01 ?date%5Bgte%5D=2024-02-01&date%5Blt%5D=2024-03-01 " +
				"?date%5Blte%5D=2024-03-15&date%5Bgte%5D=2024-03-01", "&_by=date%3Aday", ""},
		{"_by=at%3Aday&_zone=Europe%2FBerlin", "5 Jan 2024 2, 6 Jan 2024 2, 7 Jan 2024 1, empty 1",
			"?at%5Bgte%5D=2024-01-05T00%3A00%3A00%2B01%3A00&at%5Blt%5D=2024-01-06T00%3A00%3A00%2B01%3A00 " +
				"?at%5Bgte%5D=2024-01-06T00%3A00%3A00%2B01%3A00&at%5Blt%5D=2024-01-07T00%3A00%3A00%2B01%3A00 " +
				"?at%5Bgte%5D=2024-01-07T00%3A00%3A00%2B01%3A00&at%5Blt%5D=2024-01-08T00%3A00%3A00%2B01%3A00 " +
				"/p?at%5Bempty%5D=true", "&_by=at%3Ahour&_zone=Europe%2FBerlin", ""},
		{"_by=tags&tags=a", "a 2, b 1", "?tags=a&tags%5Bin%5D=a ?tags=a&tags%5Bin%5D=b", "&_by=tags",
			"2 rows in 2 groups. A row is in the groups of all its values of tags, so groups add up to more than the " +
				"total."},
		{"_by=page&_top=2", "x 2, y 2", "?page%5Beq%5D=x ?page%5Beq%5D=y", "&_by=page&_top=2",
			"6 rows in 3 groups. Shown: 2 of 3 groups of page."},
		{"_by=date%3Amonth&_by=category&_split=2", "fern 2, tree 2, moss 1, empty 1",
			"?_by=date%3Amonth&_by=category&_series=tree ?_by=date%3Amonth&_by=category&_series=fern " +
				"?_by=date%3Amonth&_by=category&_series=fern&_series=tree&_series=moss " +
				"?_by=date%3Amonth&_by=category&_series=fern&_series=tree&_series%5Bempty%5D=true", "",
			"6 rows in 5 groups. Not drawn: 1 row without a value of date. Shown: 2 of 4 groups of category. " +
				"Rows without a value of category form the group “empty”. " +
				"Click a name to add its series to the chart or to remove it."},
	} {
		_, _, a := ask(t, tt.raw)
		var rows, hrefs []string
		for _, r := range a.Rows {
			rows, hrefs = append(rows, r.Label+" "+r.Value), append(hrefs, strings.TrimSuffix(r.Href, tt.question))
		}
		if diff := cmp.Diff(tt.rows, strings.Join(rows, ", ")); diff != "" {
			t.Errorf("%s: rows (-want +got)\n%s", tt.raw, diff)
		}
		if diff := cmp.Diff(tt.hrefs, strings.Join(hrefs, " ")); diff != "" {
			t.Errorf("%s: links (-want +got)\n%s", tt.raw, diff)
		}
		if note := strings.Join(a.Note, " "); tt.note != "" && note != tt.note {
			t.Errorf("%s: note %q, want %q", tt.raw, note, tt.note)
		}
	}
}

// TestAnswer_clocks checks charts of times of day and durations: labels, links and the axis in
// hours.
func TestAnswer_clocks(t *testing.T) {
	t.Parallel()
	d := &herb.Dataset{Ref: herb.Ref{Namespace: "bus", Name: "trips"}, Fields: []herb.Field{
		{Name: "departs", Type: herb.TypeTime, Filterable: true, Sortable: true},
		{Name: "takes", Type: herb.TypeDuration, Filterable: true, Sortable: true},
	}}
	records := []herb.Record{{"6:00", "1h 20m"}, {"06:30:00", "25:10:00"}, {"8:15 pm", "PT30M"}, {"", ""}}
	d.Records = len(records)
	d.Report = &herb.Report{Columns: []herb.ColumnReport{
		{Field: "departs", Type: herb.TypeTime, Filled: 3, Distinct: 3, Min: "6:00", Max: "8:15 pm"},
		{Field: "takes", Type: herb.TypeDuration, Filled: 3, Distinct: 3, Min: "PT30M", Max: "25:10:00"},
	}}
	for _, tt := range []struct{ raw, title, rows, first string }{
		{"_by=departs%3Ahour", "Rows by departs per hour as lines", "06:00 2, 07:00 0",
			"?departs%5Bgte%5D=06%3A00%3A00&departs%5Blt%5D=07%3A00%3A00&_by=departs%3Aminute"},
		{"_by=departs%3Ahour&_measure=sum%3Atakes", "The sum of takes by departs per hour as lines",
			"06:00 26:30:00, 20:00 0:30:00",
			"?departs%5Bgte%5D=06%3A00%3A00&departs%5Blt%5D=07%3A00%3A00&_by=departs%3Aminute&_measure=sum%3Atakes"},
		{"_by=takes%3A3600&_kind=bars", "Rows by takes in steps of 1:00:00 as bars",
			"0:00:00 – 1:00:00 1, 1:00:00 – 2:00:00 1",
			"?takes%5Bgte%5D=0%3A00%3A00&takes%5Blt%5D=1%3A00%3A00&_by=takes%3A3600"},
	} {
		_, q, a := askOf(t, d, records, tt.raw)
		if len(a.Rows) < 2 {
			t.Fatalf("%s: rows %v", tt.raw, a.Rows)
		}
		rows := fmt.Sprintf("%s %s, %s %s", a.Rows[0].Label, a.Rows[0].Value, a.Rows[1].Label, a.Rows[1].Value)
		if a.Title != tt.title || rows != tt.rows || a.Rows[0].Href != tt.first {
			t.Errorf("%s: %q, rows %q, first link %s; want %q, %q, %s", tt.raw, a.Title, rows, a.Rows[0].Href, tt.title,
				tt.rows, tt.first)
		}
		if hours, ok := q.number("26:30:00"); q.isDuration() && (!ok || hours != 26.5 || q.unit() != "h") {
			t.Errorf("%s: 26:30:00 is at %v %s of the axis", tt.raw, hours, q.unit())
		}
	}
}

// TestAnswer_series checks the values of a chart with a split, and that the parts of a bar add up.
func TestAnswer_series(t *testing.T) {
	t.Parallel()
	values := func(raw string) map[string][]string {
		_, _, a := ask(t, raw)
		got := map[string][]string{}
		for _, s := range a.data.Series {
			for _, c := range s.Cells {
				value := "none"
				if c.Known {
					value = fmt.Sprint(c.Value)
				}
				got[s.Name] = append(got[s.Name], value)
			}
		}
		return got
	}
	want := map[string][]string{"tree": {"30.75", "none", "none"}, "other": {"0", "5", "1"}}
	if diff := cmp.Diff(want,
		values("_by=date%3Amonth&_by=category&_measure=sum%3Aprice&_split=1&_kind=stacked")); diff != "" {
		t.Errorf("stacked (-want +got)\n%s", diff)
	}
	delete(want, "other")
	if diff := cmp.Diff(want, values("_by=date%3Amonth&_by=category&_measure=sum%3Aprice&_split=1")); diff != "" {
		t.Errorf("lines (-want +got)\n%s", diff)
	}
	if _, q, _ := ask(t, "_by=date%3Amonth&_by=category&_measure=sum%3Aprice&_gaps=1"); !q.Gaps {
		t.Error("lines of sums have no gaps")
	}
	for _, measure := range []string{"mean", "sum"} {
		_, _, a := ask(t, "_by=date%3Amonth&_by=category&_measure="+measure+"%3Aprice&_kind=table")
		if a.Pivot == nil || len(a.Pivot.Rows) != 4 || a.Pivot.Rows[3].Label != "empty" ||
			a.Pivot.Rows[1].Label != "Mar 2024" || a.AllValues != "" || !slices.Contains(a.Pivot.Rows[1].Values, "–") {
			t.Errorf("the table of %ss is %+v", measure, a.Pivot)
		}
	}
	_, _, a := ask(t, "_by=date%3Amonth&_by=category")
	if got := a.data.Mark(0, 0, -1).Title; got != "Jan 2024\nfern 0\ntree 2\nmoss 0\nempty 0" {
		t.Errorf("the first group says %q", got)
	}
	for _, tt := range []struct {
		raw    string
		series int
		want   string
	}{
		{"_by=date%3Amonth&_by=category", -1, "Jan 2024: 0 2 0 0"}, {"_by=date%3Amonth&_by=category", 1, "Jan 2024: 2"},
		{"_by=date%3Amonth&_by=category&_series=tree", -1, "Jan 2024, tree: 2"},
		{"_by=date%3Amonth", -1, "Jan 2024: 2"},
		{"_by=id&_by=price&_kind=scatter", 0, "id 1, price 10.50: 1 row"},
	} {
		_, _, a := ask(t, tt.raw)
		var m plot.Mark
		if a.data.Scatter != nil {
			m = a.data.Scatter.Mark([]int{tt.series})
		} else {
			m = a.data.Mark(0, 0, tt.series)
		}
		if got := m.Group + ": " + strings.Join(m.Values, " "); got != tt.want {
			t.Errorf("%s, series %d: %q, want %q", tt.raw, tt.series, got, tt.want)
		}
	}
	if a.AllValues != "?_by=date%3Amonth&_by=category&_kind=table" {
		t.Errorf("all values are at %s", a.AllValues)
	}
}

// TestAnswer_manyCombinations checks the values of a chart of two fields with many values.
func TestAnswer_manyCombinations(t *testing.T) {
	t.Parallel()
	d := &herb.Dataset{Fields: []herb.Field{{Name: "a", Type: herb.TypeText, Filterable: true},
		{Name: "b", Type: herb.TypeText, Filterable: true}}}
	var records []herb.Record
	for i := range 150 {
		for k := range 150 {
			records = append(records, herb.Record{fmt.Sprintf("a%03d", i), fmt.Sprintf("b%03d", k)})
		}
	}
	for range 5 {
		records = append(records, herb.Record{"a149", "b149"}, herb.Record{"a148", "b149"})
	}
	_, _, a := askOf(t, d, records, "_by=a&_by=b&_split=2&_top=3")
	got := ""
	for _, s := range a.data.Series {
		got += s.Name + ":"
		for _, c := range s.Cells {
			got += " " + c.Text
		}
		got += "; "
	}
	if want := "b149: 6 6 1; b000: 1 1 1; other: 148 148 148; "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestAnswer_allValues checks that the pages of the table of all values have each value once.
func TestAnswer_allValues(t *testing.T) {
	t.Parallel()
	d := &herb.Dataset{Fields: []herb.Field{
		{Name: "a", Type: herb.TypeText, Filterable: true}, {Name: "b", Type: herb.TypeText, Filterable: true},
		{Name: "n", Type: herb.TypeNumber, Filterable: true},
	}}
	var records []herb.Record
	for i := range 250 {
		for k := range 30 {
			records = append(records, herb.Record{fmt.Sprintf("a%03d", i), fmt.Sprintf("b%02d", k), fmt.Sprint(i)})
		}
	}
	records = append(records, herb.Record{"a000", "b00", ""})
	for name, tt := range map[string]struct {
		raw, link, note string
		rows, columns   int
	}{
		"names": {"_by=a&_top=10", "?_by=a&_top=10&_kind=table", "7,501 rows in 250 groups.", 250, 1},
		"names and series": {"_by=a&_by=b&_series=b07", "?_by=a&_by=b&_kind=table",
			"7,501 rows in 250 groups.", 250, 30},
		"intervals": {"_by=n%3A1&_by=b", "?_by=n%3A1&_by=b&_kind=table",
			"7,501 rows in 251 groups. Rows without a value of n form the group “empty”.", 251, 30},
	} {
		_, _, chart := askOf(t, d, records, tt.raw)
		if chart.AllValues != tt.link {
			t.Errorf("%s: all values are at %s, want %s", name, chart.AllValues, tt.link)
		}
		seen, rows, note := map[string]bool{}, 0, ""
		href := chart.AllValues
		for range 4 {
			_, _, a := askOf(t, d, records, strings.TrimPrefix(href, "?"))
			if len(a.Pivot.Columns) != tt.columns || len(a.Pivot.Rows) > pageGroups ||
				a.Pivot.To-a.Pivot.From+1 != len(a.Pivot.Rows) {
				t.Errorf("%s: %d columns, %d rows from %d to %d", name, len(a.Pivot.Columns), len(a.Pivot.Rows),
					a.Pivot.From, a.Pivot.To)
			}
			for _, row := range a.Pivot.Rows {
				rows++
				seen[row.Label] = true
			}
			note = strings.Join(a.Note, " ")
			href = a.Pivot.Next
			if href == "" {
				break
			}
		}
		if rows != tt.rows || len(seen) != tt.rows || note != tt.note {
			t.Errorf("%s: the pages have %d rows, %d of them different, note %q; want %d, %q", name, rows, len(seen),
				note, tt.rows, tt.note)
		}
	}
	_, q, a := askOf(t, d, records, "_by=a&_by=b&_kind=table&page=9")
	if len(a.Pivot.Rows) != 0 || a.Pivot.Prev == "" || a.Pivot.Next != "" {
		t.Errorf("a page after the last is %+v", a.Pivot)
	}
	if got := readable(q.FileCall(
		q.Call(&state.State{}, Aggregates{}))); got != "_by=a&_by=b&_measure=count&_fill=zero" {
		t.Errorf("file of all values is %s", got)
	}
	if got := readable(q.Call(&state.State{},
		Aggregates{})); got != "_by=a&_by=b&_measure=count&_fill=zero&_top=100000" {
		t.Errorf("the call for all values is %s", got)
	}
}

// TestAnswer_unknownSeries checks that series without rows are named, on the page and in a picture.
func TestAnswer_unknownSeries(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"_by=date%3Amonth&_by=category&_series=fern":                 "",
		"_by=date%3Amonth&_by=category&_series=Nowhere":              "No row has this category: “Nowhere”.",
		"_by=date%3Amonth&_by=category&_series=fern&_series=Nowhere": "No row has this category: “Nowhere”.",
		"_by=date%3Amonth&_by=category&_series=gone&_series=Nowhere&_kind=heat": "No row has this category: “gone”, " +
			"“Nowhere”.",
		"_by=date%3Amonth&_by=category&_series=gone&category=fern&_kind=table": "No row has this category: “gone”.",
	} {
		_, _, a := ask(t, raw)
		noted := slices.ContainsFunc(a.Note, func(note string) bool { return strings.HasPrefix(note, "No row") })
		if a.Unknown != want || noted != (want != "") {
			t.Errorf("%s: %q, note %q; want %q", raw, a.Unknown, a.Note, want)
		}
		picture := NewPicture(a, state.Picture{}, Caption{})
		written := slices.ContainsFunc(picture.Lines, func(l PictureLine) bool { return l.Text == want })
		if len(a.Figures) == 0 && !written {
			t.Errorf("%s: the picture says %+v", raw, picture.Lines)
		}
	}
}

func TestAnswer_described(t *testing.T) {
	t.Parallel()
	_, _, a := ask(t, "_by=date%3Amonth")
	want := "Lines of 4 groups. Highest: Jan 2024: 2. Lowest: Feb 2024: 0."
	if len(a.Figures) != 3 || a.Figures[0].Description != want {
		t.Errorf("%+v", a.Figures)
	}
	_, _, a = ask(t, "_by=category&_measure=max%3Adate")
	if a.Figures != nil || a.Rows[0].Value != "2024-04-30" {
		t.Errorf("a measure without numbers has the figures %v and the rows %v", a.Figures, a.Rows)
	}
	_, _, a = ask(t, "_measure=mean%3Aprice")
	if a.Big != "8.75\u00a0€" || a.Figures != nil || a.Rows != nil {
		t.Errorf("without groups: %q", a.Big)
	}
}
