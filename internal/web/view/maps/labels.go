package maps

import "herbarium/internal/query"

// Place is a name on maps, at a position in the unit of maps. Labels are projected.
type Place struct {
	Name string
	X, Y float64
	// Scale is the number of pixels per unit from which on the label overlaps none of a more
	// important place. tools/coastline computes it, so that the server and the script choose the
	// same labels, and labels stay when a map is moved or enlarged.
	Scale float64
}

// labelSize is the size of labels in pixels that tools/coastline assumes, and screenWidth the width
// of the map on a screen that the server assumes.
const (
	labelSize   = 11
	screenWidth = 1000
)

// scaleOf returns the number of pixels per unit of a part of the world, from west to east.
func scaleOf(b query.Bounds) float64 { return screenWidth / (10 * (b.MaxX - b.MinX)) }

// LabelSize returns the size of labels in pixels, for the script.
func (m *Map) LabelSize() int { return labelSize }

// newLabels returns the places in a part of the world whose labels do not overlap there.
func newLabels(places []Place, b query.Bounds, west int) (labels []Place) {
	for _, p := range places {
		if west == 0 && p.X < 0 {
			p.X += 10 * worldWidth
		}
		if p.Scale <= scaleOf(b) && p.X >= 10*b.MinX && p.X <= 10*b.MaxX && -p.Y >= 10*b.MinY && -p.Y <= 10*b.MaxY {
			p.X *= Stretch(b)
			labels = append(labels, p)
		}
	}
	return labels
}
