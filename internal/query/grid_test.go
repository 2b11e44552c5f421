package query_test

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"herbarium/internal/query"
)

func TestGrid_levels(t *testing.T) {
	t.Parallel()
	for highest, want := range map[int][]int{
		1: {1}, 2: {1, 2, 2, 2, 2}, 32: {1, 2, 4, 8, 16}, 100_000: {1, 10, 100, 1000, 10_000}, 243: {1, 3, 9, 27, 81},
		40: {1, 3, 5, 10, 20},
	} {
		g := query.Grid{Cells: []query.Cell{{Count: 1}, {Count: highest}}}
		least := g.Levels()
		if !slices.Equal(least, want) {
			t.Errorf("up to %d: %v, want %v", highest, least, want)
		}
		for level, count := range least {
			if level+1 < len(least) && least[level+1] == count {
				continue // a level without cells
			}
			if got := query.LevelOf(least, count); got != level {
				t.Errorf("up to %d: %d has the level %d, want %d", highest, count, got, level)
			}
		}
	}
	if got := (&query.Grid{}).Levels(); !slices.Equal(got, []int{1}) {
		t.Errorf("without cells: %v", got)
	}
}

// TestGrid_cellOf checks that the cell of a point is between the edges that the API reports.
func TestGrid_cellOf(t *testing.T) {
	t.Parallel()
	g := &query.GridRequest{Columns: 49, Rows: 7, Bounds: query.Bounds{MinX: -0.1, MinY: 0.2, MaxX: 1.3, MaxY: 0.9}}
	for i, edge := range g.EdgesX() {
		x, _ := strconv.ParseFloat(edge, 64)
		if column, _, ok := g.CellOf(x, 0.5); !ok || column != min(i, g.Columns-1) {
			t.Errorf("edge %d at %s is in column %d, %t", i, edge, column, ok)
		}
		before := math.Nextafter(x, -1)
		if column, _, ok := g.CellOf(before, 0.5); ok != (i > 0) || ok && column != i-1 {
			t.Errorf("the value before edge %d is in column %d, %t", i, column, ok)
		}
	}
	if _, row, ok := g.CellOf(0, 0.9); !ok || row != 6 {
		t.Errorf("the upper bound is in row %d, %t", row, ok)
	}
}
