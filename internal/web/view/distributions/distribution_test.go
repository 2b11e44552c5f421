package distributions

import (
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
)

// TestRangeLabels checks that the ends of a histogram differ if its values do.
func TestRangeLabels(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind              herb.Type
		from, to          string
		wantLeft, wantEnd string
	}{
		{herb.TypeNumber, "1.5", "20", "1.5", "20"},
		{herb.TypeNumber, "40.78192", "40.80012", "40.78192", "40.80012"},
		{herb.TypeNumber, "-73.981", "-73.9812", "-73.981", "-73.9812"},
		{herb.TypeNumber, "1000001", "1000002", "1,000,001", "1,000,002"},
		{herb.TypeNumber, "7", "7", "7", "7"},
		{herb.TypeDate, "2021-01-01", "2024-01-01", "2021", "2024"},
	} {
		c := columns.Column{Field: herb.Field{Name: "x", Type: tt.kind}}
		left, right := rangeLabels(&c, []query.Bucket{{From: tt.from}, {To: tt.to}})
		if left != tt.wantLeft || right != tt.wantEnd {
			t.Errorf("%s to %s: %q and %q, want %q and %q", tt.from, tt.to, left, right, tt.wantLeft, tt.wantEnd)
		}
	}
}

func TestShortEnd(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0": "0", "9999": "9,999", "10000": "10\u00a0k", "1234567": "1.23\u00a0M", "-25000": "−25\u00a0k",
		"0.125": "0.125", "5000000000": "5\u00a0B", "x": "x",
	} {
		if got := shortEnd(&columns.Column{Field: herb.Field{Type: herb.TypeNumber}}, in); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}
