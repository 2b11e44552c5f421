package query_test

import (
	"slices"
	"testing"

	"herbarium/internal/query"
)

func TestGrid_levels(t *testing.T) {
	t.Parallel()
	for highest, want := range map[int][]int{
		1: {1}, 2: {1, 2, 2, 2, 2}, 32: {1, 2, 4, 8, 16}, 100_000: {1, 10, 100, 1000, 10_000}, 243: {1, 3, 9, 27, 81}, 40: {1, 3, 5, 10, 20},
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
