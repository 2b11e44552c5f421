package format

import (
	"math"
	"strconv"
	"strings"

	"herbarium/internal/herb"
)

// LongNumber is the number of characters of a number or duration beyond which labels show it with
// few digits.
const LongNumber = 18

// Compact formats a number in plain decimal notation as a label: whole numbers below 10,000 with
// all their digits, others with three significant ones and a unit, such as 12.4 k, 1.2 M or 870 T.
// Larger and smaller numbers have an exponent. Anything else is returned clipped.
func Compact(s string) string {
	digits := strings.TrimLeft(s, "+-")
	whole, fraction, _ := strings.Cut(digits, ".")
	if digits == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return herb.Clip(s, LongNumber)
	}
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign = "−"
	}
	whole = strings.TrimLeft(whole, "0")
	if len(whole) > 300 { // beyond a float64
		n, _ := strconv.ParseFloat("0."+whole[:17], 64)
		return sign + exponential(n*10, len(whole)-1)
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return herb.Clip(s, LongNumber)
	}
	if n == 0 {
		return "0"
	}
	return sign + compact(n)
}

// compact formats a positive number.
func compact(n float64) string {
	const exact, least, most = 10_000, 1e-4, 1e15
	magnitude := int(math.Floor(math.Log10(n)))
	if power := math.Pow(10, float64(magnitude-2)); power > 0 && (n != math.Trunc(n) || n >= exact) && n < most {
		n = math.Round(n/power) * power // three digits; may reach the next unit
	}
	switch {
	case n < least || n >= most:
		magnitude = int(math.Floor(math.Log10(n)))
		if n < math.SmallestNonzeroFloat64*1e20 {
			return strings.Replace(strconv.FormatFloat(n, 'e', 2, 64), "e-", "e−", 1)
		}
		return exponential(n/math.Pow(10, float64(magnitude)), magnitude)
	case n == math.Trunc(n) && n < exact:
		return herb.GroupDigits(strconv.FormatFloat(n, 'f', 0, 64))
	case n < 1000:
		return significant(n)
	}
	for _, u := range []struct {
		size float64
		sign string
	}{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}} {
		if n >= u.size {
			return significant(n/u.size) + "\u00a0" + u.sign
		}
	}
	if n < exact {
		return herb.GroupDigits(strconv.FormatFloat(n, 'f', 0, 64))
	}
	return significant(n/1000) + "\u00a0k"
}

// significant writes a number below 1000 with up to three significant digits.
func significant(n float64) string {
	places := max(0, 2-int(math.Floor(math.Log10(n)+1e-9)))
	s := strconv.FormatFloat(n, 'f', places, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// exponential writes a number from 1 to 10 and a power of ten.
func exponential(n float64, exponent int) string {
	s := significant(n)
	if s == "10" {
		s, exponent = "1", exponent+1
	}
	return s + strings.Replace("e"+strconv.Itoa(exponent), "-", "−", 1)
}

// CompactDuration formats a duration H:MM:SS as a label: a long one in hours.
func CompactDuration(s string) string {
	if len(s) <= LongNumber-4 {
		return s
	}
	hours, rest, _ := strings.Cut(s, ":")
	if strings.Trim(rest, "0123456789:.") != "" {
		return herb.Clip(s, LongNumber)
	}
	return Compact(hours) + "\u00a0h"
}
