package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Lines shows how durations depend on something, in panels that share their axes.
type Lines struct {
	Title    string
	Subtitle string
	XTitle   string
	X        []float64
	XLabels  []string // one for each X
	LogX     bool
	Panels   []Panel
}

// Panel is one of the plots side by side. All panels have series of the same names.
type Panel struct {
	Title  string
	Series []Series
}

// The measures of a panel.
const (
	linesWidth  = 900
	panelHeight = 210.0
	panelLeft   = 62.0
	panelRight  = 22.0
	linesTop    = 88.0
)

// SVG draws it, two panels in a row unless there is only one.
func (l Lines) SVG() []byte {
	columns := min(2, max(1, len(l.Panels)))
	rows := (len(l.Panels) + columns - 1) / columns
	const pitch = panelHeight + 66
	c := newCanvas(linesWidth, int(linesTop+pitch*float64(rows))+8, l.Title, l.Subtitle)
	if len(l.Panels) > 0 {
		c.legend(panelLeft, 70, l.Panels[0].Series)
	}
	var all []float64
	for _, p := range l.Panels {
		for _, s := range p.Series {
			all = append(all, s.Values...)
		}
	}
	for i, p := range l.Panels {
		each := float64(linesWidth) / float64(columns)
		x0 := each*float64(i%columns) + panelLeft
		y0 := linesTop + pitch*float64(i/columns) + 20
		l.panel(c, p, x0, x0+each-panelLeft-panelRight, logAxis(all, y0+panelHeight, y0))
	}
	return c.end()
}

func (l Lines) panel(c *canvas, p Panel, left, right float64, y axis) {
	c.text("p", "start", left, y.to-8, p.Title)
	for _, t := range y.ticks() {
		c.line("g", left, y.at(t), right, y.at(t))
		c.text("m", "end", left-6, y.at(t)+4, tick(t))
	}
	for i, label := range l.XLabels {
		c.text("m", "middle", l.at(i, left, right), y.from+16, label)
	}
	c.text("m", "middle", (left+right)/2, y.from+32, l.XTitle)
	least := math.Inf(1)
	for _, s := range p.Series {
		least = min(least, s.last())
	}
	for _, s := range p.Series {
		// The lines may end close to each other: the value of the lowest stands below its line.
		l.line(c, s, left, right, y, len(p.Series) > 1 && s.last() == least)
	}
}

// last is the last value that there is; without one, something no value is above.
func (s Series) last() float64 {
	for _, v := range slices.Backward(s.Values) {
		if v > 0 {
			return v
		}
	}
	return math.Inf(1)
}

// line draws a series, with its last value above or below its end.
func (l Lines) line(c *canvas, s Series, left, right float64, y axis, below bool) {
	class := fmt.Sprintf("l s%d", s.Color)
	if s.Dashed {
		class += " d"
	}
	var points []string
	last := -1
	for i, v := range s.Values {
		if v <= 0 {
			continue
		}
		x := l.at(i, left, right)
		points = append(points, fmt.Sprintf("%.1f,%.1f", x, y.at(v)))
		c.add(`<circle class="f%d" cx="%.1f" cy="%.1f" r="3"/>`, s.Color, x, y.at(v))
		last = i
	}
	if last < 0 {
		return
	}
	c.add(`<polyline class="%s" points="%s"/>`, class, strings.Join(points, " "))
	labelY := y.at(s.Values[last]) - 8
	if below {
		labelY += 26
	}
	c.text("m", "middle", l.at(last, left, right), labelY, Seconds(s.Values[last]))
}

// at is where the value of X number i stands. The outermost keep a distance from the sides.
func (l Lines) at(i int, left, right float64) float64 {
	const inset = 24
	value := func(i int) float64 {
		if l.LogX {
			return math.Log10(l.X[i])
		}
		return l.X[i]
	}
	low, high := value(0), value(len(l.X)-1)
	if high == low {
		return (left + right) / 2
	}
	return left + inset + (value(i)-low)/(high-low)*(right-left-2*inset)
}
