package plot

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Scatter is rows by two numbers: a point for each, or cells with the numbers of rows in them.
type Scatter struct {
	X, Y   ScatterAxis
	Points []ScatterPoint
	Cells  bool
	Levels []int // least counts of the levels of cells, ascending
	// Mark returns what a reader learns about points that are close together; nil: nothing can be
	// clicked.
	Mark func(points []int) Mark
}

// ScatterAxis is an axis of a Scatter.
type ScatterAxis struct {
	Title string
	Unit  string
	Plain bool // digits are not grouped, as in years
}

// ScatterPoint is a point, or a cell from X and Y up to NextX and NextY.
type ScatterPoint struct {
	X, Y         float64
	NextX, NextY float64
	Count        int // of rows
}

// titleSpace is the space of the title of an axis.
const titleSpace = 20

func (f *Figure) scatter(s *Scatter) {
	if f.Height == 0 {
		f.Height = heightOf(f.Width)
	}
	a := frame{top: topMargin + titleSpace, bottom: f.Height - axisSpace - titleSpace, right: f.Width - 8}
	low, high := s.ends(func(p ScatterPoint) (float64, float64) { return p.Y, p.NextY })
	f.scale(&a, low, high, func(ticks []float64) []string { return s.Y.labels(ticks) })
	low, high = s.ends(func(p ScatterPoint) (float64, float64) { return p.X, p.NextX })
	across := f.scaleAcross(a, s.X, low, high)
	f.text(0, topMargin, "start", "label", Clip(s.Y.Title, nameSize, f.Width))
	f.text(a.right, a.bottom+21+titleSpace, "end", "label", Clip(s.X.Title, nameSize, f.Width))
	if s.Cells {
		f.scatterCells(s, a, across)
		return
	}
	f.scatterPoints(s, a, across)
}

// ends returns the ends of the values of an axis.
func (s *Scatter) ends(of func(p ScatterPoint) (from, to float64)) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range s.Points {
		from, to := of(p)
		low, high = min(low, bounded(from)), max(high, bounded(from), bounded(to))
	}
	if low == high && low != 0 { // in the middle
		return low - math.Abs(low)/2, high + math.Abs(high)/2
	}
	return low, high
}

func (x ScatterAxis) labels(ticks []float64) []string {
	labels := FormatTicks(ticks)
	if x.Plain {
		for i, t := range ticks {
			labels[i] = strconv.FormatFloat(t, 'f', -1, 64)
		}
	}
	if x.Unit != "" {
		labels[len(labels)-1] = WithUnit(labels[len(labels)-1], x.Unit)
	}
	return labels
}

// scaleAcross draws the scale of the values from left to right, with as many labels as fit.
func (f *Figure) scaleAcross(a frame, axis ScatterAxis, low, high float64) scale {
	const widest = 80 // pixels between two lines
	for count := max(1, int((a.right-a.left)/widest)); ; count-- {
		ticks := Ticks(low, high, count)
		texts := axis.labels(ticks)
		across := newScale(ticks[0], ticks[len(ticks)-1], a.left, a.right)
		labels := make([]axisLabel, len(ticks))
		for i, t := range ticks {
			labels[i] = axisLabel{texts[i], across.at(t)}
		}
		if !fitLabels(labels, f.Width) && count > 1 {
			continue
		}
		for i, t := range ticks {
			f.shape("rule", "M"+join(across.at(t), a.top)+"V"+join(a.bottom))
			f.text(labels[i].x, a.bottom+21, "middle", "tick", labels[i].text)
		}
		return across
	}
}

// scatterLayers is the number of paths of the points: where points of several overlap, they are
// darker.
const scatterLayers = 6

func (f *Figure) scatterPoints(s *Scatter, a frame, across scale) {
	layers := make([]strings.Builder, scatterLayers)
	places := make([]point, len(s.Points))
	for i, p := range s.Points {
		places[i] = point{across.at(p.X), a.y.at(p.Y), i}
		layers[i%scatterLayers].WriteString("M" + join(places[i].x, places[i].y) + "h.01")
	}
	for i := range layers {
		if layers[i].Len() > 0 {
			f.shape("curve dot faint s1", layers[i].String())
		}
	}
	f.hitPoints(s, places)
}

// hitPoints adds an area for the points in each square that has any, by row, then by column.
func (f *Figure) hitPoints(s *Scatter, places []point) {
	const side, radius = 26.0, 4.0
	if s.Mark == nil {
		return
	}
	square := func(p point) (row, column int) { return int(p.y / side), int(p.x / side) }
	slices.SortStableFunc(places, func(p, o point) int {
		row, column := square(p)
		row2, column2 := square(o)
		return cmp.Or(cmp.Compare(row, row2), cmp.Compare(column, column2))
	})
	for from := 0; from < len(places); {
		row, column := square(places[from])
		var points []int
		left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
		for ; from < len(places); from++ {
			if r, c := square(places[from]); r != row || c != column {
				break
			}
			p := places[from]
			points = append(points, p.group)
			left, top, right, bottom = min(left, p.x), min(top, p.y), max(right, p.x), max(bottom, p.y)
		}
		area := rectangle(left-radius, top-radius, right-left+2*radius, bottom-top+2*radius)
		f.Hits = append(f.Hits, Hit{Mark: s.Mark(points), Path: area, Series: -1})
	}
}

func (f *Figure) scatterCells(s *Scatter, a frame, across scale) {
	const least = 2.0 // pixels
	highest := 1
	for _, p := range s.Points {
		highest = max(highest, p.Count)
	}
	colors := countLevels(s.Levels, highest)
	for i, p := range s.Points {
		left, right := across.at(p.X), across.at(p.NextX)
		top, bottom := a.y.at(p.NextY), a.y.at(p.Y)
		width, height := max(right-left, least), max(bottom-top, least)
		area := rectangle(left, min(top, bottom-height), width, height)
		f.shape(colors.classOf(Cell{Value: float64(p.Count), Known: true}), area)
		if s.Mark != nil {
			f.Hits = append(f.Hits, Hit{Mark: s.Mark([]int{i}), Path: area, Series: -1})
		}
	}
	labels := make([]string, colors.len()+1)
	for i := range labels {
		labels[i] = FormatTicks(colors[i : i+1])[0]
	}
	labels[len(labels)-1] += " rows"
	f.legend(colors, labels, false)
}

// countLevels returns the ranges of counts with the same color.
func countLevels(least []int, highest int) (l levels) {
	for _, n := range least {
		if len(l) == 0 || float64(n) > l[len(l)-1] {
			l = append(l, float64(n))
		}
	}
	return append(l, float64(max(highest, least[len(least)-1]+1)))
}

// smallScatter draws points or cells without texts.
func (f *Figure) smallScatter(s *Scatter) {
	lowX, highX := s.ends(func(p ScatterPoint) (float64, float64) { return p.X, p.NextX })
	lowY, highY := s.ends(func(p ScatterPoint) (float64, float64) { return p.Y, p.NextY })
	const margin, most = 3, 400
	x, y := newScale(lowX, highX, margin, f.Width-margin), newScale(lowY, highY, f.Height-margin, margin)
	var path strings.Builder
	for i := 0; i < len(s.Points); i += 1 + len(s.Points)/most {
		path.WriteString("M" + join(x.at(s.Points[i].X), y.at(s.Points[i].Y)) + "h.01")
	}
	f.shape("curve s1", path.String())
}
