package maps

import (
	"fmt"
	"math"
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
func opacities() []float64 { return []float64{.28, .45, .62, .8, 1} }

// Opacity returns how opaque the cells of the level are.
func (l Level) Opacity() float64 { return opacities()[l.Number-1] }

// Opacities returns how opaque the cells of all levels are, for the script.
func (m *Map) Opacities() string { return formatNumbers(" ", opacities()...) }

// newLevels groups cells by their counts, on a logarithmic scale.
func newLevels(cells []query.Cell) (levels []Level) {
	highest, count := 1, len(opacities())
	for _, c := range cells {
		highest = max(highest, c.Count)
	}
	paths := make([]strings.Builder, count)
	for i := range count {
		levels = append(levels, Level{Number: i + 1, Least: highest})
	}
	for _, c := range cells {
		i := 0
		if highest > 1 {
			i = min(int(float64(count)*math.Log(float64(c.Count))/math.Log(float64(highest))), count-1)
		}
		fmt.Fprintf(&paths[i], "M%d %dh1v1h-1z", c.Column, c.Row)
		levels[i].Path, levels[i].Least, levels[i].Greatest = paths[i].String(), min(levels[i].Least, c.Count), max(levels[i].Greatest, c.Count)
	}
	return slices.DeleteFunc(levels, func(l Level) bool { return l.Path == "" })
}
