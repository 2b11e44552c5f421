package view

import (
	"cmp"
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// tipField is a field that the tip of a point shows. The first one names the row; it has no heading
// if it is a text.
type tipField struct {
	Name    string `json:"name"`
	Heading string `json:"heading"`
}

// tipFields returns the fields of the tip of a point: the one that names the rows, and two that say
// most about them.
func tipFields(s *State, pairs []PairLink) []tipField {
	naming := NamingColumn(s.dataset)
	title := tipField{Name: s.fields[naming].Name}
	if s.fields[naming].Type != herb.TypeText {
		title.Heading = Heading(s.fields[naming])
	}
	tips, used := []tipField{title}, []int{naming}
	for _, p := range pairs {
		used = append(used, p.Latitude, p.Longitude)
	}
	const details = 2
	for range details {
		best := bestColumn(s.dataset, func(i int) int {
			if slices.Contains(used, i) || slices.Contains(s.dataset.PrimaryKey, s.fields[i].Name) {
				return 0
			}
			return s.tipScore(i, used[1+2*len(pairs):])
		})
		if best < 0 {
			break
		}
		used = append(used, best)
		tips = append(tips, tipField{s.fields[best].Name, Heading(s.fields[best])})
	}
	return tips
}

// tipScore rates a field as a detail of a row: the fields of the order and of filters first, then a
// measure, a date, and a category. The second detail is of another kind than the first one.
func (s *State) tipScore(i int, shown []int) int {
	kind := KindOf(s.dataset, i)
	if slices.ContainsFunc(shown, func(other int) bool { return KindOf(s.dataset, other) == kind }) {
		return 0
	}
	score := 0
	switch {
	case kind == KindNumber && hasWord(s.fields[i].Name, "magnitude", "mag", "price", "value", "amount", "population", "pop", "count", "total", "score", "rating", "size", "capacity", "elevation", "mass"):
		score = 5
	case kind == KindNumber:
		score = 4
	case kind == KindDate:
		score = 3
	case kind == KindCode && hasWord(s.fields[i].Name, "year"):
		score = 3
	case kind == KindText && modeOf(s.dataset, i) == ModeValues:
		score = 2
	}
	if score > 0 && (s.sorts(i) || len(s.conditions(i)) > 0) {
		score += 10
	}
	return score
}

// sorts reports whether the listing is sorted by a field alone.
func (s *State) sorts(i int) bool { return s.Listing.Get(query.ParamSort) == s.fields[i].Name }

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
			if sum += n; 2*sum >= total && n > 0 {
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
func (m *Map) setZoom(s *State, b query.Bounds) {
	link := func(factor float64) string {
		width, height := (b.MaxX-b.MinX)*factor, (b.MaxY-b.MinY)*factor
		if width >= worldWidth && height >= worldHeight || width < leastSide {
			return ""
		}
		x, y := (b.MinX+b.MaxX)/2, (b.MinY+b.MaxY)/2
		other := *s
		other.Bounds = formatBounds(query.Bounds{MinX: x - width/2, MinY: y - height/2, MaxX: x + width/2, MaxY: y + height/2})
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
