package view

import (
	"slices"
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0": "0", "2024": "2,024", "12345": "12,345", "-12345.67": "-12,345.67", "+1234567": "+1,234,567", "57000.50": "57,000.50",
		"3521418059.923445": "3,521,418,060", "48.783125": "48.7831", "-123456.789": "-123,456.79", "0.000123456789": "0.0001235", "999999.999": "1,000,000.00",
		"8.00": "8.00", "1e10000": "1e10000", "": "", "1.234,50": "1.234,50", "--1": "--1", "12:30": "12:30",
	} {
		if got := Number(&herb.Field{}, in); got != want {
			t.Errorf("Number(%q) = %q, want %q", in, got, want)
		}
	}
	if long := strings.Repeat("1", 100); Number(&herb.Field{}, long) != long {
		t.Error("a number that is too long is formatted")
	}
	comma := &herb.Field{Notation: herb.Notation{Decimal: ","}}
	for _, n := range []string{"12345", "1.234", "12345,5"} {
		if got, grouped := Number(comma, n), GroupNumber(comma, n); got != n || grouped != n {
			t.Errorf("%q with a decimal comma is formatted as %q and grouped as %q", n, got, grouped)
		}
	}
}

// TestDecimals formats the numbers of a column with the same number of decimal places.
func TestDecimals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		values []string
		want   string
	}{
		{"different lengths", []string{"1.86300", "19.246", "", "3"}, "1.8630 19.2460  3.0000"},
		{"two places", []string{"8.5", "1200.25", "3"}, "8.50 1,200.25 3.00"},
		{"whole numbers", []string{"5", "1200"}, "5 1,200"},
		{"large numbers", []string{"12345678.12345", "0.5"}, "12,345,678 1"},
		{"small numbers", []string{"0.000123456789", "0.1"}, "0.1000 0.0001"},
		{"other values", []string{"n/a", "1.5e3", "2.345"}, "n/a 1.5e3 2.345"},
	} {
		d := &herb.Dataset{Fields: []herb.Field{{Name: "depth", Type: herb.TypeNumber}}}
		var rows []herb.Record
		for _, v := range tt.values {
			rows = append(rows, herb.Record{v})
		}
		c := Header{Column: NewColumn(d, 0), limit: 60}
		c.setDecimals(rows)
		var got []string
		for _, v := range tt.values {
			got = append(got, newCell(&State{}, &c, v, newHighlighter(nil)).Text)
		}
		slices.Sort(got)
		want := strings.Split(tt.want, " ")
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", tt.name, got, want)
		}
	}
}

// TestCodes groups the digits of amounts, but not of numbers that identify something.
func TestCodes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		report herb.ColumnReport
		key    string
		want   bool
	}{
		{"population", herb.ColumnReport{Min: "7", Max: "8600000", Shortest: 1, Longest: 7, Filled: 500, Distinct: 490}, "", false},
		{"paid", herb.ColumnReport{Min: "7", Max: "8600", Shortest: 1, Longest: 4, Filled: 500, Distinct: 490}, "", false},
		{"objectid", herb.ColumnReport{Min: "7", Max: "8600", Shortest: 1, Longest: 4, Filled: 500, Distinct: 490}, "", true},
		{"plot", herb.ColumnReport{Min: "1", Max: "1100", Shortest: 1, Longest: 4, Filled: 1000, Distinct: 1000}, "", true},
		{"plot", herb.ColumnReport{Min: "1", Max: "9999999", Shortest: 1, Longest: 7, Filled: 1000, Distinct: 1000}, "plot", true},
		{"station", herb.ColumnReport{Min: "10015", Max: "97220", Shortest: 5, Longest: 5, Filled: 1000, Distinct: 800}, "", true},
		{"date_taken", herb.ColumnReport{Min: "1012018", Max: "12312018", Shortest: 7, Longest: 8, Filled: 1000, Distinct: 300}, "", true},
		{"height", herb.ColumnReport{Min: "1840.5", Max: "1999.5", Shortest: 6, Longest: 6, Filled: 1000, Distinct: 300}, "", false},
	} {
		tt.report.Field = tt.name
		d := &herb.Dataset{Fields: []herb.Field{{Name: tt.name, Type: herb.TypeNumber}}, Records: tt.report.Filled}
		d.Report = &herb.Report{Columns: []herb.ColumnReport{tt.report}}
		if tt.key != "" {
			d.PrimaryKey = []string{tt.key}
		}
		c := NewColumn(d, 0)
		if got := c.IsCode; got != tt.want {
			t.Errorf("%s from %s to %s: code is %t, want %t", tt.name, tt.report.Min, tt.report.Max, got, tt.want)
		}
		if got, want := formatOperand(&c, "10142018"), map[bool]string{true: "10142018", false: "10,142,018"}[tt.want]; got != want {
			t.Errorf("%s: %s, want %s", tt.name, got, want)
		}
	}
}

