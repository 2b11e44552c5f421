package query

import (
	"math/big"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Buckets returns the empty buckets of a histogram over the values of a number or date field from least to greatest: at
// most that many, adjacent, with round borders. It returns none if most is 0, if a number has more than MaxBorderDigits
// digits, or if the values are not valid for the type.
//
// Borders are multiples of a step, the smallest that needs no more than most buckets. For numbers it is 1, 2 or 5 times
// a power of ten, and at least one unit of the last significant decimal place of least or greatest. For dates it is a
// day, a week starting on Monday, a month, a quarter, or 1, 2 or 5 times a power of ten years.
func Buckets(t herb.Type, least, greatest string, most int) []Bucket {
	if most == 0 || least == "" {
		return nil
	}
	var borders []string
	if t == herb.TypeDate {
		borders = dateBorders(least, greatest, most)
	} else {
		borders = numberBorders(least, greatest, most)
	}
	if len(borders) == 0 {
		return nil
	}
	buckets := make([]Bucket, len(borders)-1)
	for i := range buckets {
		buckets[i].From, buckets[i].To = borders[i], borders[i+1]
	}
	return buckets
}

func numberBorders(least, greatest string, most int) []string {
	low, okLow := parseDecimal(least)
	high, okHigh := parseDecimal(greatest)
	if !okLow || !okHigh {
		return nil
	}
	places := max(low.places, high.places)
	from, to := low.scaled(places), high.scaled(places)
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

// decimal is a number in plain decimal notation: its digits and how many of them follow the point.
type decimal struct {
	digits string
	places int
	minus  bool
}

// parseDecimal parses a number; ok is false if it is invalid or too long.
func parseDecimal(s string) (d decimal, ok bool) {
	if !text.IsNumber([]byte(s)) {
		return d, false
	}
	s, d.minus = strings.CutPrefix(s, "-")
	whole, fraction, _ := strings.Cut(s, ".")
	fraction = strings.TrimRight(fraction, "0")
	d.digits, d.places = whole+fraction, len(fraction)
	return d, len(d.digits) <= MaxBorderDigits
}

// scaled returns the number as an integer multiple of 10^-places.
func (d decimal) scaled(places int) *big.Int {
	n, _ := new(big.Int).SetString(d.digits, 10) // it consists of digits only
	n.Mul(n, powerOfTen(places-d.places))
	if d.minus {
		n.Neg(n)
	}
	return n
}

func powerOfTen(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// formatDecimal formats n * 10^-places.
func formatDecimal(n *big.Int, places int) string {
	digits, minus := strings.CutPrefix(n.String(), "-")
	if len(digits) <= places {
		digits = strings.Repeat("0", places+1-len(digits)) + digits
	}
	whole, fraction := digits[:len(digits)-places], strings.TrimRight(digits[len(digits)-places:], "0")
	if fraction != "" {
		whole += "." + fraction
	}
	if minus {
		whole = "-" + whole
	}
	return whole
}

// dateStep divides the calendar into numbered intervals.
type dateStep struct {
	number func(day time.Time) int
	begin  func(number int) time.Time
}

const day = 24 * time.Hour

// inDays returns a step of n days, counted from a Monday.
func inDays(n int) dateStep {
	monday := time.Date(-1, time.December, 27, 0, 0, 0, 0, time.UTC) // before all valid dates
	return dateStep{
		number: func(d time.Time) int { return int((d.Unix()-monday.Unix())/int64(day/time.Second)) / n },
		begin:  func(i int) time.Time { return monday.AddDate(0, 0, i*n) },
	}
}

// inMonths returns a step of n months, counted from the start of year 0.
func inMonths(n int) dateStep {
	return dateStep{
		number: func(d time.Time) int { return (12*d.Year() + int(d.Month()) - 1) / n },
		begin:  func(i int) time.Time { return time.Date(0, time.Month(i*n+1), 1, 0, 0, 0, 0, time.UTC) },
	}
}

func dateBorders(least, greatest string, most int) []string {
	from, err := time.Parse(time.DateOnly, least)
	to, err2 := time.Parse(time.DateOnly, greatest)
	if err != nil || err2 != nil || from.After(to) {
		return nil
	}
	steps := []dateStep{inDays(1), inDays(7), inMonths(1), inMonths(3)}
	for years := 1; years <= 10_000; years *= 10 {
		steps = append(steps, inMonths(12*years), inMonths(12*2*years), inMonths(12*5*years))
	}
	for _, s := range steps {
		first, last := s.number(from), s.number(to)
		if last-first >= most {
			continue
		}
		borders := make([]string, 0, last-first+2)
		for i := first; i <= last+1; i++ {
			borders = append(borders, formatBorder(s.begin(i)))
		}
		return borders
	}
	return nil
}

// formatBorder formats a date. Years outside 0000 to 9999 are not valid in requests, so such dates are clamped to the
// first or the last valid date.
func formatBorder(d time.Time) string {
	switch {
	case d.Year() < 0:
		return "0000-01-01"
	case d.Year() > 9999:
		return "9999-12-31"
	default:
		return d.Format(time.DateOnly)
	}
}
