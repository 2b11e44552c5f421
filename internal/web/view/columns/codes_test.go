package columns

import (
	"testing"

	"herbarium/internal/herb"
)

// TestCodes groups the digits of amounts, but not of numbers that identify something.
func TestCodes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		report herb.ColumnReport
		key    string
		want   bool
	}{
		{"population", herb.ColumnReport{Min: "7", Max: "8600000", Shortest: 1, Longest: 7, Filled: 500, Distinct: 490},
			"", false},
		{"paid", herb.ColumnReport{Min: "7", Max: "8600", Shortest: 1, Longest: 4, Filled: 500, Distinct: 490}, "",
			false},
		{"objectid", herb.ColumnReport{Min: "7", Max: "8600", Shortest: 1, Longest: 4, Filled: 500, Distinct: 490}, "",
			true},
		{"plot", herb.ColumnReport{Min: "1", Max: "1100", Shortest: 1, Longest: 4, Filled: 1000, Distinct: 1000}, "",
			true},
		{"plot", herb.ColumnReport{Min: "1", Max: "9999999", Shortest: 1, Longest: 7, Filled: 1000, Distinct: 1000},
			"plot", true},
		{"station", herb.ColumnReport{Min: "10015", Max: "97220", Shortest: 5, Longest: 5, Filled: 1000, Distinct: 800},
			"", true},
		{"Base Salary", herb.ColumnReport{Min: "21000", Max: "98500", Shortest: 5, Longest: 5, Filled: 1000,
			Distinct: 980}, "", false},
		{"price", herb.ColumnReport{Min: "1100", Max: "2900", Shortest: 4, Longest: 4, Filled: 1000, Distinct: 700}, "",
			false},
		{"plz", herb.ColumnReport{Min: "10115", Max: "99998", Shortest: 5, Longest: 5, Filled: 1000, Distinct: 700}, "",
			true},
		{"zip", herb.ColumnReport{Min: "10115", Max: "99998", Shortest: 5, Longest: 5, Filled: 1000, Distinct: 1000},
			"", true},
		{"founded", herb.ColumnReport{Min: "1850", Max: "2024", Shortest: 4, Longest: 4, Filled: 1000, Distinct: 170},
			"", true},
		{"taken_date", herb.ColumnReport{Min: "1012018", Max: "12312018", Shortest: 7, Longest: 8, Filled: 1000,
			Distinct: 300}, "", true},
		{"Number", herb.ColumnReport{Min: "3", Max: "2024", Shortest: 1, Longest: 4, Filled: 74331, Distinct: 930}, "",
			false},
		{"Number", herb.ColumnReport{Min: "30001", Max: "99999", Shortest: 5, Longest: 5, Filled: 900, Distinct: 900},
			"", true},
		{"Lowest", herb.ColumnReport{Min: "18660", Max: "40200", Shortest: 5, Longest: 5, Filled: 84, Distinct: 65}, "",
			false},
		{"P25th", herb.ColumnReport{Min: "18500", Max: "95000", Shortest: 5, Longest: 5, Filled: 173, Distinct: 48}, "",
			false},
		{"Prior Year Cumulative to Date", herb.ColumnReport{Min: "1112", Max: "13892405", Shortest: 4, Longest: 8,
			Filled: 12, Distinct: 11}, "", false},
		{"height", herb.ColumnReport{Min: "1840.5", Max: "1999.5", Shortest: 6, Longest: 6, Filled: 1000,
			Distinct: 300}, "", false},
	} {
		tt.report.Field = tt.name
		d := &herb.Dataset{Fields: []herb.Field{{Name: tt.name, Type: herb.TypeNumber}}, Records: tt.report.Filled}
		d.Report = &herb.Report{Columns: []herb.ColumnReport{tt.report}}
		if tt.key != "" {
			d.PrimaryKey = []string{tt.key}
		}
		c := NewColumn(Read(d), 0)
		if got := c.IsCode; got != tt.want {
			t.Errorf("%s from %s to %s: code is %t, want %t", tt.name, tt.report.Min, tt.report.Max, got, tt.want)
		}
		if got, want := FormatOperand(&c, "10142018"),
			map[bool]string{true: "10142018", false: "10,142,018"}[tt.want]; got != want {
			t.Errorf("%s: %s, want %s", tt.name, got, want)
		}
	}
}
