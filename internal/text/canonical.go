package text

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// Status classifies a value of a field.
type Status uint8

// Statuses of a value.
const (
	Invalid Status = iota // does not fit the type
	Valid
	Missing // empty, or a marker of a missing value such as NA
)

// Canonical returns the canonical form of a value as written in the notation of its field: a number
// in plain decimal notation, a date as YYYY-MM-DD, a datetime as a UTC instant in the format of
// CanonicalDateTime, a time of day as HH:MM:SS, a duration as its seconds in plain decimal
// notation, a boolean as true or false. Text and lists are their own canonical form. Only valid
// values have one.
func Canonical(f *herb.Field, value string) (string, Status) {
	b, status := AppendCanonical(make([]byte, 0, 64), f, []byte(value))
	return string(b), status
}

// AppendCanonical is Canonical without allocation.
func AppendCanonical(dst []byte, f *herb.Field, value []byte) ([]byte, Status) {
	if len(value) == 0 {
		return dst, Missing
	}
	if !f.Type.IsScalar() {
		return append(dst, value...), Valid
	}
	if MissingPosition(f, value) >= 0 {
		return dst, Missing
	}
	if canonical, ok := appendScalar(dst, f.Type, &f.Notation, value); ok {
		return canonical, Valid
	}
	return dst, Invalid
}

// AppendPublished is AppendCanonical for a value that is not in a segment yet: a number, a time or
// a duration of more than MaxDigits is invalid.
func AppendPublished(dst []byte, f *herb.Field, value []byte) ([]byte, Status) {
	canonical, status := AppendCanonical(dst, f, value)
	if status == Valid && len(canonical)-len(dst) > MaxDigits && f.Type.IsScalar() &&
		DigitCount(canonical[len(dst):]) > MaxDigits {
		return dst, Invalid
	}
	return canonical, status
}

func appendScalar(dst []byte, t herb.Type, n *herb.Notation, value []byte) ([]byte, bool) {
	switch t {
	case herb.TypeNumber:
		return AppendDecimal(dst, n, value)
	case herb.TypeBoolean:
		return appendBoolean(dst, n, value)
	case herb.TypeTime:
		return appendTime(dst, n.DateFormat, TrimBlanks(value))
	case herb.TypeDuration:
		return appendDuration(dst, n.DateFormat, TrimBlanks(value))
	}
	m, ok := parseMoment(n.DateFormat, TrimBlanks(value))
	switch {
	case !ok:
		return dst, false
	case t == herb.TypeDate:
		return m.date().AppendFormat(dst, time.DateOnly), !m.clock
	default:
		return m.appendUTC(dst)
	}
}

// MissingPosition returns the position of a value among the missing values of its field, which sort
// after all others: the index of its marker in Notation.Missing, or their number if the value is
// empty or blank. It returns -1 if the value is not missing.
func MissingPosition[T string | []byte](f *herb.Field, value T) int {
	if len(value) == 0 {
		return len(f.Notation.Missing)
	}
	if !f.Type.IsScalar() {
		return -1
	}
	trimmed := TrimBlanks([]byte(value))
	if len(trimmed) == 0 {
		return len(f.Notation.Missing)
	}
	return slices.IndexFunc(f.Notation.Missing, func(marker string) bool { return marker == string(trimmed) })
}

// Operand returns the canonical form of a value to compare with. It accepts the notation of the
// field, the standard notation of its type and precision, and for a datetime a date, which is the
// start of that day.
func Operand(f *herb.Field, value string) (string, Status) {
	canonical, status := Canonical(f, value)
	if status != Invalid {
		return canonical, status
	}
	standard := herb.Field{Type: f.Type}
	if period := PrecisionOf(f).Format(); period != "" {
		standard.Notation.DateFormat = period + DateFormatSeparator + "%Y-%m-%d"
	}
	return Canonical(&standard, value)
}

// Bound is Operand for the end of a range, such as an edge of a histogram: a number that is also a
// marker of missing values is the number.
func Bound(f *herb.Field, value string) (string, Status) {
	unmarked := *f
	unmarked.Notation.Missing = nil
	return Operand(&unmarked, value)
}

// Localize rewrites a canonical value so that Operand reads it as the same value: the numbers of a
// field with a decimal comma have a comma, durations are H:MM:SS, periods are in ISO 8601.
func Localize(f *herb.Field, canonical string) string {
	if d := f.Notation.Decimal; d != "" && f.Type == herb.TypeNumber {
		return strings.Replace(canonical, ".", d, 1)
	}
	switch f.Type {
	case herb.TypeDuration:
		return formatDuration(canonical)
	case herb.TypeDate:
		return PrecisionOf(f).write(canonical)
	}
	return canonical
}

func appendBoolean(dst []byte, n *herb.Notation, value []byte) ([]byte, bool) {
	value = TrimBlanks(value)
	is, pair := BooleanWord(value)
	if len(n.True)+len(n.False) > 0 {
		is, pair = slices.Contains(n.True, string(value)), 1
		if !is && !slices.Contains(n.False, string(value)) {
			pair = 0
		}
	}
	if pair == 0 {
		return dst, false
	}
	return strconv.AppendBool(dst, is), true
}

// BooleanWord parses a standard word for true or false in any case. pair identifies the pair of
// words: 1 for true/false, 2 for yes/no, 3 for t/f and 4 for y/n; it is 0 for anything else.
func BooleanWord(value []byte) (is bool, pair int) {
	for i, words := range [...][2]string{{"true", "false"}, {"yes", "no"}, {"t", "f"}, {"y", "n"}} {
		for k, word := range words {
			if len(word) == len(value) && strings.EqualFold(word, string(value)) {
				return k == 0, i + 1
			}
		}
	}
	return false, 0
}

// TrimBlanks removes surrounding white space.
func TrimBlanks(v []byte) []byte {
	if len(v) > 0 && isInner(v[0]) && isInner(v[len(v)-1]) {
		return v
	}
	return bytes.TrimFunc(v, func(r rune) bool {
		return r == ' ' || r == '\t' || r == '\r' || r == '\n' || r == '\u00a0' || r == '\u202f' || r == '\u2009'
	})
}

// isInner reports whether a byte is neither white space nor part of a longer character.
func isInner(c byte) bool { return c > ' ' && c < 0x80 }

// Example describes how to write values of a scalar field in requests.
func Example(f *herb.Field) string {
	switch f.Type {
	case herb.TypeNumber:
		return "in plain decimal notation, such as -3, 25 or 12.50"
	case herb.TypeDate:
		switch PrecisionOf(f) {
		case PrecisionWeek:
			return "YYYY-Www, such as 2024-W05, or as its Monday, such as 2024-01-29"
		case PrecisionMonth:
			return "YYYY-MM, such as 2024-02, or as its first day, such as 2024-02-01"
		case PrecisionQuarter:
			return "YYYY-Qn, such as 2024-Q1, or as its first day, such as 2024-01-01"
		}
		return "YYYY-MM-DD, such as 2024-02-29"
	case herb.TypeDateTime:
		return "in ISO 8601, such as 2024-02-29T13:30:00Z or 2024-02-29"
	case herb.TypeTime:
		return "HH:MM:SS, such as 09:05:00, 9:05 or 9:05 pm"
	case herb.TypeDuration:
		return "H:MM:SS, such as 1:20:00, 25:10:00, 1h 20m or PT1H20M"
	default:
		return "true or false"
	}
}
