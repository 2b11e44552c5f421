package query_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/query"
)

func TestParseGrid(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ raw, want string }{
		{"_x=price&_y=id&_bounds=-180,-90.50,180,90", "_x=price&_y=id&_bounds=-180%2C-90.5%2C180%2C90&_columns=256&_rows=128"},
		{"_rows=2&_columns=03&_y=id&_x=id&_bounds=-0,0,1,1&title=a&search=Rose&page=&api_key=k",
			"title%5Beq%5D=a&search=rose&_x=id&_y=id&_bounds=0%2C0%2C1%2C1&_columns=3&_rows=2"},
	} {
		want, err := query.ParseGrid(tt.want, catalog())
		got, err2 := query.ParseGrid(tt.raw, catalog())
		if diff := diffRequests(want, got); err != nil || err2 != nil || diff != "" {
			t.Errorf("%q: %v, %v, not the same as %q:\n%s", tt.raw, err2, err, tt.want, diff)
		}
	}
}

func TestGridEdges(t *testing.T) {
	t.Parallel()
	g := query.GridRequest{Columns: 3, Rows: 2, Bounds: query.Bounds{MinX: 0.1, MaxX: 0.4, MinY: -90, MaxY: 90}}
	if diff := cmp.Diff([]string{"-90", "0", "90"}, g.EdgesY()); diff != "" {
		t.Error(diff)
	}
	low, high := 0.1, 0.4
	for i, edge := range g.EdgesX() {
		want := low + (high-low)*float64(i)/3
		if got, err := strconv.ParseFloat(edge, 64); err != nil || got != want && i < 3 || i == 3 && got != high {
			t.Errorf("edge %d is %s, %v", i, edge, err)
		}
	}
}