// TestContains checks that filters offer an operator that the listing accepts.
func TestContains(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind   herb.Type
		report herb.ColumnReport
		want   string
	}{
		{herb.TypeText, herb.ColumnReport{Longest: 100, Distinct: 1_000_000, Min: "a", Max: "z"}, "f[contains]"},
		{herb.TypeText, herb.ColumnReport{Longest: 9000, Distinct: 4000, Min: "a", Max: "z"}, "f[contains]"},
		{herb.TypeText, herb.ColumnReport{Longest: 9000, Distinct: 6000, Min: "a", Max: "z"}, "f[match]"},
		{herb.TypeText, herb.ColumnReport{Longest: 100, Distinct: 6000, Min: "東", Max: "都"}, "f[match]"},
		{herb.TypeList, herb.ColumnReport{Longest: 9000, Distinct: 6000}, "f[contains]"},
		{herb.TypeNumber, herb.ColumnReport{Longest: 9, Distinct: 60}, ""},
		{herb.TypeBoolean, herb.ColumnReport{Longest: 5, Distinct: 2}, ""},
	} {
		tt.report.Field = "f"
		d := &herb.Dataset{Records: 1_000_000, Fields: []herb.Field{{Name: "f", Type: tt.kind, Searchable: true, Filterable: true}}}
		d.Report = &herb.Report{Columns: []herb.ColumnReport{tt.report}}
		if got := NewFilter(&State{dataset: d, fields: d.Fields}, 0).ContainsName; got != tt.want {
			t.Errorf("%s of up to %d characters: %q, want %q", tt.kind, tt.report.Longest, got, tt.want)
		}
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	date := herb.Field{Type: herb.TypeDate}
	european := herb.Field{Type: herb.TypeDate, Notation: herb.Notation{Layout: "%d/%m/%Y", Missing: []string{"NA"}}}
	datetime := herb.Field{Type: herb.TypeDateTime}
	for _, tt := range []struct {
		name     string
		field    herb.Field
		in, want string
	}{
		{"date", date, "2024-02-29", "2024-02-29"},
		{"not a date", date, "2024-13-01", "2024-13-01"},
		{"empty", date, "", ""},
		{"own notation", european, "1/12/2024", "2024-12-01"},
		{"missing", european, "NA", "NA"},
		{"minutes", datetime, "2024-02-29T10:00", "2024-02-29 10:00"},
		{"seconds and zone", datetime, "2024-02-29T10:00:05+01:00", "2024-02-29 09:00:05 UTC"},
		{"fraction", datetime, "2024-02-29T10:00:00.250", "2024-02-29 10:00:00.25"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Time(&tt.field, tt.in); got != tt.want {
				t.Errorf("Time(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestFilter_inputs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		typ                 herb.Type
		notation            herb.Notation
		operand, kind, want string
	}{
		{herb.TypeNumber, herb.Notation{Decimal: ","}, "1,50", "text", "1,50"},
		{herb.TypeDate, herb.Notation{Layout: "%d/%m/%Y"}, "20/10/2020", "date", "2020-10-20"},
		{herb.TypeDateTime, herb.Notation{}, "2024-02-29T10:00:00Z", "datetime-local", "2024-02-29T10:00:00"},
		{herb.TypeDateTime, herb.Notation{}, "2024-02-29", "datetime-local", "2024-02-29T00:00:00"},
		{herb.TypeDateTime, herb.Notation{}, "2024-02-29T10:00:00.5Z", "datetime-local", "2024-02-29T10:00:00.500000000"},
		{herb.TypeDate, herb.Notation{}, "soon", "date", "soon"},
	} {
		f := Filter{Column: Column{Field: herb.Field{Name: "f", Type: tt.typ, Notation: tt.notation}}}
		if got := f.input(tt.operand); got != tt.want || f.InputType() != tt.kind {
			t.Errorf("the input of %s %q is %s %q; want %s %q", tt.typ, tt.operand, f.InputType(), got, tt.kind, tt.want)
		}
	}
}

func TestIsWebAddress(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"https://example.org", "http://example.org/a?b=c#d", "https://münchen.example/ä", "https://[::1]:8080/x", "https://a.example/@user"} {
		if !IsWebAddress(s) {
			t.Errorf("%q is rejected", s)
		}
	}
	for _, s := range []string{
		"", "https://", "https:///x", "http:x", "HTTPS://example.org", "javascript:alert(1)", "ftp://x", "//x", " https://x", "https://a b", "https://a\nb",
		"https://user@host/", "https://a%20b/", `https://a"b`, "https://a<b", "https://a\\b", "mailto:a@b",
	} {
		if IsWebAddress(s) {
			t.Errorf("%q is accepted", s)
		}
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	report := func(name string) *herb.Report {
		if name == "a" {
			return &herb.Report{Columns: []herb.ColumnReport{{Field: "a", Min: "https://x.example/1.png", Max: "https://x.example/z.JPG"}}}
		}
		return &herb.Report{Columns: []herb.ColumnReport{{Field: "b", Min: "https://x.example/1.png", Max: "none"}}}
	}
	for _, tt := range []struct {
		name string
		typ  herb.Type
		want Kind
	}{
		{"a", herb.TypeText, KindImage}, {"b", herb.TypeText, KindText}, {"coverImage", herb.TypeText, KindImage}, {"imagine", herb.TypeText, KindText},
		{"thumb_url", herb.TypeText, KindImage}, {"id", herb.TypeNumber, KindCode}, {"orderNo", herb.TypeNumber, KindCode}, {"price", herb.TypeNumber, KindNumber},
		{"image", herb.TypeDate, KindDate}, {"image", herb.TypeList, KindList},
	} {
		d := herb.Dataset{Fields: []herb.Field{{Name: tt.name, Type: tt.typ}}}
		d.Report = report(tt.name)
		if got := KindOf(&d, 0); got != tt.want {
			t.Errorf("%s (%s) is shown as %d, want %d", tt.name, tt.typ, got, tt.want)
		}
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		-time.Hour: "just now", 59 * time.Second: "just now", time.Minute: "1 minute ago", 3 * time.Hour: "3 hours ago", 47 * time.Hour: "1 day ago",
		45 * 24 * time.Hour: "1 month ago", 800 * 24 * time.Hour: "2 years ago",
	} {
		if got := Age(now, now.Add(-ago)); got != want {
			t.Errorf("%v: %q, want %q", ago, got, want)
		}
	}
}
