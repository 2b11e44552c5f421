package maps

import (
	"cmp"
	"strconv"

	"herbarium/internal/query"
	"herbarium/internal/web/view/state"
)

// centerOf returns the median longitude and latitude of the rows in cells, in the unit of the map,
// so that a screen that cannot show all of them shows most.
func centerOf(q *query.GridRequest, cells []query.Cell) []float64 {
	columns, rows, total := make([]int, q.Columns), make([]int, q.Rows), 0
	for _, c := range cells {
		columns[c.Column] += c.Count
		rows[c.Row] += c.Count
		total += c.Count
	}
	median := func(counts []int, low, high float64) float64 {
		sum := 0
		for i, n := range counts {
			sum += n
			if 2*sum >= total && n > 0 {
				return low + (high-low)*(float64(i)+.5)/float64(len(counts))
			}
		}
		return (low + high) / 2
	}
	b := q.Bounds
	return []float64{10 * median(columns, b.MinX, b.MaxX), -10 * median(rows, b.MinY, b.MaxY)}
}

// setZoom sets the links that show a larger and a smaller part of the map, for browsers without a
// script.
func (m *Map) setZoom(s *state.State, b query.Bounds) {
	link := func(factor float64) string {
		width, height := (b.MaxX-b.MinX)*factor, (b.MaxY-b.MinY)*factor
		if width >= worldWidth && height >= worldHeight || width < leastSide {
			return ""
		}
		x, y := (b.MinX+b.MaxX)/2, (b.MinY+b.MaxY)/2
		other := *s
		other.Bounds = formatBounds(query.Bounds{MinX: x - width/2, MinY: y - height/2, MaxX: x + width/2,
			MaxY: y + height/2})
		return other.Href(s.Listing)
	}
	whole := *s
	whole.Bounds = ""
	m.Fit, m.In = whole.Href(s.Listing), link(.5)
	m.Out = cmp.Or(link(2), m.Fit)
}

// formatBounds formats bounds for a URL, in as few digits as show the same part on a screen.
func formatBounds(b query.Bounds) string {
	digits := 1
	for width := b.MaxX - b.MinX; width < 100 && digits < 6; width *= 10 {
		digits++
	}
	text := ""
	for i, v := range []float64{b.MinX, b.MinY, b.MaxX, b.MaxY} {
		if i > 0 {
			text += ","
		}
		text += strconv.FormatFloat(round10(v, digits), 'f', -1, 64)
	}
	return text
}

// round10 rounds to a number of decimal places.
func round10(v float64, places int) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', places, 64), 64)
	return rounded + 0 // no negative zero
}
