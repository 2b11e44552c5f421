package ingest

import (
	"encoding/binary"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// kind is what a single value looks like. Only kindNumber and kindDate can make a type; the others are what people take
// for a number or a date although it is not written as one.
type kind uint8

const (
	kindText     kind = iota
	kindNumber        // plain decimal notation, as text.NumberKey reads it
	kindDate          // YYYY-MM-DD, as text.IsDate reads it
	kindPadded        // a number with leading zeros
	kindExponent      // a number with an exponent
	kindDated         // a date in another notation, or with a time behind it
)

// kindOf tells what a value that is not empty looks like. It runs over every value of a file, so it allocates nothing and
// reads no further than it must.
func kindOf(v []byte) kind {
	c := v[0]
	if c > '9' || c < '+' { // neither a digit nor one of + , - . /
		return kindText
	}
	at, padded := 0, false
	if c == '-' {
		at++
	}
	whole := digitsAt(v[at:])
	if whole == 0 {
		return kindText
	}
	padded = whole > 1 && v[at] == '0'
	at += whole
	if at < len(v) && v[at] == '.' {
		fraction := digitsAt(v[at+1:])
		if end := at + 1 + fraction; fraction > 0 && (end == len(v) || v[end]|0x20 == 'e') {
			at = end
		}
	}
	switch {
	case at == len(v) && padded:
		return kindPadded
	case at == len(v):
		return kindNumber
	case v[at]|0x20 == 'e' && isExponent(v[at+1:]):
		return kindExponent
	}
	if d, ok := datedAs(v); ok {
		if d == isoDate {
			return kindDate
		}
		return kindDated
	}
	return kindText
}

// digitsAt counts the digits that v begins with.
func digitsAt(v []byte) int {
	for i, c := range v {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(v)
}

func isExponent(v []byte) bool {
	if len(v) > 0 && (v[0] == '-' || v[0] == '+') {
		v = v[1:]
	}
	return len(v) > 0 && digitsAt(v) == len(v)
}

// notation is how a date is written.
type notation uint8

const (
	isoDate     notation = iota
	timed                // a date and a time: 2024-02-29T10:00
	yearFirst            // 2024/2/29
	dayFirst             // 31/12/2024
	monthFirst           // 12/31/2024
	eitherFirst          // 01/02/2024, which is in January or in February
	notations
)

// datedAs reports how a date is written. ok is false if v is none.
func datedAs(v []byte) (n notation, ok bool) {
	a := digitsAt(v)
	if a == 0 || a > 4 || a == 3 || a >= len(v) {
		return 0, false
	}
	separator := v[a]
	if separator != '-' && separator != '/' && separator != '.' {
		return 0, false
	}
	rest := v[a+1:]
	b := digitsAt(rest)
	if b == 0 || b > 2 || b >= len(rest) || rest[b] != separator {
		return 0, false
	}
	first, second, last := v[:a], rest[:b], rest[b+1:]
	c := digitsAt(last)
	tail := last[c:]
	if a == 4 {
		if c == 0 || c > 2 || !isDay(small(first), small(second), small(last[:c])) {
			return 0, false
		}
		switch {
		case len(tail) == 0 && separator == '-' && b == 2 && c == 2:
			return isoDate, true
		case len(tail) == 0:
			return yearFirst, true
		case len(tail) >= len("T1:00") && (tail[0] == 'T' || tail[0] == ' ') && tail[1] >= '0' && tail[1] <= '9':
			return timed, true
		}
		return 0, false
	}
	// Two digits of a year stand behind slashes only: 1.2.34 is the number of a version.
	if len(tail) > 0 || c != 4 && (c != 2 || separator != '/') {
		return 0, false
	}
	year := small(last[:c])
	day, month := isDay(year, small(second), small(first)), isDay(year, small(first), small(second))
	switch {
	case day && month:
		return eitherFirst, true
	case day:
		return dayFirst, true
	default:
		return monthFirst, month
	}
}

// small reads up to four digits.
func small(v []byte) int {
	n := 0
	for _, c := range v {
		n = 10*n + int(c-'0')
	}
	return n
}

// isDay reports whether there is such a day.
func isDay(year, month, day int) bool {
	if month < 1 || month > 12 || day < 1 {
		return false
	}
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return day <= 29
		}
		return day <= 28
	case 4, 6, 9, 11:
		return day <= 30
	default:
		return day <= 31
	}
}

// characters counts the characters of a value, which is UTF-8: the bytes that do not continue one, eight at a time.
func characters(v []byte) int {
	const each = 0x0101010101010101
	n := len(v)
	for ; len(v) >= 8; v = v[8:] {
		x := binary.LittleEndian.Uint64(v)
		n -= bits.OnesCount64(x >> 7 &^ (x >> 6) & each)
	}
	for _, c := range v {
		if c&0xC0 == 0x80 {
			n--
		}
	}
	return n
}

// hasBlankEnd reports whether a value that is not empty begins or ends with a blank.
func hasBlankEnd(v []byte) bool {
	first, last := v[0], v[len(v)-1]
	if first < utf8.RuneSelf && last < utf8.RuneSelf {
		return isBlank(first) || isBlank(last)
	}
	f, _ := utf8.DecodeRune(v)
	l, _ := utf8.DecodeLastRune(v)
	return unicode.IsSpace(f) || unicode.IsSpace(l)
}

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
