package plot

import (
	"slices"
	"unicode"
)

// maxMeasured is the number of characters of a text that are measured. Longer texts are wider than
// any chart.
const maxMeasured = 1_000

// TextWidth estimates the width of a text in pixels, rather too wide than too narrow: the font of
// the reader is not known. It measures at most maxMeasured characters.
func TextWidth(s string, size float64) float64 {
	em, n := 0.0, 0
	for _, r := range s {
		if n++; n > maxMeasured {
			break
		}
		em += charWidth(r)
	}
	return em * size
}

// charWidth returns the width of a character in em.
func charWidth(r rune) float64 {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	case r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) || r >= 0x1F000):
		return 1.05
	case r == 'm' || r == 'w' || r == 'M' || r == 'W' || r == '@' || r == '%' || r == '—' || r == '…':
		return 0.92
	case r == 'i' || r == 'l' || r == 'j' || r == 'I' || r == '.' || r == ',' || r == ':' || r == '\'' || r == ' ' || r == '|':
		return 0.34
	case unicode.IsUpper(r):
		return 0.74
	}
	return 0.62
}

// Clip shortens a text to a width, and to maxMeasured characters.
func Clip(s string, size, width float64) string {
	em, n, end := 0.0, 0, 0 // end is the length of what fits before an ellipsis
	for i, r := range s {
		if n <= 1 || (em+charWidth('…'))*size <= width {
			end = i
		}
		if n++; n > maxMeasured || n > 1 && em*size > width {
			return s[:end] + "…"
		}
		em += charWidth(r)
	}
	switch {
	case em*size <= width:
		return s
	case n == 1:
		return s + "…"
	}
	return s[:end] + "…"
}

// Spread returns positions near the wanted ones such that intervals of the given sizes around them
// do not overlap and lie between low and high, as far as they fit.
func Spread(wanted, sizes []float64, low, high float64) []float64 {
	order := make([]int, len(wanted))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case wanted[a] < wanted[b]:
			return -1
		case wanted[a] > wanted[b]:
			return 1
		}
		return 0
	})
	at := slices.Clone(wanted)
	end := low
	for _, i := range order { // push down
		at[i] = max(at[i], end+sizes[i]/2)
		end = at[i] + sizes[i]/2
	}
	end = high
	for k := len(order) - 1; k >= 0; k-- { // push up what is beyond the end
		i := order[k]
		if at[i]+sizes[i]/2 <= end {
			break
		}
		at[i] = end - sizes[i]/2
		end = at[i] - sizes[i]/2
	}
	return at
}

// axisLabel is the label of a group at the axis of intervals.
type axisLabel struct {
	group int
	text  string
	x     float64 // center
}

// axisLabels returns the labels of intervals that fit between low and high: those of the highest
// importance, or every nth of a lower one if these are few. x returns the center of a group.
func axisLabels(groups []Group, x func(int) float64, size, low, high float64) (best []axisLabel) {
	const few, most = 4, 1000
	a := axis{low: low, high: high, groups: make([]axisGroup, len(groups))}
	top := 0
	for i, g := range groups {
		top = max(top, g.Importance)
		label := axisText{g.Label, TextWidth(g.Label, size)}
		a.groups[i] = axisGroup{importance: g.Importance, x: x(i), label: label, short: label}
		if g.Short != "" {
			a.groups[i].short = axisText{g.Short, TextWidth(g.Short, size)}
		}
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

// axisGroup is a group with its measured labels.
type axisGroup struct {
	importance   int
	x            float64
	label, short axisText
}

type axisText struct {
	text  string
	width float64
}

// labels returns the labels of an importance or more, or every nth of them, and whether they fit
// without overlaps.
func (a *axis) labels(importance, every int) (labels []axisLabel, fits bool) {
	const gap = 14
	seen, end := 0, a.low-gap
	for i, g := range a.groups {
		if g.importance < importance {
			continue
		}
		if seen++; (seen-1)%every != 0 {
			continue
		}
		text := g.short
		if len(labels) == 0 {
			text = g.label
		}
		at := min(max(g.x, a.low+text.width/2), a.high-text.width/2)
		if at-text.width/2 < end+gap {
			return labels, false
		}
		end = at + text.width/2
		labels = append(labels, axisLabel{i, text.text, at})
	}
	return labels, true
}
