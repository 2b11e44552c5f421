package query

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Range describes the numbers of a histogram, as written. Values that do not exist are empty.
type Range struct {
	Min, Max         string
	GreatestNegative string
	LeastPositive    string
}

// LogBuckets returns the empty buckets of a logarithmic histogram over numbers: at most that many, adjacent, with round
// borders in canonical notation as text.Localize writes it. It returns none if the numbers do not fit into so few buckets,
// if all of them are zero, or if one is not valid or has more than MaxBorderDigits digits.
//
// The borders on either side of zero are the numbers of the finest sequence that needs no more than most buckets: 1, 1.5,
// 2, 3, 5 and 7 times the powers of ten; 1, 2 and 5 times the powers of ten; the powers of ten, of a hundred, of a thousand
// and so on. If there are numbers that are not positive and others that are, zero is a border, too.
func LogBuckets(f herb.Field, r Range, most int) []Bucket {
	negative, positive := [2]magnitude{}, [2]magnitude{} // the greatest and the least
	ok := most > 0
	for _, v := range []struct {
		dst   *magnitude
		value string
	}{{&negative[0], r.Min}, {&negative[1], r.GreatestNegative}, {&positive[0], r.Max}, {&positive[1], r.LeastPositive}} {
		if v.value != "" && ok {
			*v.dst, ok = parseMagnitude(&f, v.value)
		}
	}
	if !ok || r.GreatestNegative == "" && r.LeastPositive == "" {
		return nil
	}
	for _, s := range logSequences() {
		var borders []string
		if r.GreatestNegative != "" {
			end, last := s.floor(negative[1])+1, s.floor(negative[0])+1
			if last-end > most {
				continue
			}
			if isNegative(&f, r.Max) { // the last bucket includes its end
				end--
			}
			for i := last; i >= end; i-- {
				borders = append(borders, "-"+s.number(i))
			}
		}
		if !isNegative(&f, r.Max) && (r.GreatestNegative != "" || isZero(&f, r.Min)) {
			borders = append(borders, "0")
		}
		if r.LeastPositive != "" {
			first, end := s.floor(positive[1]), s.floor(positive[0])+1
			if end-first > most {
				continue
			}
			for i := first; i <= end; i++ {
				borders = append(borders, s.number(i))
			}
		}
		if len(borders)-1 <= most {
			return newBuckets(&f, borders)
		}
	}
	return nil
}

func isNegative(f *herb.Field, value string) bool {
	canonical, _ := text.Canonical(f, value)
	return strings.HasPrefix(canonical, "-") && !isZero(f, value)
}

func isZero(f *herb.Field, value string) bool {
	m, ok := parseMagnitude(f, value)
	return ok && m.digits == ""
}

// magnitude is the absolute value of a number: its significant digits, with a decimal point after the first, times ten to
// the power of exponent.
type magnitude struct {
	digits   string // empty for zero
	exponent int
}

// parseMagnitude parses a number as written. ok is false if it is not valid or too long.
func parseMagnitude(f *herb.Field, value string) (m magnitude, ok bool) {
	canonical, status := text.Canonical(f, value)
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(canonical, "-"), ".")
	fraction = strings.TrimRight(fraction, "0")
	if status != text.Valid || !text.IsNumber([]byte(canonical)) || len(whole)+len(fraction) > MaxBorderDigits {
		return m, false
	}
	all := whole + fraction
	significant := strings.TrimLeft(all, "0")
	m.exponent = len(whole) - 1 - (len(all) - len(significant))
	m.digits = strings.TrimRight(significant, "0")
	return m, true
}

// logSequence is an ascending sequence of positive numbers, one for every integer.
type logSequence struct {
	steps   []string // digits of the numbers from 1 to below ten, as in magnitude
	decades int      // only every so many powers of ten; more than 1 requires one step
}

// logSequences returns the sequences, finest first.
func logSequences() []logSequence {
	sequences := []logSequence{{[]string{"1", "15", "2", "3", "5", "7"}, 1}, {[]string{"1", "2", "5"}, 1}}
	for _, decades := range []int{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000} {
		sequences = append(sequences, logSequence{[]string{"1"}, decades})
	}
	return sequences
}

// floor returns the index of the greatest number that is not greater than a magnitude, which is not zero.
func (s logSequence) floor(m magnitude) int {
	if s.decades > 1 {
		return floorDiv(m.exponent, s.decades)
	}
	i, equal := slices.BinarySearch(s.steps, m.digits)
	if !equal {
		i--
	}
	return m.exponent*len(s.steps) + i
}

// number returns the number at an index in plain decimal notation.
func (s logSequence) number(i int) string {
	exponent := floorDiv(i, len(s.steps))
	digits := s.steps[i-exponent*len(s.steps)]
	exponent *= s.decades
	switch {
	case exponent < 0:
		return "0." + strings.Repeat("0", -exponent-1) + digits
	case len(digits) <= exponent+1:
		return digits + strings.Repeat("0", exponent+1-len(digits))
	}
	return digits[:exponent+1] + "." + digits[exponent+1:]
}

// floorDiv returns a divided by b, rounded toward negative infinity.
func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// IsSkewed reports whether one bucket of a histogram has more than three quarters of the counted records.
func IsSkewed(buckets []Bucket) bool {
	highest, sum := 0, 0
	for _, b := range buckets {
		highest = max(highest, b.Count)
		sum += b.Count
	}
	return 4*highest > 3*sum
}
