package tables

import (
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

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
		c := Header{Column: columns.NewColumn(columns.Read(d), 0), limit: 60}
		c.SetDecimals(rows)
		var got []string
		for _, v := range tt.values {
			got = append(got, newCell(&state.State{}, &c, v, newHighlighter(nil)).Text)
		}
		slices.Sort(got)
		want := strings.Split(tt.want, " ")
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", tt.name, got, want)
		}
	}
}
