package query

import (
	"math/big"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Buckets returns the empty buckets of a histogram over the values of a field from least to greatest, as written: at most
// that many, adjacent, with round borders in canonical notation as text.Localize writes it. It returns none if most is 0,
// if a number has more than MaxBorderDigits digits, or if the values are not valid for the type.
//
// Borders are multiples of a step, the smallest that needs no more than most buckets. For numbers it is 1, 2 or 5 times
// a power of ten, and at least one unit of the last significant decimal place of least or greatest. For dates it is a
// day, a week starting on Monday, a month, a quarter, or 1, 2 or 5 times a power of ten years; for datetimes also 1, 5,
// 15 or 30 minutes, or 1, 3, 6 or 12 hours.
func Buckets(f herb.Field, least, greatest string, most int) []Bucket {
	if most == 0 || least == "" {
		return nil
	}
	low, okLow := text.Canonical(&f, least)
	high, okHigh := text.Canonical(&f, greatest)
	if okLow != text.Valid || okHigh != text.Valid {
		return nil
	}
	var borders []string
	switch f.Type {
	case herb.TypeDate:
		borders = timeBorders(time.DateOnly, low, high, most)
	case herb.TypeDateTime:
		borders = timeBorders(time.RFC3339Nano, low, high, most)
	default:
		borders = numberBorders(low, high, most)
	}
	return newBuckets(&f, borders)
}

// newBuckets returns the empty buckets between borders.
func newBuckets(f *herb.Field, borders []string) []Bucket {
	if len(borders) == 0 {
		return nil
	}
	buckets := make([]Bucket, len(borders)-1)
	for i := range buckets {
		buckets[i].From, buckets[i].To = text.Localize(f, borders[i]), text.Localize(f, borders[i+1])
	}
	return buckets
}

func numberBorders(least, greatest string, most int) []string {
	places := max(decimalPlaces(least), decimalPlaces(greatest))
	if places > MaxBorderDigits {
		return nil
	}
	from, okFrom := scaleDecimal(least, places)
	to, okTo := scaleDecimal(greatest, places)
	if !okFrom || !okTo {
		return nil
	}
	if from.Cmp(to) > 0 {
		return nil
	}
	// Every step below the power of ten of this width needs too many buckets, so the search starts there.
	width := new(big.Int).Sub(to, from)
	width.Div(width, big.NewInt(int64(most)))
	power := powerOfTen(len(width.String()) - 1)
	for {
		for _, factor := range []int64{1, 2, 5} {
			step := new(big.Int).Mul(power, big.NewInt(factor))
			first, last := new(big.Int), new(big.Int)
			first.Div(from, step) // rounds toward negative infinity
			last.Div(to, step)
			count := new(big.Int).Sub(last, first)
			if count.Cmp(big.NewInt(int64(most))) >= 0 {
				continue
			}
			borders := make([]string, count.Int64()+2)
			at := first.Mul(first, step)
			for i := range borders {
				borders[i] = formatDecimal(at, places)
				at.Add(at, step)
			}
			return borders
		}
		power.Mul(power, big.NewInt(10))
	}
}

// decimalPlaces returns the number of significant digits after the point.
func decimalPlaces(s string) int {
	_, fraction, _ := strings.Cut(s, ".")
	return len(strings.TrimRight(fraction, "0"))
}

// scaleDecimal returns a number in plain decimal notation as an integer multiple of 10^-places. ok is false if it is invalid
// or too long.
func scaleDecimal(s string, places int) (_ *big.Int, ok bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	fraction = strings.TrimRight(fraction, "0")
	if !text.IsNumber([]byte(s)) || len(strings.TrimPrefix(whole, "-"))+len(fraction) > MaxBorderDigits {
		return nil, false
	}
	return new(big.Int).SetString(whole+fraction+strings.Repeat("0", places-len(fraction)), 10)
}

func powerOfTen(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// formatDecimal formats n * 10^-places.
func formatDecimal(n *big.Int, places int) string {
	s := new(big.Rat).SetFrac(n, powerOfTen(places)).FloatString(places)
	if places > 0 {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return s
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

// timeBorders returns the borders between two times in canonical form. Those of dates are dates.
func timeBorders(layout, least, greatest string, most int) []string {
	from, err := time.Parse(layout, least)
	to, err2 := time.Parse(layout, greatest)
	if err != nil || err2 != nil || from.After(to) {
		return nil
	}
	var steps []timeStep
	if layout != time.DateOnly {
		for _, minutes := range []time.Duration{1, 5, 15, 30, 60, 3 * 60, 6 * 60, 12 * 60} {
			steps = append(steps, byDuration(minutes*time.Minute))
		}
	}
	steps = append(steps, byDuration(day), byDuration(7*day), byMonths(1), byMonths(3))
	for years := 1; years <= 10_000; years *= 10 {
		steps = append(steps, byMonths(12*years), byMonths(12*2*years), byMonths(12*5*years))
	}
	for _, s := range steps {
		first, last := s.number(from), s.number(to)
		if last-first >= most {
			continue
		}
		borders := make([]string, 0, last-first+2)
		for i := first; i <= last+1; i++ {
			borders = append(borders, formatBorder(layout, s.begin(i)))
		}
		return borders
	}
	return nil
}

// formatBorder formats a time. Years outside 0000 to 9999 are not valid in requests, so such times are clamped to the
// first or the last valid one.
func formatBorder(layout string, t time.Time) string {
	switch {
	case t.Year() < 0:
		t = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	case t.Year() > 9999:
		t = time.Date(10_000, 1, 1, 0, 0, 0, -1, time.UTC)
	}
	return t.Format(layout)
}
