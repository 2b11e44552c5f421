package text

import (
	"encoding/binary"
	"strings"

	"herbarium/internal/herb"
)

// Key returns the bytes by which a value of the given type compares: two values sort as their keys do, and values with
// the same key are ties. ok is false when the value does not fit the type. Empty values have no place in an order (they
// come last whichever way it runs), so callers keep them apart.
func Key(t herb.Type, value string) (key string, ok bool) {
	switch t {
	case herb.TypeNumber:
		return NumberKey(value)
	case herb.TypeDate:
		return value, IsDate(value)
	default:
		return CollationKey(value), true
	}
}

// The first byte of a number's key.
const (
	numberNegative = 1
	numberZero     = 2
	numberPositive = 3
)

// NumberKey returns the key of a number in plain decimal notation: an optional minus sign, digits without leading
// zeros, and optionally a point and more digits. Equal values have equal keys however they are written, and nothing is
// rounded: a number may have any number of digits.
//
// The key is the sign, the position of the decimal point relative to the first significant digit, and the significant
// digits. Those of a negative number are inverted, so that the larger magnitude comes first.
func NumberKey(s string) (key string, ok bool) {
	rest, negative := strings.CutPrefix(s, "-")
	whole, fraction, point := strings.Cut(rest, ".")
	if !digits(whole) || len(whole) > 1 && whole[0] == '0' || point && !digits(fraction) {
		return "", false
	}
	exponent := len(whole)
	if whole == "0" {
		trimmed := strings.TrimLeft(fraction, "0")
		exponent = len(trimmed) - len(fraction)
		whole, fraction = "", trimmed
	}
	significant := strings.TrimRight(whole+fraction, "0")
	if significant == "" {
		return string([]byte{numberZero}), true
	}
	b := make([]byte, 5, 5+len(significant)+1)
	b[0] = numberPositive
	binary.BigEndian.PutUint32(b[1:], uint32(int64(exponent)+1<<31))
	b = append(b, significant...)
	if negative {
		b[0] = numberNegative
		for i := range b[1:] {
			b[1+i] = ^b[1+i]
		}
		b = append(b, 0xFF) // -1.5 before -1: the shorter of two equal beginnings is the larger number
	}
	return string(b), true
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// IsDate reports whether s is a calendar date written YYYY-MM-DD.
func IsDate(s string) bool {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' || !digits(s[:4]) || !digits(s[5:7]) || !digits(s[8:]) {
		return false
	}
	year, month, day := number(s[:4]), number(s[5:7]), number(s[8:])
	return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

// number reads a few digits that were checked before.
func number(s string) int {
	n := 0
	for i := range len(s) {
		n = n*10 + int(s[i]-'0')
	}
	return n
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	default:
		return 31
	}
}
