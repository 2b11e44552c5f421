package maps

import (
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/query"
)

// Level is the cells with a similar number of rows. The last level has the most.
type Level struct {
	Number          int
	Path            string
	Least, Greatest int // rows of a cell
}

// opacities returns how opaque the cells of the levels are.
func opacities() [query.GridLevels]float64 { return [...]float64{.28, .45, .62, .8, 1} }

// Opacity returns how opaque the cells of the level are.
func (l Level) Opacity() float64 { return opacities()[l.Number-1] }

// AllLevels returns all levels without cells, for the script.
func (m *Map) AllLevels() (levels []Level) {
	for i := range query.GridLevels {
		levels = append(levels, Level{Number: i + 1})
	}
	return levels
}

// newLevels groups the cells of a grid by their levels.
func newLevels(grid query.Grid) (levels []Level) {
	least := grid.Levels()
	paths := make([]strings.Builder, len(least))
	for i := range least {
		levels = append(levels, Level{Number: i + 1})
	}
	for _, c := range grid.Cells {
		i := query.LevelOf(least, c.Count)
		fmt.Fprintf(&paths[i], "M%d %dh1v1h-1z", c.Column, c.Row)
		if l := &levels[i]; l.Greatest == 0 {
			l.Least, l.Greatest = c.Count, c.Count
		} else {
			l.Least, l.Greatest = min(l.Least, c.Count), max(l.Greatest, c.Count)
		}
	}
	for i := range levels {
		levels[i].Path = paths[i].String()
	}
	return slices.DeleteFunc(levels, func(l Level) bool { return l.Path == "" })
}
