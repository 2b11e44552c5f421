package plot

import (
	"math"
	"strconv"
	"strings"

	"herbarium/internal/text"
)

// Limits of scales. Every loop over a scale has one of them as its bound, whatever the values are.
const (
	maxTicks  = 100
	maxValue  = 1e300 // values beyond it are drawn at the edge; sums and differences stay finite
	minRange  = 1e-290
	maxPlaces = 24
	precision = 1e-12 // least range as a share of the values; a float64 has 16 digits
)

// Ticks returns round numbers that cover a range: multiples of 1, 2 or 5 times a power of ten,
// about count of them and at most maxTicks. A range that floating-point numbers cannot divide is
// widened.
func Ticks(low, high float64, count int) []float64 {
	low, high = widen(low, high)
	step := Step((high - low) / float64(min(max(count, 1), maxTicks-3)))
	first, last := math.Floor(low/step+1e-9), math.Ceil(high/step-1e-9)
	ticks := make([]float64, min(int(last-first)+1, maxTicks))
	for i := range ticks {
		ticks[i] = (first + float64(i)) * step
	}
	return ticks
}

// bounded returns a number as one that a scale can show.
func bounded(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return min(max(x, -maxValue), maxValue)
}

// widen returns a range of bounded numbers that is at least as wide as the precision of its ends
// allows to divide.
func widen(low, high float64) (float64, float64) {
	low, high = bounded(low), bounded(high)
	if !(high > low) {
		high = low + 1
	}
	least := max(max(math.Abs(low), math.Abs(high))*precision, minRange)
	return low, max(high, low+least)
}

// Step returns the least number of 1, 2 or 5 times a power of ten that is not less than x.
func Step(x float64) float64 {
	x = max(bounded(x), minRange/maxTicks)
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// FormatTicks formats round numbers with the same unit and the same number of decimals.
func FormatTicks(ticks []float64) []string {
	highest, step := 0.0, math.Inf(1)
	for i, t := range ticks {
		highest = math.Max(highest, math.Abs(t))
		if i > 0 {
			step = math.Min(step, t-ticks[i-1])
		}
	}
	if highest >= 1e15 || highest > 0 && highest < 1e-9 {
		return formatExponents(ticks, highest, step)
	}
	divisor, suffix := 1.0, ""
	for _, u := range []struct {
		size   float64
		suffix string
	}{{1e12, "\u00a0T"}, {1e9, "\u00a0B"}, {1e6, "\u00a0M"}, {1e4, "\u00a0k"}} {
		if highest >= u.size {
			divisor, suffix = u.size, u.suffix
			break
		}
	}
	if suffix == "\u00a0k" {
		divisor = 1e3
	}
	places := 0
	if !math.IsInf(step, 1) {
		places = max(0, int(math.Ceil(-math.Log10(step/divisor)-1e-9)))
	}
	labels := make([]string, len(ticks))
	for i, t := range ticks {
		labels[i] = strconv.FormatFloat(t/divisor+0, 'f', min(places, maxPlaces), 64)
		if t == 0 {
			labels[i] = "0"
			continue
		}
		labels[i] = strings.Replace(groupDigits(labels[i]), "-", "−", 1) + suffix
	}
	return labels
}

// formatExponents formats numbers that would have many zeros, with as many digits as tell them
// apart.
func formatExponents(ticks []float64, highest, step float64) []string {
	digits := 1
	if step < highest {
		digits = min(int(math.Ceil(math.Log10(highest/step)-1e-9))+1, 15)
	}
	labels := make([]string, len(ticks))
	for i, t := range ticks {
		s := strings.NewReplacer("e+", "e", "-", "−").Replace(strconv.FormatFloat(t, 'e', digits, 64))
		whole, exponent, _ := strings.Cut(s, "e")
		labels[i] = strings.TrimSuffix(strings.TrimRight(whole, "0"), ".") + "e" + exponent
		if t == 0 {
			labels[i] = "0"
		}
	}
	return labels
}

// groupDigits inserts a comma into a number of less than seven digits before the point.
func groupDigits(s string) string {
	whole, _, _ := strings.Cut(s, ".")
	if at := len(whole) - 3; at > 0 && whole[at-1] != '-' {
		return whole[:at] + "," + whole[at:] + s[len(whole):]
	}
	return s
}

// scale maps the values of a range to coordinates, and values beyond it to those of its ends.
type scale struct{ low, high, from, to float64 }

func newScale(low, high, from, to float64) scale {
	low, high = widen(low, high)
	return scale{low, high, from, to}
}

func (s scale) at(v float64) float64 {
	return s.from + (min(max(bounded(v), s.low), s.high)-s.low)/(s.high-s.low)*(s.to-s.from)
}

// valueRange returns the range of the values of a chart; stacked series add up.
func valueRange(d Data, stacked bool) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for g := range d.Groups {
		up, down := 0.0, 0.0
		for _, s := range d.Series {
			c := s.Cells[g]
			if !c.Known {
				continue
			}
			v := bounded(c.Value)
			if !stacked {
				low, high = math.Min(low, v), math.Max(high, v)
			}
			up, down = up+math.Max(v, 0), down+math.Min(v, 0)
		}
		if stacked {
			low, high = math.Min(low, down), math.Max(high, up)
		}
	}
	if math.IsInf(low, 0) {
		return 0, 1
	}
	const near = 0.6 // of the highest value: smaller differences would be invisible on a scale from zero
	if d.FromZero || low < near*high || low <= 0 {
		low, high = math.Min(low, 0), math.Max(high, 0)
	}
	return widen(low, high)
}

// WithUnit writes a unit before or after a number.
func WithUnit(number, unit string) string {
	switch {
	case unit == "":
		return number
	case text.IsLeadingCurrency(unit):
		if digits, negative := strings.CutPrefix(number, "-"); negative {
			return "-" + unit + digits
		}
		return unit + number
	case unit == "%":
		return number + unit
	}
	return number + "\u00a0" + unit
}
