package maps

import (
	"slices"

	"herbarium/internal/query"
)

// Place is a name on maps, at a position in the unit of maps.
type Place struct {
	Name string
	X, Y float64
}

// Label is the name of a place, with the size of its text.
type Label struct {
	Place
	Size float64
}

// newLabels returns the names of places in a part of the world that do not overlap on a screen of
// common width, the most important ones first.
func newLabels(places []Place, b query.Bounds, west int) (labels []Label) {
	const screen, size, letter, line, most = 1000.0, 11.0, 6.5, 16.0, 60
	unit := 10 * (b.MaxX - b.MinX) / screen // of a pixel
	for _, p := range places {
		if west == 0 && p.X < 0 {
			p.X += 10 * worldWidth
		}
		if p.X < 10*b.MinX || p.X > 10*b.MaxX || -p.Y < 10*b.MinY || -p.Y > 10*b.MaxY || len(labels) == most {
			continue
		}
		overlaps := slices.ContainsFunc(labels, func(other Label) bool {
			left, right := p.X, p.X+float64(len(p.Name))*letter*unit
			return left < other.X+float64(len(other.Name))*letter*unit && right > other.X && p.Y < other.Y+line*unit && p.Y > other.Y-line*unit
		})
		if !overlaps {
			labels = append(labels, Label{p, size * unit})
		}
	}
	return labels
}
