package plot

import (
	"math"
	"slices"
)

// maxLevels is the number of colors of a heat map.
const maxLevels = 6

// levels are the ranges of values that have the same color in a heat map. They begin and end at
// round numbers, so that the legend can name them.
type levels []float64 // the ends of the ranges, ascending

// newLevels returns the ranges of the values from low to high.
func newLevels(low, high float64) levels {
	return Ticks(low, high, maxLevels-1)
}

// len returns the number of ranges.
func (l levels) len() int { return min(len(l)-1, maxLevels) }

// class returns the class of the color of a range. Few ranges have colors from the whole scale.
func (l levels) class(i int) string {
	color := 0
	if l.len() > 1 {
		color = int(math.Round(float64(i*(maxLevels-1)) / float64(l.len()-1)))
	}
	return "cell h" + string(rune('1'+color))
}

// noneClass is the class of the color of cells without a value, or without rows.
const noneClass = "cell none"

// classOf returns the class of the color of a value. A range includes its lower end; the last one
// includes both.
func (l levels) classOf(c Cell) string {
	if !c.Known || c.Value == 0 && l[0] >= 0 {
		return noneClass
	}
	i, isEnd := slices.BinarySearch(l, bounded(c.Value))
	if !isEnd {
		i--
	}
	return l.class(min(max(i, 0), l.len()-1))
}

// legend draws the colors of the ranges with the numbers at their ends at the bottom right, and the
// color of cells without a value if there are any.
//
// labels are the numbers in words.
func (f *Figure) legend(l levels, labels []string, hasNone bool) {
	const height, gap, narrowest = 12, 8, 24.0
	half := func(i int) float64 { return TextWidth(labels[i], textSize) / 2 }
	spacing := narrowest // of labels that do not overlap
	for i := range l.len() {
		spacing = max(spacing, half(i)+half(i+1)+gap)
	}
	none := 0.0
	if hasNone {
		none = TextWidth("none", textSize) + gap
	}
	n := float64(l.len())
	right := f.Width - half(l.len())
	width := max(2, min(spacing, (right-half(0)-none)/n))
	every := max(1, int(math.Ceil(spacing/width)))
	y := f.Height + 10
	f.Height = y + height + 18
	for i := range l.len() {
		f.shape(l.class(i), rectangle(right-width*(n-float64(i)), y, width-1, height))
	}
	for i := l.len(); i >= 0; i -= every {
		f.text(right-width*(n-float64(i)), y+height+14, "middle", "tick", labels[i])
	}
	if hasNone {
		x := right - width*n - half(0) - none
		f.shape(noneClass, rectangle(x, y, none-gap, height))
		f.text(x+(none-gap)/2, y+height+14, "middle", "tick", "none")
	}
}
