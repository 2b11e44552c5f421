package plot

import (
	"slices"
	"unicode"
)

// TextWidth estimates the width of a text in pixels, rather too wide than too narrow: the font of
// the reader is not known.
func TextWidth(s string, size float64) float64 {
	em := 0.0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) || r >= 0x1F000):
			em += 1.05
		case r == 'm' || r == 'w' || r == 'M' || r == 'W' || r == '@' || r == '%' || r == '—' || r == '…':
			em += 0.92
		case r == 'i' || r == 'l' || r == 'j' || r == 'I' || r == '.' || r == ',' || r == ':' || r == '\'' || r == ' ' || r == '|':
			em += 0.34
		case unicode.IsUpper(r):
			em += 0.74
		default:
			em += 0.62
		}
	}
	return em * size
}

// Clip shortens a text to a width.
func Clip(s string, size, width float64) string {
	if TextWidth(s, size) <= width {
		return s
	}
	runes := []rune(s)
	for len(runes) > 1 && TextWidth(string(runes)+"…", size) > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
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
// ranks, or every nth of a lower rank if these are few. x returns the center of a group.
func axisLabels(groups []Group, x func(int) float64, size, low, high float64) (best []axisLabel) {
	const few, most = 4, 1000
	top := 0
	for _, g := range groups {
		top = max(top, g.Rank)
	}
	for rank := 0; rank <= top && best == nil; rank++ {
		if labels, fits := labelsOf(groups, x, size, low, high, rank, 1); fits {
			best = labels
		}
	}
	for rank := top; rank >= 0 && len(best) < few; rank-- {
		for every := 2; every <= most; every++ {
			labels, fits := labelsOf(groups, x, size, low, high, rank, every)
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

// labelsOf returns the labels of a rank or higher, or of every nth of them, and whether they fit
// without overlaps.
func labelsOf(groups []Group, x func(int) float64, size, low, high float64, rank, every int) (labels []axisLabel, fits bool) {
	const gap = 14
	seen, end := 0, low-gap
	for i, g := range groups {
		if g.Rank < rank {
			continue
		}
		if seen++; (seen-1)%every != 0 {
			continue
		}
		text := g.Short
		if len(labels) == 0 || text == "" {
			text = g.Label
		}
		width := TextWidth(text, size)
		at := min(max(x(i), low+width/2), high-width/2)
		if at-width/2 < end+gap {
			return labels, false
		}
		end = at + width/2
		labels = append(labels, axisLabel{i, text, at})
	}
	return labels, true
}
