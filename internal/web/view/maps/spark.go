// Package maps builds the map of a listing: the part of the world, cells by their number of rows,
// names of places, and what a point shows.
package maps

import "herbarium/internal/query"

// SparkDots is a small map.
type SparkDots struct {
	ViewBox, Transform string // of the SVG, and from cells to it
	Levels             []Level
}

// SparkColumns is the number of cells of a small map from west to east.
const SparkColumns = 60

// NewSparkDots returns the small map of the cells of a grid.
func NewSparkDots(q *query.GridRequest, grid query.Grid) SparkDots {
	b := q.Bounds
	return SparkDots{ViewBox: viewBox(b), Transform: cellTransform(q), Levels: newLevels(grid)}
}
