// Package format writes values, numbers, times and descriptions as pages show them.
package format

import (
	"cmp"
	"html/template"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Percent formats a share. Only nothing is 0% and only everything is 100%.
func Percent(n, total int) string {
	if total == 0 {
		return "0%"
	}
	share := (100*n + total/2) / total
	switch {
	case n > 0 && share == 0:
		return "<1%"
	case n < total && share == 100:
		return ">99%"
	}
	return strconv.Itoa(share) + "%"
}

// Age formats how long ago a time was, in its largest unit.
func Age(now, t time.Time) string {
	const day = 24 * time.Hour
	ago := now.Sub(t)
	for _, u := range []struct {
		length    time.Duration
		one, many string
	}{{365 * day, "year", "years"}, {30 * day, "month", "months"}, {day, "day", "days"}, {time.Hour, "hour", "hours"},
		{time.Minute, "minute", "minutes"}} {
		if ago >= u.length {
			return herb.Plural(int(ago/u.length), u.one, u.many) + " ago"
		}
	}
	return "just now"
}

// PlainText returns text for places without markup, such as a window title: on one line, without
// control characters and without characters that change the direction of the surrounding text.
func PlainText(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == 0xFFFE, r == 0xFFFF:
			// the last two are not allowed in SVG
			return -1
		}
		return r
	}, s)), " ")
}

// Number formats a number of a field for display: grouped, and rounded to what a reader compares.
// Up to two decimal places are kept. Anything else, and numbers in a notation with another decimal
// separator, are returned unchanged.
func Number(f *herb.Field, s string) string {
	return GroupNumber(f, RoundNumber(f, s, Decimals(f, s)))
}

// RoundNumber writes a number with a number of decimal places, filled with zeros.
func RoundNumber(f *herb.Field, s string, places int) string {
	_, fraction, ok := splitNumber(f, s)
	if !ok || places == len(fraction) {
		return s
	}
	exact, ok := new(big.Rat).SetString(s)
	if !ok {
		return s
	}
	return exact.FloatString(places)
}

// RoundDecimals writes a number with at most so many decimal places, but a small one with a few
// significant digits.
func RoundDecimals(s string, places int) string {
	whole, fraction, ok := splitNumber(&herb.Field{}, s)
	if !ok || len(fraction) <= places {
		return s
	}
	if strings.Trim(whole, "0") == "" {
		places = max(places, Decimals(&herb.Field{}, s))
	}
	return RoundNumber(&herb.Field{}, s, places)
}

// Decimals returns how many decimal places the numbers of a column are shown with: about six
// significant digits of the largest one, and no more than any of them has.
func Decimals(f *herb.Field, values ...string) int {
	digits, longest, zeros := 0, 0, maxDigits
	for _, s := range values {
		whole, fraction, ok := splitNumber(f, s)
		if !ok {
			continue
		}
		longest = max(longest, len(fraction))
		if strings.Trim(whole, "0") != "" {
			digits = max(digits, len(whole))
		} else if significant := strings.TrimLeft(fraction, "0"); significant != "" {
			zeros = min(zeros, len(fraction)-len(significant))
		}
	}
	const significant = 6
	switch {
	case longest <= 2:
		return longest
	case digits > significant:
		return 0
	case digits == 0:
		return min(longest, zeros+4)
	}
	return min(longest, max(2, significant-digits))
}

// SplitDecimal returns what is before and after the decimal separator of a number of a field. It
// returns false if the value is longer than numbers that are formatted, or is not written with
// digits.
func SplitDecimal(f *herb.Field, s string) (whole, fraction string, ok bool) {
	whole, fraction, _ = strings.Cut(s, cmp.Or(f.Notation.Decimal, "."))
	isDigits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	if len(s) > maxDigits || !strings.ContainsAny(s, "0123456789") || !isDigits(fraction) || whole != "" &&
		!isDigits(whole[len(whole)-1:]) || strings.ContainsAny(whole, "eE") {
		return "", "", false
	}
	return whole, fraction, true
}

// DecimalPad returns what a number with a fraction lacks to be as wide as one with a number of
// decimals.
func DecimalPad(fraction string, places int) string {
	missing := places - len(fraction)
	switch {
	case missing <= 0:
		return ""
	case fraction == "":
		return "." + strings.Repeat("0", missing)
	}
	return strings.Repeat("0", missing)
}

// splitNumber returns the digits of a number before and after the decimal point. It returns false
// if the value is not shown as a number.
func splitNumber(f *herb.Field, s string) (whole, fraction string, ok bool) {
	whole, fraction, _ = strings.Cut(s, ".")
	digits := strings.TrimLeft(whole, "+-")
	if f.Notation.Decimal != "" || len(whole)-len(digits) > 1 || !text.IsNumber([]byte(strings.TrimPrefix(s, "+"))) ||
		len(s) > maxDigits ||
		strings.ContainsAny(s, "eE") {
		return "", "", false
	}
	return digits, fraction, true
}

// GroupNumber groups the digits of a number of a field by commas, unless a comma is its decimal
// separator.
func GroupNumber(f *herb.Field, s string) string {
	whole, _, _ := strings.Cut(s, ".")
	digits := strings.TrimLeft(whole, "+-")
	if f.Notation.Decimal != "" || len(whole)-len(digits) > 1 || strings.Trim(digits, "0123456789") != "" ||
		len(s) > maxDigits {
		return s
	}
	return herb.GroupDigits(whole) + s[len(whole):]
}

// maxDigits is the length of the longest number that is formatted.
const maxDigits = 60

// Time formats a date or datetime of a field for display, in ISO 8601 with a space before the time.
// Anything else is returned unchanged.
func Time(f *herb.Field, s string) string {
	canonical, status := text.Operand(f, s)
	switch {
	case status != text.Valid:
		return s
	case f.Type == herb.TypeDate:
		return text.Localize(f, canonical)
	}
	t, err := time.Parse(text.CanonicalDateTime, canonical)
	if err != nil {
		return s
	}
	format := "2006-01-02 15:04"
	if t.Second() != 0 || t.Nanosecond() != 0 {
		format = "2006-01-02 15:04:05.999999999"
	}
	if zoned, _ := text.ScanDateTime([]byte(s)); zoned {
		format += " UTC"
	}
	return t.Format(format)
}

// EscapeExact escapes text such that a browser keeps it unchanged: it would replace a literal
// carriage return by a line feed.
func EscapeExact(s string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(s), "\r", "&#13;"))
}
