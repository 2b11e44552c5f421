package plot

import (
	"math"
	"strconv"
	"strings"
)

// Ticks returns round numbers that cover a range: multiples of 1, 2 or 5 times a power of ten,
// about count of them.
func Ticks(low, high float64, count int) []float64 {
	if !(high > low) {
		high = low + 1
	}
	step := Step((high - low) / float64(max(count, 1)))
	first, last := math.Floor(low/step+1e-9), math.Ceil(high/step-1e-9)
	var ticks []float64
	for i := first; i <= last; i++ {
		ticks = append(ticks, i*step)
	}
	return ticks
}

// Step returns the least number of 1, 2 or 5 times a power of ten that is not less than x.
func Step(x float64) float64 {
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
	divisor, suffix := 1.0, ""
	for _, u := range []struct {
		size   float64
		suffix string
	}{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e4, "k"}} {
		if highest >= u.size {
			divisor, suffix = u.size, u.suffix
			break
		}
	}
	if suffix == "k" {
		divisor = 1e3
	}
	places := 0
	if !math.IsInf(step, 1) {
		places = max(0, int(math.Ceil(-math.Log10(step/divisor)-1e-9)))
	}
	labels := make([]string, len(ticks))
	for i, t := range ticks {
		if labels[i] = strconv.FormatFloat(t/divisor+0, 'f', min(places, 12), 64); t == 0 {
			labels[i] = "0"
			continue
		}
		labels[i] = strings.Replace(groupDigits(labels[i]), "-", "−", 1) + suffix
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

// scale maps values to coordinates.
type scale struct{ low, high, from, to float64 }

func (s scale) at(v float64) float64 {
	return s.from + (v-s.low)/(s.high-s.low)*(s.to-s.from)
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
			if !stacked {
				low, high = math.Min(low, c.Value), math.Max(high, c.Value)
			}
			up, down = up+math.Max(c.Value, 0), down+math.Min(c.Value, 0)
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
	if low == high {
		high = low + 1
	}
	return low, high
}

// WithUnit writes a unit before or after a number.
func WithUnit(number, unit string) string {
	switch {
	case unit == "":
		return number
	case strings.Contains("$£¥", unit):
		if digits, negative := strings.CutPrefix(number, "-"); negative {
			return "-" + unit + digits
		}
		return unit + number
	case unit == "%":
		return number + unit
	}
	return number + "\u00a0" + unit
}
