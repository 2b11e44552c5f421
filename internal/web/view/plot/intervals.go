package plot

import "math"

// The sizes of charts of intervals, in pixels.
const (
	textSize  = 12
	nameSize  = 13
	nameGap   = 18 // between the centers of names
	topMargin = 16
	axisSpace = 34 // below the chart
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
	ticks := Ticks(low, high, int((a.bottom-a.top)/95)+1)
	labels := FormatTicks(ticks)
	if d.Unit != "" {
		labels[len(labels)-1] = WithUnit(labels[len(labels)-1], d.Unit)
	}
	widest := 0.0
	for _, l := range labels {
		widest = math.Max(widest, TextWidth(l, textSize))
	}
	a.left = math.Ceil(widest) + 10
	if names := f.nameWidth(d); names > 0 {
		a.right = f.Width - names - 10
	}
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
	return a
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

// axis writes the labels of intervals.
func (f *Figure) axis(d Data, a frame, x func(int) float64) {
	for _, l := range axisLabels(d.Groups, x, textSize, 0, f.Width) {
		f.text(l.x, a.bottom+21, "middle", "tick", l.text)
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
	for i, s := range d.Series {
		ends[i] = a.bottom
		path, dots := "", ""
		connected := func(g int) bool {
			return g > 0 && g < len(s.Cells) && s.Cells[g-1].Known && s.Cells[g].Known && adjacent(d.Groups[g-1], d.Groups[g])
		}
		for g, c := range s.Cells {
			if !c.Known {
				continue
			}
			ends[i] = a.y.at(c.Value)
			switch at := join(x(g), ends[i]); {
			case connected(g):
				path += "L" + at
			case connected(g + 1):
				path += "M" + at
			default: // without neighbours
				dots += "M" + at + "h.01"
			}
		}
		f.shape("curve "+className(d, i), path)
		if dots != "" {
			f.shape("curve dot "+className(d, i), dots)
		}
	}
	f.axis(d, a, x)
	f.names(d, a, ends)
	for g, group := range d.Groups {
		from, to := a.left, a.right
		if g > 0 {
			from = (x(g-1) + x(g)) / 2
		}
		if g < len(d.Groups)-1 {
			to = (x(g) + x(g+1)) / 2
		}
		f.hit(group.Mark, rectangle(from, a.top, to-from, a.bottom-a.top))
	}
}

func adjacent(before, after Group) bool {
	return math.Abs(after.At-before.Next) < 0.01*math.Abs(before.Next-before.At)
}

// columns draws upright bars, one group beside the other.
func (f *Figure) columns(kind Kind, d Data) {
	a := f.newFrame(d, kind == Stacked)
	band := (a.right - a.left) / float64(len(d.Groups))
	gap := math.Min(band*0.2, 8)
	x := func(i int) float64 { return a.left + band*(float64(i)+0.5) }
	ends, paths := make([]float64, len(d.Series)), make([]string, len(d.Series))
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
			left, width := a.left+band*float64(g)+gap/2, band-gap
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
			paths[i] += rectangle(left, math.Min(y0, y1), width, math.Abs(y1-y0))
		}
	}
	for i, path := range paths {
		f.shape("box "+className(d, i), path)
	}
	f.axis(d, a, x)
	f.names(d, a, ends)
	for g, group := range d.Groups {
		f.hit(group.Mark, rectangle(a.left+band*float64(g), a.top, band, a.bottom-a.top))
	}
}
