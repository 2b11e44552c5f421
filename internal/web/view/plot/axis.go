package plot

import (
	"math"
	"strconv"
	"time"
)

// Axis is what the axis of intervals shows.
type Axis struct {
	Zone  *time.Location // of an axis of time, whose positions are Unix times; nil: it has none
	Width float64        // of the intervals of numbers; 0: they are not numbers
	Plain bool           // digits are not grouped, as in years
	Whole bool           // labels name whole intervals, such as weekdays; they are in the middle of bars
}

// tickGap is the least space between two labels, in pixels.
const tickGap = 14

// axisSpan is the part of an axis that a chart shows.
type axisSpan struct {
	from, to float64               // values
	at       func(float64) float64 // position of a value in pixels
	bars     bool                  // intervals have a width
}

// axis writes the labels of intervals below a chart.
func (f *Figure) axis(d Data, y float64, a axisSpan) {
	var labels []axisLabel
	switch {
	case d.Axis.Zone != nil:
		labels = a.calendarLabels(d, f.Width)
	case d.Axis.Width > 0:
		labels = a.numberLabels(d.Axis, f.Width)
	}
	if labels == nil {
		labels = axisLabels(d.Groups, func(i int) float64 {
			if d.Axis.Whole && a.bars {
				return (a.at(d.Groups[i].At) + a.at(d.Groups[i].Next)) / 2
			}
			return a.at(d.Groups[i].At)
		}, textSize, 0, f.Width)
	}
	for _, l := range labels {
		f.text(l.x, y, "middle", "tick", l.text)
	}
}

// numberLabels returns labels of edges of intervals: the shortest multiple of their width that
// leaves enough space. It returns nil if there is none.
func (a axisSpan) numberLabels(axis Axis, width float64) []axisLabel {
	for factor := 1.0; factor < 1e12; factor = Step(1.5 * factor) {
		step := axis.Width * factor
		first, last := math.Ceil(a.from/step-1e-9), math.Floor(a.to/step+1e-9)
		if !(last >= first) || last-first >= maxTicks {
			continue
		}
		values := make([]float64, int(last-first)+1)
		for i := range values {
			values[i] = (first + float64(i)) * step
		}
		texts := FormatTicks(values)
		labels := make([]axisLabel, len(values))
		for i, v := range values {
			labels[i] = axisLabel{text: texts[i], x: a.at(v)}
			if axis.Plain {
				labels[i].text = strconv.FormatFloat(v, 'f', -1, 64)
			}
			if axis.Plain && a.bars && factor == 1 { // a year is the whole interval
				labels[i].x = (a.at(v) + a.at(v+step)) / 2
			}
		}
		if axis.Plain && a.bars && factor == 1 && values[len(values)-1] >= a.to {
			labels = labels[:len(labels)-1]
		}
		if fitLabels(labels, width) {
			return labels
		}
	}
	return nil
}

// fitLabels moves labels into the chart and reports whether there are any and none overlap.
func fitLabels(labels []axisLabel, width float64) bool {
	end := -math.MaxFloat64
	for i, l := range labels {
		half := TextWidth(l.text, textSize) / 2
		labels[i].x = min(max(l.x, half), width-half)
		if labels[i].x-half < end+tickGap {
			return false
		}
		end = labels[i].x + half
	}
	return len(labels) > 0
}

// axisLabel is the label of a group at the axis of intervals.
type axisLabel struct {
	text string
	x    float64 // center
}

// axisLabels returns the labels of intervals that fit between low and high: those of the highest
// importance, or every nth of a lower one if these are few. x returns the center of a group.
func axisLabels(groups []Group, x func(int) float64, size, low, high float64) (best []axisLabel) {
	const few, most = 4, maxTicks
	a := axis{low: low, high: high, groups: make([]axisGroup, len(groups))}
	top := 0
	for i, g := range groups {
		top = max(top, g.Importance)
		a.groups[i] = axisGroup{importance: g.Importance, x: x(i), text: g.Label, width: TextWidth(g.Label, size)}
	}
	for importance := 0; importance <= top && best == nil; importance++ {
		if labels, fits := a.labels(importance, 1); fits {
			best = labels
		}
	}
	for importance := top; importance >= 0 && len(best) < few; importance-- {
		for every := 2; every <= min(most, len(groups)); every++ {
			labels, fits := a.labels(importance, every)
			if fits && len(labels) > len(best) {
				best = labels
			}
			if fits {
				break
			}
		}
	}
	return best
}

// axis is where labels of intervals may be.
type axis struct {
	low, high float64
	groups    []axisGroup
}

// axisGroup is a group with its measured label.
type axisGroup struct {
	importance int
	x, width   float64
	text       string
}

// labels returns the labels of an importance or more, or every nth of them, and whether they fit
// without overlaps.
func (a *axis) labels(importance, every int) (labels []axisLabel, fits bool) {
	seen, end := 0, a.low-tickGap
	for _, g := range a.groups {
		if g.importance < importance {
			continue
		}
		seen++
		if (seen-1)%every != 0 {
			continue
		}
		at := min(max(g.x, a.low+g.width/2), a.high-g.width/2)
		if at-g.width/2 < end+tickGap {
			return labels, false
		}
		end = at + g.width/2
		labels = append(labels, axisLabel{g.text, at})
	}
	return labels, true
}
