package charts

import (
	"slices"
	"strings"
	"testing"
)

// TestAlignDecimals checks that decimal points are below each other: all numbers are followed by
// as many digits, but never by so many that the column is too wide.
func TestAlignDecimals(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("1", 22)
	for _, tt := range []struct{ values, want []string }{
		{[]string{"1,432.25", "7", "0.5", "-3"}, []string{"", ".00", "0", ".00"}},
		{[]string{"12.4 k", "", "1:05", "3"}, []string{"", "", "", ""}},
		{[]string{long, "0.123456", "1"}, []string{".00", "", ".00"}},
		{[]string{long + long, "0.5"}, []string{"", ""}},
	} {
		rows := make([]AnswerRow, len(tt.values))
		for i, v := range tt.values {
			rows[i].Value = v
		}
		alignDecimals(rows)
		var got []string
		for _, r := range rows {
			got = append(got, r.Pad)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.values, got, tt.want)
		}
	}
}
