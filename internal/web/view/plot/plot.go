// Package plot lays out charts: scales with round ticks, shapes, and labels that do not overlap.
// Its input is numbers and texts, its output shapes and texts with coordinates, which a template
// writes as SVG.
package plot

import (
	"math"
	"strconv"
	"strings"
)

// Kind is the form of a chart.
type Kind string

// The kinds of charts. Groups that are names are drawn from top to bottom, intervals from left to
// right.
const (
	Bars        Kind = "bars"
	Lines       Kind = "lines"
	Stacked     Kind = "stacked"
	Grouped     Kind = "grouped"
	Heat        Kind = "heat"
	ScatterPlot Kind = "scatter"
)

// MaxSeries is the number of series that have a color of their own.
const MaxSeries = 8

// Data is what a chart shows: a value for each group and series.
type Data struct {
	Groups    []Group
	Series    []Series
	Intervals bool     // groups are intervals of time or numbers, in their order
	FromZero  bool     // the scale of values begins at zero, as lengths require
	Unit      string   // of the values; empty: none
	Axis      Axis     // of intervals
	Gaps      bool     // lines do not connect groups that are not adjacent
	Scatter   *Scatter // instead of groups and series
	// Mark returns what a reader learns about the groups from the first to the last one, of one
	// series or, if it is negative, of all; nil: nothing can be clicked.
	Mark func(first, last, series int) Mark

	spans []span // of the groups that thin has merged; nil: there are none
}

// Group is a position on the axis of groups.
type Group struct {
	Label      string  // at the axis of names, and of times of day, durations and logarithmic intervals
	Short      string  // of an interval that is not the first with a label
	Importance int     // of the label of an interval: the most important ones stay if space is scarce
	At, Next   float64 // start and end of an interval
	Total      string  // text of the value of all series
}

// Mark is what a reader learns about a part of a chart, and where a click leads.
type Mark struct {
	Title  string   // the rest as a text
	Group  string   // label of the groups of the part
	Values []string // their value of one series, or those of all series in their order
	Href   string
}

// Series is a value for each group.
type Series struct {
	Name  string
	Other bool // the sum of all other series
	Color int  // from 1 to MaxSeries; 0: that of its position
	Cells []Cell
}

// Cell is a value.
type Cell struct {
	Value float64
	Known bool   // false: the group has no value
	Text  string // as a label
}

// Figure is a chart with coordinates.
type Figure struct {
	Width, Height float64
	Shapes        []Shape
	Texts         []Text
	Hits          []Hit
	Keys          []Key // the series, if there are several
	Thinned       bool  // several groups share a column of pixels, which shows only some of their values
}

// Shape is a path. Its class determines its color.
type Shape struct{ Class, Path string }

// Text is a text at a position.
type Text struct {
	X, Y                float64
	Anchor, Class, Text string
}

// Middle returns the vertical position of the middle of the text.
func (t Text) Middle() float64 { return rounded(t.Y - halfHeight) }

// Hit is an area that shows a mark.
type Hit struct {
	Mark
	Path   string
	First  int // position of the first group
	Series int // position; negative: all of them
}

// Key is the name of a series and the class of its color.
type Key struct{ Name, Class string }

// Draw lays out a chart with a width.
func Draw(kind Kind, d Data, width float64) Figure { return DrawIn(kind, d, width, 0) }

// DrawIn lays out a chart with a width, and with a height if its groups are intervals; 0: one that
// suits the width. Other charts are as high as their groups.
func DrawIn(kind Kind, d Data, width, height float64) Figure {
	f := &Figure{Width: width, Height: height}
	for i, s := range d.Series {
		if len(d.Series) > 1 {
			f.Keys = append(f.Keys, Key{s.Name, className(d, i)})
		}
	}
	switch {
	case d.Scatter != nil && len(d.Scatter.Points) > 0:
		f.scatter(d.Scatter)
	case len(d.Groups) == 0 || len(d.Series) == 0:
		f.Height = 0
	case kind == Heat:
		f.heat(d)
	case !d.Intervals:
		f.rows(kind, d)
	case kind == Lines:
		f.lines(d)
	default:
		f.columns(kind, d)
	}
	return *f
}

func (f *Figure) shape(class, path string) { f.Shapes = append(f.Shapes, Shape{class, path}) }

func (f *Figure) text(x, y float64, anchor, class, text string) {
	f.Texts = append(f.Texts, Text{rounded(x), rounded(y), anchor, class, Clip(text, textSize, f.Width)})
}

// hit adds an area for the groups from the first to the last one.
func (f *Figure) hit(d Data, first, last, series int, path string) {
	if d.Mark != nil {
		h := Hit{d.Mark(d.span(first).first, d.span(last).last, series), path, first, series}
		if len(d.Series) == 1 {
			h.Series = -1
		}
		f.Hits = append(f.Hits, h)
	}
}

// className returns the class of the color of a series.
func className(d Data, i int) string {
	switch s := d.Series[i]; {
	case s.Other:
		return ClassName(0)
	case s.Color > 0:
		return ClassName(s.Color)
	}
	return ClassName(i%MaxSeries + 1)
}

// ClassName returns the class of a color of the palette.
func ClassName(color int) string { return "s" + strconv.Itoa(color) }

// rectangle returns the path of a rectangle.
func rectangle(x, y, width, height float64) string {
	return "M" + join(x, y) + "h" + join(width) + "v" + join(height) + "h" + join(-width) + "z"
}

func join(numbers ...float64) string {
	parts := make([]string, len(numbers))
	for i, n := range numbers {
		parts[i] = strconv.FormatFloat(rounded(n), 'f', -1, 64)
	}
	return strings.Join(parts, " ")
}

// rounded rounds to a tenth of a pixel, which keeps paths short.
func rounded(x float64) float64 { return math.Round(10*x)/10 + 0 } // no negative zero
