package plot

import (
	"math"
	"strings"
)

// The sizes of charts of intervals, in pixels.
const (
	textSize  = 12
	nameSize  = 13
	nameGap   = 18 // between the centers of names
	topMargin = 16
	axisSpace = 34 // below the chart
	// halfHeight is the distance from the middle of a text to its baseline.
	halfHeight = 4
)

// heightOf returns the height of a chart of intervals with a width.
func heightOf(width float64) float64 { return math.Round(math.Max(260, math.Min(500, width*0.48))) }

// frame is the area of a chart of intervals.
type frame struct {
	left, right, top, bottom float64
	y                        scale
}

// newFrame draws the scale of values and returns the area that remains, with space for the names of
// the series at the right.
func (f *Figure) newFrame(d Data, stacked bool) frame {
	if f.Height == 0 {
		f.Height = heightOf(f.Width)
	}
	a := frame{top: topMargin, bottom: f.Height - axisSpace, right: f.Width - 8}
	low, high := valueRange(d, stacked)
	if names := f.nameWidth(d); names > 0 {
		a.right = f.Width - names - 10
	}
	f.scale(&a, low, high, func(ticks []float64) []string {
		labels := FormatTicks(ticks)
		if d.Unit != "" {
			labels[len(labels)-1] = WithUnit(labels[len(labels)-1], d.Unit)
		}
		return labels
	})
	return a
}

// scale draws the scale of values at the left of a frame, and sets the left edge of the frame.
func (f *Figure) scale(a *frame, low, high float64, format func(ticks []float64) []string) {
	ticks := Ticks(low, high, int((a.bottom-a.top)/95)+1)
	labels := format(ticks)
	widest := 0.0
	for _, l := range labels {
		widest = math.Max(widest, TextWidth(l, textSize))
	}
	a.left = math.Ceil(widest) + 10
	a.y = newScale(ticks[0], ticks[len(ticks)-1], a.bottom, a.top)
	for i, t := range ticks {
		y := a.y.at(t)
		class := "rule"
		if t == 0 {
			class = "rule base"
		}
		f.shape(class, "M"+join(a.left, y)+"H"+join(a.right))
		f.text(a.left-8, y+4, "end", "tick", labels[i])
	}
}

// nameWidth returns the width of the names of the series; 0 if there is only one.
func (f *Figure) nameWidth(d Data) float64 {
	widest := 0.0
	if len(d.Series) < 2 {
		return 0
	}
	for _, s := range d.Series {
		widest = math.Max(widest, TextWidth(s.Name, nameSize))
	}
	return math.Min(math.Ceil(widest), f.Width*0.2)
}

// names writes the names of the series beside their last values. wanted are the positions of the
// centers.
func (f *Figure) names(d Data, a frame, wanted []float64) {
	width := f.nameWidth(d)
	if width == 0 {
		return
	}
	sizes := make([]float64, len(wanted))
	for i := range sizes {
		sizes[i] = nameGap
	}
	for i, y := range Spread(wanted, sizes, a.top-nameGap/2, a.bottom+nameGap/2) {
		f.text(a.right+8, y+4, "start", "name "+className(d, i), Clip(d.Series[i].Name, nameSize, width))
	}
}

func (f *Figure) lines(d Data) {
	a := f.newFrame(d, false)
	first, last := d.Groups[0].At, d.Groups[len(d.Groups)-1].At
	across := newScale(first, last, a.left, a.right)
	x := func(i int) float64 {
		if first == last {
			return (a.left + a.right) / 2
		}
		return across.at(d.Groups[i].At)
	}
	ends := make([]float64, len(d.Series))
	for i := range d.Series {
		ends[i] = a.bottom
		points := linePoints(d, a, i, x)
		if len(points) > 0 {
			ends[i] = points[len(points)-1].y
		}
		if len(points)*len(d.Series) > maxPoints {
			points, f.Thinned = thinPoints(points), true
		}
		path, dots := linePath(d, points)
		f.shape("curve "+className(d, i), path)
		if dots != "" {
			f.shape("curve dot "+className(d, i), dots)
		}
	}
	f.axis(d, a.bottom+21, axisSpan{from: first, to: last, at: func(v float64) float64 {
		if first == last {
			return x(0)
		}
		return across.at(v)
	}})
	f.names(d, a, ends)
	f.hitAcross(d, a, func(i int) (left, right float64) {
		left, right = a.left, a.right
		if i > 0 {
			left = (x(i-1) + x(i)) / 2
		}
		if i < len(d.Groups)-1 {
			right = (x(i) + x(i+1)) / 2
		}
		return left, right
	})
}

// linePoints returns the points of the known values of a series.
func linePoints(d Data, a frame, series int, x func(int) float64) (points []point) {
	for g, c := range d.Series[series].Cells {
		if c.Known {
			points = append(points, point{x(g), a.y.at(c.Value), g})
		}
	}
	return points
}

// linePath returns the path through points, and dots for points without neighbours.
func linePath(d Data, points []point) (path, dots string) {
	var line, alone strings.Builder
	connected := func(i int) bool {
		if i <= 0 || i >= len(points) {
			return false
		}
		before, after := points[i-1].group, points[i].group
		return !d.Gaps || after == before+1 && adjacent(d.Groups[before], d.Groups[after])
	}
	for i, p := range points {
		switch at := join(p.x, p.y); {
		case connected(i):
			line.WriteString("L" + at)
		case connected(i + 1):
			line.WriteString("M" + at)
		default:
			alone.WriteString("M" + at + "h.01")
		}
	}
	return line.String(), alone.String()
}

func adjacent(before, after Group) bool {
	return math.Abs(after.At-before.Next) < 0.01*math.Abs(before.Next-before.At)
}

// columns draws upright bars, one group beside the other.
func (f *Figure) columns(kind Kind, d Data) {
	a := f.newFrame(d, kind == Stacked)
	first, last := d.Groups[0].At, d.Groups[len(d.Groups)-1].Next
	across := newScale(first, last, a.left, a.right)
	f.axis(d, a.bottom+21, axisSpan{from: first, to: last, at: across.at, bars: true})
	d = f.thin(d, int(a.right-a.left))
	edges := func(i int) (left, right float64) {
		left = across.at(d.Groups[i].At)
		return left, max(across.at(d.Groups[i].Next), left+0.5)
	}
	ends, paths := make([]float64, len(d.Series)), make([]strings.Builder, len(d.Series))
	for i := range ends {
		ends[i] = a.bottom
	}
	for g := range d.Groups {
		up, down := 0.0, 0.0
		for i, s := range d.Series {
			c := s.Cells[g]
			if !c.Known {
				continue
			}
			left, right := edges(g)
			gap := math.Min((right-left)*0.2, 8)
			left, width := left+gap/2, right-left-gap
			base := 0.0
			switch {
			case kind == Stacked && c.Value < 0:
				base = down
				down += c.Value
			case kind == Stacked:
				base = up
				up += c.Value
			default:
				width /= float64(len(d.Series))
				left += width * float64(i)
			}
			base = math.Max(base, a.y.low) // the scale need not begin at zero
			y0, y1 := a.y.at(base), a.y.at(base+c.Value)
			if kind != Stacked {
				y1 = a.y.at(c.Value)
			}
			ends[i] = (y0 + y1) / 2
			if kind != Stacked {
				ends[i] = y1
			}
			paths[i].WriteString(rectangle(left, math.Min(y0, y1), width, math.Abs(y1-y0)))
		}
	}
	for i := range paths {
		f.shape("box "+className(d, i), paths[i].String())
	}
	f.names(d, a, ends)
	f.hitAcross(d, a, edges)
}
