package view

import (
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// mark returns the text of a cell of 180 pixels with the matches of a search in brackets.
func mark(t *testing.T, search, value string) string {
	t.Helper()
	req, err := query.Parse(query.Params{{Name: query.ParamSearch, Value: search}}.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	h := newHighlighter(req.Search)
	for _, p := range h.pieces(h.excerpt(value, 180)) {
		if p.Mark {
			b.WriteString("[" + p.Text + "]")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestHighlighter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ search, value, want string }{
		{"rose", "A Rose, a ROSÉ and roses", "A [Rose], a [ROSÉ] and roses"},
		{"ros*", "A Rose and roses", "A [Rose] and [roses]"},
		{`"red rose"`, "red rose, red, rose", "[red rose], [red, rose]"}, // punctuation does not separate the words of a phrase
		{`"red ro"*`, "a red rose", "a [red rose]"},
		{"-rose tree", "rose tree", "rose [tree]"},
		{"strasse", "Lange Straße 1", "Lange [Straße] 1"},
		{"植", "植物園", "[植]物園"},
		{"rose", "tulip", ""},
		{"end", "a text that is long before its end", "…its [end]"},
		{"植", "東京都大阪府春夏秋冬花桜梅紅葉植物園", "…府春夏秋冬花桜梅紅葉[植]物園"}, // these letters are twice as wide
	} {
		if got := mark(t, tt.search, tt.value); got != tt.want {
			t.Errorf("%s in %q: %q, want %q", tt.search, tt.value, got, tt.want)
		}
	}
}

// TestBringIntoView checks that each row has a match among the first columns.
func TestBringIntoView(t *testing.T) {
	t.Parallel()
	fields := make([]herb.Field, 20)
	columns := make([]int, 10)
	for i := range fields {
		fields[i].Searchable = i != 19
	}
	for i := range columns {
		columns[i] = i
	}
	row := func(matches ...int) []string {
		r := make([]string, len(fields))
		for _, i := range matches {
			r[i] = "a rose"
		}
		return r
	}
	for _, tt := range []struct {
		name string
		rows []herb.Record
		want []int
	}{
		{"in view", []herb.Record{row(0), row(5, 15)}, columns},
		{"none", []herb.Record{row(), row(19)}, columns},
		{"not shown", []herb.Record{row(1), row(12, 15), row(15)}, []int{0, 15, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{"shown further right", []herb.Record{row(8), row(9)}, []int{0, 8, 9, 1, 2, 3, 4, 5, 6, 7}},
	} {
		req, err := query.Parse("search=rose", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := bringIntoView(newHighlighter(req.Search), columns, tt.rows, fields); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestNamingColumn(t *testing.T) {
	t.Parallel()
	field := func(name string, distinct int) (herb.Field, herb.ColumnReport) {
		return herb.Field{Name: name, Type: herb.TypeText}, herb.ColumnReport{Field: name, Filled: 100, Distinct: distinct}
	}
	for _, tt := range []struct {
		names    string
		distinct int
		key      string
		want     string
	}{
		{"id,country_name_ar,display_name,name_en", 100, "", "display_name"},
		{"id,country_name_ar,name_en", 100, "", "name_en"},
		{"id,filename,Title", 100, "id", "Title"},
		{"id,name", 3, "id", "id"}, // shared by many records
		{"a,b", 100, "b", "b"},
		{"a,b", 100, "", "a"},
	} {
		d := &herb.Dataset{Records: 100}
		d.Report = &herb.Report{}
		for name := range strings.SplitSeq(tt.names, ",") {
			f, r := field(name, tt.distinct)
			d.Fields, d.Report.Columns = append(d.Fields, f), append(d.Report.Columns, r)
		}
		if tt.key != "" {
			d.PrimaryKey = []string{tt.key}
		}
		if got := d.Fields[NamingColumn(d)].Name; got != tt.want {
			t.Errorf("%s with key %q: %s, want %s", tt.names, tt.key, got, tt.want)
		}
	}
	// Without a title, the first short text with different words names the records.
	d := &herb.Dataset{Records: 100}
	d.Report, d.PrimaryKey = &herb.Report{}, []string{"id"}
	for _, c := range []herb.ColumnReport{
		{Field: "id", Min: "A-1", Max: "Z-9", Longest: 3, Distinct: 100}, {Field: "party", Min: "Green", Max: "Red", Longest: 5, Distinct: 3},
		{Field: "speech", Min: "A word", Max: "Zeal", Longest: 9000, Distinct: 100}, {Field: "link", Min: "https://a.example/", Max: "https://z.example/", Longest: 30, Distinct: 100},
		{Field: "dish", Min: "Apple pie", Max: "Zucchini soup", Longest: 40, Distinct: 98},
	} {
		c.Filled = 100
		d.Fields, d.Report.Columns = append(d.Fields, herb.Field{Name: c.Field, Type: herb.TypeText}), append(d.Report.Columns, c)
	}
	if got := d.Fields[NamingColumn(d)].Name; got != "dish" {
		t.Errorf("%s names the records, want dish", got)
	}
}

func TestShortNumber(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0": "0", "9999": "9999", "10000": "10k", "1234567": "1.235M", "-25000": "-25k", "0.125": "0.125", "5000000000": "5B", "x": "x",
	} {
		if got := shortNumber(&herb.Field{Type: herb.TypeNumber}, in); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n, total int
		want     string
	}{{1, 1000, "<1%"}, {999, 1000, ">99%"}, {0, 10, "0%"}, {10, 10, "100%"}, {1, 3, "33%"}} {
		if got := Percent(tt.n, tt.total); got != tt.want {
			t.Errorf("%d of %d is %s, want %s", tt.n, tt.total, got, tt.want)
		}
	}
}
