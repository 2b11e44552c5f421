package tables

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

// TestDecimals shows the numbers of a column as they are, with space where others have digits.
func TestDecimals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, separator string
		values          []string
		want            string // "_" is a digit of space
	}{
		{"different lengths", "", []string{"1.86300", "19.246", "", "3"}, "1.86300|19.246__||3______"},
		{"two places", "", []string{"8.5", "1200.25", "3", "-3"}, "8.5_|1,200.25|3___|-3___"},
		{"whole numbers", "", []string{"5", "1200"}, "5|1,200"},
		{"large numbers", "", []string{"12345678.12345", "0.5"}, "12,345,678.12345|0.5____"},
		{"small numbers", "", []string{"0.000123456789", "0.1", ".5"}, "0.000123456789|0.1___________|.5___________"},
		{"other values", "", []string{"n/a", "1.5e3", "2.345", "2"}, "n/a|1.5e3|2.345|2____"},
		{"decimal comma", ",", []string{"1,5", "2,25", "3"}, "1,5_|2,25|3___"},
		{"wider than the column", "", []string{"0.12345678901234567890123", "1"},
			"0.12345678901234567890123|1_____________________"},
	} {
		d := &herb.Dataset{Fields: []herb.Field{
			{Name: "depth", Type: herb.TypeNumber, Notation: herb.Notation{Decimal: tt.separator}}}}
		var rows []herb.Record
		for _, v := range tt.values {
			rows = append(rows, herb.Record{v})
		}
		read := columns.Read(d)
		table := &Table{Headers: []Header{{Column: columns.NewColumn(read, 0), limit: 60, Width: 220}}}
		table.setPlaces(read, rows)
		var got []string
		for _, v := range tt.values {
			cell := newCell(&state.State{}, &table.Headers[0], v, noMarks())
			got = append(got, cell.Text+strings.NewReplacer(".", "_", "0", "_").Replace(cell.Pad))
		}
		if got := strings.Join(got, "|"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
