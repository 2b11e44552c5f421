package ingest

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
)

// xlsxStyle is how a cell shows a number, as far as that says what the number is.
type xlsxStyle struct {
	date, time bool // parts of a point in time that are shown
	elapsed    bool // hours count on behind 24
	zeros      int  // digits of a code that is padded with zeros; 0: it is none
}

// builtinStyle knows the formats that have a number instead of a description. Those from 27 to 36 and from 50 to 58 are
// dates in East Asia and unused elsewhere.
func builtinStyle(id int) xlsxStyle {
	switch {
	case id >= 14 && id <= 17, id >= 27 && id <= 31, id == 36, id >= 50 && id <= 58:
		return xlsxStyle{date: true}
	case id >= 18 && id <= 21, id == 32, id == 33, id == 45, id == 47:
		return xlsxStyle{time: true}
	case id == 22:
		return xlsxStyle{date: true, time: true}
	case id == 46:
		return xlsxStyle{time: true, elapsed: true}
	default:
		return xlsxStyle{}
	}
}

// styleOf reads the description of a format, such as yyyy\-mm\-dd or "€" #,##0.00;[Red]\-0. The first section counts,
// which is that of positive numbers.
func styleOf(code string) xlsxStyle {
	var s xlsxStyle
	if zeros := strings.Count(code, "0"); zeros > 1 && zeros == len(code) && zeros <= 100 {
		return xlsxStyle{zeros: zeros}
	}
	ambiguous := false // an m can be one of a month or of minutes
	for i := 0; i < len(code); {
		c := code[i] | 0x20 // in lower case, where it is a letter
		run := 1
		for i+run < len(code) && code[i+run]|0x20 == c {
			run++
		}
		switch rest := code[i:]; {
		case code[i] == ';':
			i = len(code)
			continue
		case code[i] == '"':
			run = skipPast(rest, '"')
		case code[i] == '\\' || code[i] == '_' || code[i] == '*':
			run = 2
		case code[i] == '[':
			run = skipPast(rest, ']')
			if unit := strings.Trim(rest[:run], "[]"); unit != "" && strings.Trim(unit, "hmsHMS") == "" {
				s.time, s.elapsed = true, true
			}
		case len(rest) >= 7 && strings.EqualFold(rest[:7], "general"):
			run = 7
		case len(rest) >= 5 && strings.EqualFold(rest[:5], "am/pm"):
			s.time, run = true, 5
		case len(rest) >= 3 && strings.EqualFold(rest[:3], "a/p"):
			s.time, run = true, 3
		case c == 'e' && len(rest) > 1 && (rest[1] == '+' || rest[1] == '-'):
			run = 2 // an exponent
		case c == 'y' || c == 'd' || c == 'e' || c == 'g' || c == 'b':
			s.date = true
		case c == 'm' && run > 2:
			s.date = true
		case c == 'm':
			ambiguous = true
		case c == 'h' || c == 's':
			s.time = true
		}
		i += run
	}
	s.date = s.date || ambiguous && !s.time
	return s
}

// skipPast is the length of what begins at s and ends at the next c behind its first byte.
func skipPast(s string, c byte) int {
	if end := strings.IndexByte(s[1:], c); end >= 0 {
		return end + 2
	}
	return len(s)
}

// appendNumber writes the number of a cell.
func (s xlsxStyle) appendNumber(b, raw []byte, date1904 bool) []byte {
	raw = bytes.TrimSpace(raw)
	switch {
	case s.date || s.time:
		if f, err := strconv.ParseFloat(string(raw), 64); err == nil {
			if out, ok := s.appendMoment(b, f, date1904); ok {
				return out
			}
		}
	case s.zeros > 0 && isDigits(raw):
		for range s.zeros - len(raw) {
			b = append(b, '0')
		}
		return append(b, raw...)
	}
	return appendPlain(b, raw)
}

func isDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// appendMoment writes a number of days as a point in time, or as far as only the clock is shown, as a time of day. It is
// false for what the program that wrote it could not show either.
func (s xlsxStyle) appendMoment(b []byte, days float64, date1904 bool) ([]byte, bool) {
	const dayMillis = secondsOfDay * 1000
	if !(days >= 0 && days < 2_958_466) {
		return b, false
	}
	millis := int64(math.Round(days * dayMillis))
	day, clock := millis/dayMillis, millis%dayMillis
	if s.elapsed && !s.date {
		return appendMillis(b, millis), true
	}
	if !s.date && day == 0 {
		return appendMillis(b, clock), true
	}
	switch epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC); {
	case date1904:
		b = appendDate(b, epoch.AddDate(4, 0, 2+int(day)))
	case day == 60: // Lotus 1-2-3 held 1900 for a leap year, and everyone has followed since
		b = append(b, "1900-02-29"...)
	case day < 60:
		b = appendDate(b, epoch.AddDate(0, 0, 1+int(day)))
	default:
		b = appendDate(b, epoch.AddDate(0, 0, int(day)))
	}
	if s.time || clock != 0 {
		b = appendMillis(append(b, 'T'), clock)
	}
	return b, true
}

// appendMillis writes a clock, with thousandths of a second where there are any.
func appendMillis(b []byte, millis int64) []byte {
	b = appendTime(b, millis/1000)
	if rest := millis % 1000; rest != 0 {
		b = appendPadded(append(b, '.'), int(rest), 3)
	}
	return b
}

// appendPlain writes a number in plain decimal notation. Its digits are those in the file, with one exception: a fraction
// of 16 or 17 digits was written by a program that turned a binary number into decimal ones (1.1000000000000001), and
// the fewest digits that mean the same number are written (1.1). What is no number is written as it is.
func appendPlain(b, raw []byte) []byte {
	mantissa, exponent, ok := splitNumber(raw)
	if !ok {
		return append(b, raw...)
	}
	whole, fraction, point := bytes.Cut(mantissa, []byte{'.'})
	if n := significant(whole, fraction); (n == 16 || n == 17) && (point || exponent != 0) {
		if f, err := strconv.ParseFloat(string(raw), 64); err == nil {
			return appendFloat(b, f, 64)
		}
	}
	if raw[0] == '-' {
		b = append(b, '-')
	}
	if exponent == 0 && len(whole) > 0 && (!point || len(fraction) > 0) {
		return append(b, mantissa...)
	}
	digits := append(append([]byte{}, whole...), fraction...)
	at := len(whole) + exponent // of the point in the digits
	if zeros := -at + 1; zeros > 0 {
		digits = append(bytes.Repeat([]byte{'0'}, zeros), digits...)
		at = 1
	}
	if zeros := at - len(digits); zeros > 0 {
		digits = append(digits, bytes.Repeat([]byte{'0'}, zeros)...)
	}
	front := bytes.TrimLeft(digits[:at-1], "0")
	b = append(append(b, front...), digits[at-1])
	if behind := digits[at:]; len(behind) > 0 {
		b = append(append(b, '.'), behind...)
	}
	return b
}

// splitNumber takes a number apart, without its sign. It is false for what is none, or too far from 1 for any use.
func splitNumber(raw []byte) (mantissa []byte, exponent int, ok bool) {
	mantissa = bytes.TrimLeft(raw, "+-")
	if len(raw)-len(mantissa) > 1 {
		return nil, 0, false
	}
	if i := bytes.IndexAny(mantissa, "eE"); i >= 0 {
		e, err := strconv.Atoi(string(mantissa[i+1:]))
		if err != nil || e < -400 || e > 400 {
			return nil, 0, false
		}
		mantissa, exponent = mantissa[:i], e
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	if len(whole)+len(fraction) == 0 || len(whole) > 0 && !isDigits(whole) || len(fraction) > 0 && !isDigits(fraction) {
		return nil, 0, false
	}
	return mantissa, exponent, true
}

// significant counts the digits of a number without zeros at its ends.
func significant(whole, fraction []byte) int {
	digits := strings.Trim(string(whole)+string(fraction), "0")
	return len(digits)
}
