package maps

import (
	"fmt"
	"math"

	"herbarium/internal/query"
)

// maxParallel is the highest latitude at which shapes are true. A degree of longitude has no width
// at a pole.
const maxParallel = 85

// MaxParallel returns the highest latitude at which shapes are true, in degrees, for the script.
func (m *Map) MaxParallel() float64 { return maxParallel }

// Stretch returns the width of a degree of longitude on a map, relative to the height of a degree
// of latitude, so that shapes in the middle of the part that it shows are true. It is the same for
// the whole part: cells of a grid over both fields are rectangles on the map.
func Stretch(b query.Bounds) float64 {
	middle := math.Max(-maxParallel, math.Min((b.MinY+b.MaxY)/2, maxParallel))
	return math.Cos(middle * math.Pi / 180)
}

// viewBox returns the part of the projected map within bounds.
func viewBox(b query.Bounds) string {
	c := Stretch(b)
	return formatNumbers(" ", 10*c*b.MinX, -10*b.MaxY, 10*c*(b.MaxX-b.MinX), 10*(b.MaxY-b.MinY))
}

// cellTransform returns the SVG transform from cells of a grid to the projected map.
func cellTransform(q *query.GridRequest) string {
	b, c := q.Bounds, Stretch(q.Bounds)
	width, height := (b.MaxX-b.MinX)/float64(q.Columns), (b.MaxY-b.MinY)/float64(q.Rows)
	return fmt.Sprintf("translate(%s) scale(%s)", formatNumbers(" ", 10*c*b.MinX, -10*b.MinY),
		formatNumbers(" ", 10*c*width, -10*height))
}
