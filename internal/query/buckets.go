package query

import (
	"iter"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Buckets returns the empty buckets of a histogram over the values of a field between a minimum and
// a maximum, as written: at most maxBuckets, adjacent, with round edges in canonical notation as
// text.Localize writes it. It returns none if maxBuckets is 0, if a number has more than
// MaxEdgeDigits digits, or if the values are not valid for the type.
//
// Edges are multiples of a step, the smallest that needs at most maxBuckets. For numbers it is 1, 2
// or 5 times a power of ten, and at least one unit of the last significant decimal place of the
// minimum or the maximum. For dates it is a day, a week starting on Monday, a month, a quarter, or
// 1, 2 or 5 times a power of ten years; for datetimes also 1, 5, 15 or 30 minutes, or 1, 3, 6 or 12
// hours; for times of day also 1, 5, 15 or 30 seconds. For durations, see durationSteps.
// No step is shorter than the periods of a field.
func Buckets(f herb.Field, minimum, maximum string, maxBuckets int) []Bucket {
	switch {
	case maxBuckets == 0:
		return nil
	case f.Type == herb.TypeNumber || f.Type == herb.TypeDuration:
		return newBuckets(&f, numberEdges(&f, minimum, maximum, maxBuckets))
	}
	return newBuckets(&f, timeEdges(&f, minimum, maximum, maxBuckets))
}

func newBuckets(f *herb.Field, edges []string) (buckets []Bucket) {
	if text.PrecisionOf(f) == text.PrecisionWeek { // some edges are the first days of months
		f = &herb.Field{Type: f.Type}
	}
	for i := 1; i < len(edges); i++ {
		buckets = append(buckets, Bucket{From: text.Localize(f, edges[i-1]), To: text.Localize(f, edges[i])})
	}
	return buckets
}

func numberEdges(f *herb.Field, minimum, maximum string, maxBuckets int) (edges []string) {
	step, first, count, places := numberStep(f, minimum, maximum, maxBuckets)
	if step == nil {
		return nil
	}
	for edge := first.Mul(first, step); len(edges) < count+1; edge.Add(edge, step) {
		edges = append(edges, decimal{edge, places}.String())
	}
	return edges
}

// BucketWidth returns the width of Buckets of numbers or durations, these in seconds; empty if
// there are none, or a single one.
func BucketWidth(f *herb.Field, minimum, maximum string, maxBuckets int) string {
	step, _, count, places := numberStep(f, minimum, maximum, maxBuckets)
	if count < 2 {
		return ""
	}
	return decimal{step, places}.String()
}

// numberStep returns the smallest step of which numbers need at most maxBuckets buckets, the number
// of the first one, and how many there are. A step is in units of a decimal place; nil: there is
// none.
func numberStep(f *herb.Field, minimum, maximum string, maxBuckets int) (step, first *big.Int, count, places int) {
	low, okLow := parseDecimal(f, minimum)
	high, okHigh := parseDecimal(f, maximum)
	places = max(low.places, high.places)
	if !okLow || !okHigh {
		return nil, nil, 0, places
	}
	from, to := low.units(places), high.units(places)
	if from.Cmp(to) > 0 {
		return nil, nil, 0, places
	}
	limit := big.NewInt(int64(maxBuckets))
	// Every step that is less than this width needs too many buckets, so the search starts there.
	width := new(big.Int).Sub(to, from)
	width.Div(width, limit)
	steps := decimalSteps(width)
	if f.Type == herb.TypeDuration {
		steps = durationSteps(width, powerOfTen(places))
	}
	for step = range steps {
		last := new(big.Int).Div(to, step) // rounded toward negative infinity
		first = new(big.Int).Div(from, step)
		if last.Sub(last, first).Cmp(limit) < 0 {
			count = int(last.Int64()) + 1
			break
		}
	}
	return step, first, count, places
}

// decimalSteps returns 1, 2 and 5 times the powers of ten in ascending order, from one that is not
// above a width.
func decimalSteps(width *big.Int) iter.Seq[*big.Int] {
	return func(yield func(*big.Int) bool) {
		for power := powerOfTen(len(width.String()) - 1); ; power.Mul(power, big.NewInt(10)) {
			for _, factor := range []int64{1, 2, 5} {
				if !yield(new(big.Int).Mul(power, big.NewInt(factor))) {
					return
				}
			}
		}
	}
}

// roundSeconds returns the round durations from a second to below a day, in seconds: 1, 2, 5, 10,
// 15 and 30 seconds and minutes; 1, 2, 3, 6 and 12 hours.
func roundSeconds() []int64 {
	const minute, hour = 60, 60 * 60
	return []int64{
		1, 2, 5, 10, 15, 30,
		minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
		hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour,
	}
}

// durationSteps returns steps of durations in ascending order: 1, 2 and 5 times the powers of ten
// below a second; roundSeconds; 1, 2 and 5 times the powers of ten days. The first is not above a
// width. The width and a second are given in the same unit, which divides a second by a power of
// ten.
func durationSteps(width, second *big.Int) iter.Seq[*big.Int] {
	return func(yield func(*big.Int) bool) {
		for step := range decimalSteps(width) {
			if step.Cmp(second) >= 0 {
				break
			}
			if !yield(step) {
				return
			}
		}
		for _, seconds := range roundSeconds() {
			if !yield(new(big.Int).Mul(second, big.NewInt(seconds))) {
				return
			}
		}
		day := new(big.Int).Mul(second, big.NewInt(24*60*60))
		for days := range decimalSteps(new(big.Int).Div(width, day)) {
			if !yield(days.Mul(days, day)) {
				return
			}
		}
	}
}

// decimal is the number unscaled * 10^-places.
type decimal struct {
	unscaled *big.Int
	places   int // may be negative
}

// parseDecimal parses a number as written. ok is false if it is invalid or has more than
// MaxEdgeDigits digits.
func parseDecimal(f *herb.Field, value string) (d decimal, ok bool) {
	return parseDigits(f, value, MaxEdgeDigits)
}

// parseDigits is parseDecimal with another limit.
func parseDigits(f *herb.Field, value string, most int) (d decimal, ok bool) {
	canonical, status := text.Canonical(f, value)
	whole, fraction, _ := strings.Cut(canonical, ".")
	fraction = strings.TrimRight(fraction, "0")
	if status != text.Valid || len(strings.TrimPrefix(whole, "-"))+len(fraction) > most {
		return d, false
	}
	n, ok := new(big.Int).SetString(whole+fraction, 10)
	return decimal{n, len(fraction)}, ok
}

func powerOfTen(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// units returns the number in units of a decimal place, which must not be before its last one.
func (d decimal) units(places int) *big.Int {
	return new(big.Int).Mul(d.unscaled, powerOfTen(places-d.places))
}

// String returns the number in plain decimal notation, without zeros at the end of its fraction.
func (d decimal) String() string {
	if d.places <= 0 {
		return d.units(0).String()
	}
	s := new(big.Rat).SetFrac(d.unscaled, powerOfTen(d.places)).FloatString(d.places)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// timeStep divides time into numbered intervals.
type timeStep struct {
	number func(time.Time) int
	begin  func(number int) time.Time
}

const day = 24 * time.Hour

// byDuration returns a step of a fixed duration, counted from midnight on a Monday.
func byDuration(d time.Duration) timeStep {
	monday := time.Date(-1, time.December, 27, 0, 0, 0, 0, time.UTC) // before all valid dates
	seconds := int64(d / time.Second)
	return timeStep{
		number: func(t time.Time) int { return int((t.Unix() - monday.Unix()) / seconds) },
		begin:  func(i int) time.Time { return time.Unix(monday.Unix()+int64(i)*seconds, 0).UTC() },
	}
}

// byMonths returns a step of n months, counted from the start of year 0.
func byMonths(n int) timeStep {
	return timeStep{
		number: func(t time.Time) int { return (12*t.Year() + int(t.Month()) - 1) / n },
		begin:  func(i int) time.Time { return time.Date(0, time.Month(i*n+1), 1, 0, 0, 0, 0, time.UTC) },
	}
}

// lastSecond is the last second of a day that package time knows. The last bucket of times of day
// includes leap seconds and text.EndOfDay.
const lastSecond = "23:59:59"

// timeEdges returns the edges between two times as written. Those of dates are dates, those of
// times of day are times of day.
func timeEdges(f *herb.Field, minimum, maximum string, maxBuckets int) (edges []string) {
	format := time.RFC3339Nano
	low, _ := text.Canonical(f, minimum) // invalid values have an empty canonical form, which is no time
	high, _ := text.Canonical(f, maximum)
	switch f.Type {
	case herb.TypeDate:
		format = time.DateOnly
	case herb.TypeTime:
		format = time.TimeOnly
		low, high = min(low, lastSecond), min(high, lastSecond)
	}
	from, err := time.Parse(format, low)
	to, err2 := time.Parse(format, high)
	if err != nil || err2 != nil || from.After(to) {
		return nil
	}
	var steps []timeStep
	if format == time.TimeOnly {
		for _, seconds := range []time.Duration{1, 5, 15, 30} {
			steps = append(steps, byDuration(seconds*time.Second))
		}
	}
	if format != time.DateOnly {
		for _, minutes := range []time.Duration{1, 5, 15, 30, 60, 3 * 60, 6 * 60, 12 * 60} {
			steps = append(steps, byDuration(minutes*time.Minute))
		}
	}
	dates := []timeStep{byDuration(day), byDuration(7 * day), byMonths(1), byMonths(3)}
	shortest := slices.Index([]text.Precision{text.PrecisionDay, text.PrecisionWeek, text.PrecisionMonth,
		text.PrecisionQuarter}, text.PrecisionOf(f))
	steps = append(steps, dates[shortest:]...)
	for years := 1; years <= 10_000; years *= 10 {
		steps = append(steps, byMonths(12*years), byMonths(12*2*years), byMonths(12*5*years))
	}
	for _, s := range steps {
		first, last := s.number(from), s.number(to)
		if last-first >= maxBuckets {
			continue
		}
		for i := first; i <= last+1; i++ {
			edges = append(edges, formatEdge(format, s.begin(i)))
		}
		break
	}
	return edges
}

// formatEdge formats a time. Years outside 0000 to 9999 are not valid in requests, so such times
// are clamped to the first or the last valid one.
func formatEdge(format string, t time.Time) string {
	switch {
	case format == time.TimeOnly && t.Day() > 1:
		return text.EndOfDay
	case t.Year() < 0:
		t = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	case t.Year() > 9999:
		t = time.Date(10_000, 1, 1, 0, 0, 0, -1, time.UTC)
	}
	return t.Format(format)
}

// Range describes the numbers of a histogram, as written. Values that do not exist are empty.
type Range struct {
	Min, Max         string
	GreatestNegative string
	LeastPositive    string
}

// LogBuckets returns the empty buckets of a logarithmic histogram over numbers: at most maxBuckets,
// adjacent, with round edges in canonical notation as text.Localize writes it. It returns none if
// the numbers need more buckets, if all of them are zero, or if one is not valid or has more than
// MaxEdgeDigits digits.
//
// The edges on either side of zero are the numbers of the finest sequence that needs at most
// maxBuckets: 1, 1.5, 2, 3, 5 and 7 times the powers of ten; 1, 2 and 5 times the powers of ten;
// the powers of ten, of a hundred, of a thousand and so on. If there are numbers that are not
// positive and others that are, zero is an edge, too.
func LogBuckets(f herb.Field, r Range, maxBuckets int) []Bucket {
	minimum, okMin := parseDecimal(&f, r.Min)
	maximum, okMax := parseDecimal(&f, r.Max)
	negative, hasNegative := parseDecimal(&f, r.GreatestNegative)
	positive, hasPositive := parseDecimal(&f, r.LeastPositive)
	if maxBuckets == 0 || !okMin || !okMax || !hasNegative && !hasPositive ||
		hasNegative != (minimum.unscaled.Sign() < 0) || hasPositive != (maximum.unscaled.Sign() > 0) {
		return nil
	}
	for _, s := range logSequences() {
		var edges []string
		if hasNegative {
			end, last := s.floor(negative)+1, s.floor(minimum)+1
			if last-end > maxBuckets {
				continue
			}
			if maximum.unscaled.Sign() < 0 { // the last bucket includes its end
				end--
			}
			for i := last; i >= end; i-- {
				edges = append(edges, "-"+s.number(i))
			}
		}
		if minimum.unscaled.Sign() <= 0 && maximum.unscaled.Sign() >= 0 {
			edges = append(edges, "0")
		}
		if hasPositive {
			first, end := s.floor(positive), s.floor(maximum)+1
			if end-first > maxBuckets {
				continue
			}
			for i := first; i <= end; i++ {
				edges = append(edges, s.number(i))
			}
		}
		if len(edges)-1 <= maxBuckets {
			return newBuckets(&f, edges)
		}
	}
	return nil
}

// logSequence is an ascending sequence of positive numbers, one for every integer.
type logSequence struct {
	steps   []string // digits of the numbers from 1 to below ten, without the point after the first
	decades int      // powers of ten from one number to the next; if more than 1, there is one step
}

// logSequences returns the sequences, finest first.
func logSequences() []logSequence {
	sequences := []logSequence{{[]string{"1", "15", "2", "3", "5", "7"}, 1}, {[]string{"1", "2", "5"}, 1}}
	for _, decades := range []int{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000} {
		sequences = append(sequences, logSequence{[]string{"1"}, decades})
	}
	return sequences
}

// floor returns the index of the greatest number that is not greater than the absolute value of d,
// which is not zero.
func (s logSequence) floor(d decimal) int {
	digits := strings.TrimPrefix(d.unscaled.String(), "-")
	exponent := len(digits) - 1 - d.places
	if s.decades > 1 {
		return floorDiv(exponent, s.decades)
	}
	i, equal := slices.BinarySearch(s.steps, strings.TrimRight(digits, "0"))
	if !equal {
		i--
	}
	return exponent*len(s.steps) + i
}

// number returns the number at an index in plain decimal notation.
func (s logSequence) number(i int) string {
	exponent := floorDiv(i, len(s.steps))
	digits := s.steps[i-exponent*len(s.steps)]
	unscaled, _ := new(big.Int).SetString(digits, 10)
	return decimal{unscaled, len(digits) - 1 - exponent*s.decades}.String()
}

// floorDiv returns a divided by b, rounded toward negative infinity.
func floorDiv(a, b int) int { return int(math.Floor(float64(a) / float64(b))) }

// IsSkewed reports whether one bucket of a histogram has more than three quarters of the counted
// records.
func IsSkewed(buckets []Bucket) bool {
	highest, sum := 0, 0
	for _, b := range buckets {
		highest = max(highest, b.Count)
		sum += b.Count
	}
	return 4*highest > 3*sum
}
