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

// Opacity returns how opaque the cells of the level are in an image without a style sheet.
func (l Level) Opacity() float64 { return []float64{.3, .5, .7, .85, 1}[l.Number-1] }

// mapLevels is the number of colors of cells.
const mapLevels = 5

// newLevels groups cells by their counts, on a logarithmic scale.
func newLevels(cells []query.Cell) (levels []Level) {
	highest := 1
	for _, c := range cells {
		highest = max(highest, c.Count)
	}
	paths := make([]strings.Builder, mapLevels)
	for i := range mapLevels {
		levels = append(levels, Level{Number: i + 1, Least: highest})
	}
	for _, c := range cells {
		i := 0
		if highest > 1 {
			i = min(int(mapLevels*math.Log(float64(c.Count))/math.Log(float64(highest))), mapLevels-1)
		}
		fmt.Fprintf(&paths[i], "M%d %dh1v1h-1z", c.Column, c.Row)
		levels[i].Path, levels[i].Least, levels[i].Greatest = paths[i].String(), min(levels[i].Least, c.Count), max(levels[i].Greatest, c.Count)
	}
	return slices.DeleteFunc(levels, func(l Level) bool { return l.Path == "" })
}
