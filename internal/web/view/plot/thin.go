package plot

import "math"

// maxPoints is the number of points of the lines of a chart beyond which they are thinned.
const maxPoints = 20_000

// span is the groups that a column of pixels shows.
type span struct{ first, last int }

// span returns the groups that were merged to a group.
func (d Data) span(i int) span {
	if d.spans == nil {
		return span{i, i}
	}
	return d.spans[i]
}

// thin returns the data of a chart of bars or cells of which at most count fit side by side: of the
// groups at the same place it has the one with the largest value.
func (f *Figure) thin(d Data, count int) Data {
	count = max(count, 1)
	if len(d.Groups) <= count {
		return d
	}
	f.Thinned = true
	place := newScale(d.Groups[0].At, d.Groups[len(d.Groups)-1].At, 0, float64(count)-0.5)
	out := d
	out.Groups, out.Series = nil, make([]Series, len(d.Series))
	for i, s := range d.Series {
		out.Series[i] = Series{Name: s.Name, Other: s.Other, Color: s.Color}
	}
	for from := 0; from < len(d.Groups); {
		at, to := int(place.at(d.Groups[from].At)), from+1
		for to < len(d.Groups) && int(place.at(d.Groups[to].At)) == at {
			to++
		}
		group, largest := d.Groups[from], d.largest(from, to)
		group.Next, group.Total = d.Groups[to-1].Next, d.Groups[largest].Total
		out.Groups, out.spans = append(out.Groups, group), append(out.spans, span{from, to - 1})
		for i, s := range d.Series {
			out.Series[i].Cells = append(out.Series[i].Cells, s.Cells[largest])
		}
		from = to
	}
	return out
}

// largest returns the group in [from, to) with the largest sum of values, regardless of signs.
func (d Data) largest(from, to int) int {
	best, most := from, -1.0
	for g := from; g < to; g++ {
		sum := 0.0
		for _, s := range d.Series {
			if s.Cells[g].Known {
				sum += math.Abs(bounded(s.Cells[g].Value)) / maxValue
			}
		}
		if sum > most {
			best, most = g, sum
		}
	}
	return best
}

// point is a point of a line.
type point struct {
	x, y  float64
	group int
}

// thinPoints returns the first, the lowest, the highest and the last of the points of a line in
// each column of pixels.
func thinPoints(points []point) (kept []point) {
	for from := 0; from < len(points); {
		to, low, high := from, from, from
		for to < len(points) && int(points[to].x) == int(points[from].x) {
			if points[to].y < points[high].y {
				high = to
			}
			if points[to].y > points[low].y {
				low = to
			}
			to++
		}
		last := -1
		for _, i := range []int{from, min(low, high), max(low, high), to - 1} {
			if i > last {
				kept, last = append(kept, points[i]), i
			}
		}
		from = to
	}
	return kept
}

// hitWidth is the least width of an area that shows a mark, in pixels.
const hitWidth = 2

// hitAcross adds areas from the top to the bottom for the groups of a chart of intervals. edges
// returns the left and the right edge of a group. Narrow groups share an area.
func (f *Figure) hitAcross(d Data, a frame, edges func(i int) (left, right float64)) {
	for from := 0; from < len(d.Groups); {
		left, right := edges(from)
		to := from
		for to < len(d.Groups)-1 && right-left < hitWidth {
			to++
			_, right = edges(to)
		}
		f.hit(d, from, to, -1, rectangle(left, a.top, right-left, a.bottom-a.top))
		from = to + 1
	}
}
