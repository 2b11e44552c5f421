package text

import (
	"bytes"
	"math/big"
	"strconv"
	"strings"
)

// MinutesSeconds is the format of durations whose two parts are minutes and seconds, as in 4:05.
// Without it, they are hours and minutes.
const MinutesSeconds = "%M:%S"

// EndOfDay is the last time of day in canonical form. It is the end of a day, not a minute of it.
const EndOfDay = "24:00:00"

// appendTime appends the canonical form of a time of day, HH:MM:SS[.fraction] without zeros at the
// end of the fraction. It sorts as bytes. An empty format is the standard notation: H:MM or HH:MM,
// optionally followed by seconds and a fraction, of 24 hours or with am or pm, up to 23:59:60, and
// 24:00 for the end of a day.
func appendTime(dst []byte, format string, v []byte) (_ []byte, ok bool) {
	if format != "" {
		return appendFormattedTime(dst, format, v)
	}
	hour, v, ok := cutDigits(v, 1, 2)
	if !ok {
		return dst, false
	}
	var minute, second int
	var fraction []byte
	hasMinutes := len(v) > 0 && v[0] == ':'
	if hasMinutes {
		minute, v, ok = cutDigits(v[1:], 2, 2)
		if !ok {
			return dst, false
		}
		if len(v) > 0 && v[0] == ':' {
			second, v, ok = cutDigits(v[1:], 2, 2)
			if !ok {
				return dst, false
			}
			fraction, v, ok = cutFraction(v)
			if !ok {
				return dst, false
			}
		}
	}
	half := halfOfDay(v)
	switch {
	case half < 0 && (len(v) > 0 || !hasMinutes), half >= 0 && (hour == 0 || hour > 12):
		return dst, false
	case half >= 0:
		hour = hour%12 + 12*half
	}
	return appendClock(dst, hour, minute, second, fraction)
}

func appendFormattedTime(dst []byte, format string, v []byte) (_ []byte, ok bool) {
	for alternative := range strings.SplitSeq(format, DateFormatSeparator) {
		m, ok := parseAlternative(alternative, v, moment{month: 1, day: 1})
		if ok {
			fraction := strconv.AppendInt(nil, int64(1e9+m.nano), 10)[1:]
			return appendClock(dst, m.hour, m.minute, m.second, fraction)
		}
	}
	return dst, false
}

// appendClock appends a time of day in canonical form if it is valid.
func appendClock(dst []byte, hour, minute, second int, fraction []byte) (_ []byte, ok bool) {
	fraction = bytes.TrimRight(fraction, "0")
	isEnd := hour == 24 && minute+second+len(fraction) == 0
	isLeap := second == 60 && hour == 23 && minute == 59
	if minute > 59 || hour > 23 && !isEnd || second > 59 && !isLeap {
		return dst, false
	}
	dst = appendPair(append(appendPair(dst, hour), ':'), minute)
	dst = appendPair(append(dst, ':'), second)
	if len(fraction) > 0 {
		dst = append(append(dst, '.'), fraction...)
	}
	return dst, true
}

func appendPair(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// isCanonicalTime reports whether s is a time of day in canonical form.
func isCanonicalTime(s string) bool {
	if len(s) < len(EndOfDay) || s[2] != ':' || s[5] != ':' {
		return false
	}
	var buf [64]byte
	canonical, ok := appendTime(buf[:0], "", []byte(s))
	return ok && string(canonical) == s
}

// timePrefix returns the beginning of the canonical forms of the times of day that begin with s: a
// leading zero may be left out before a colon.
func timePrefix(s string) string {
	if len(s) > 1 && s[1] == ':' {
		s = "0" + s
	}
	return strings.Replace(s, ",", ".", 1)
}

// halfOfDay returns 0 for am, 1 for pm, in any case and with or without points, and -1 for anything
// else.
func halfOfDay(v []byte) int {
	if len(v) == 0 {
		return -1
	}
	var letters []byte
	for _, c := range TrimBlanks(v) {
		c |= 0x20
		if c != ' ' && c != '.' { // blanks, points and letters in lower case
			letters = append(letters, c)
		}
	}
	switch string(letters) {
	case "am":
		return 0
	case "pm":
		return 1
	}
	return -1
}

// cutDigits parses a number at the start of v that has a number of digits between two limits.
func cutDigits(v []byte, least, most int) (n int, rest []byte, ok bool) {
	digits := digitCount(v)
	if digits < least || digits > most {
		return 0, v, false
	}
	return number(v[:digits]), v[digits:], true
}

// cutFraction parses a decimal point or comma and digits. Without them, the fraction is empty. ok
// is false if there are no digits after the point.
func cutFraction(v []byte) (fraction, rest []byte, ok bool) {
	if len(v) == 0 || v[0] != '.' && v[0] != ',' {
		return nil, v, true
	}
	n := digitCount(v[1:])
	return v[1 : 1+n], v[1+n:], n > 0
}

// maxDurationBytes bounds the length of a written duration, because computing with many digits
// takes long. A sum of durations has at most twice MaxDigits.
const maxDurationBytes = 4 * MaxDigits

// appendDuration appends the canonical form of a duration: its seconds in plain decimal notation
// without zeros at the end of the fraction. The notations are those of a clock (25:10:00, 1:20,
// 1:20:30.5, 1 day 2:03:04), with units (1h 20m, 90 min) and of ISO 8601 without years and months
// (PT1H20M, P1DT2H).
func appendDuration(dst []byte, format string, v []byte) (_ []byte, ok bool) {
	if len(v) > maxDurationBytes {
		return dst, false
	}
	v, minus := cutSign(v)
	if len(v) == 0 {
		return dst, false
	}
	var s secondsSum
	if v[0] == 'P' {
		ok = s.addISO(v[1:])
	} else {
		ok = s.addUnits(v, format)
	}
	if !ok {
		return dst, false
	}
	return s.append(dst, minus), true
}

// secondsSum is a sum of seconds: units * 10^-places.
type secondsSum struct {
	small  uint64   // units, if large is nil
	large  *big.Int // units, if they do not fit
	places int
	added  bool // has a part
}

// maxSmallDigits is the number of digits of parts that are added without big numbers: they fit also
// in units of 604,800 seconds, and the sum of all parts does.
const maxSmallDigits = 12

// add adds a number of units of some seconds, divided by 10^shift. No part is added after one with
// a fraction or a shift.
func (s *secondsSum) add(whole, fraction []byte, unit uint64, shift int) {
	s.added = true
	scale := len(fraction) + shift
	s.places += scale
	if len(whole)+scale <= maxSmallDigits && s.large == nil && s.small < 1<<60/powersOfTen[scale] {
		part := uint64(number(whole))*powersOfTen[len(fraction)] + uint64(number(fraction))
		s.small = s.small*powersOfTen[scale] + part*unit
		return
	}
	if s.large == nil {
		s.large = new(big.Int).SetUint64(s.small)
	}
	s.large.Mul(s.large, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
	part, _ := new(big.Int).SetString(string(whole)+string(fraction), 10) // digits
	s.large.Add(s.large, part.Mul(part, new(big.Int).SetUint64(unit)))
}

var powersOfTen = [maxSmallDigits + 1]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12}

// append appends the sum in plain decimal notation.
func (s *secondsSum) append(dst []byte, minus bool) []byte {
	var buf [32]byte
	digits := strconv.AppendUint(buf[:0], s.small, 10)
	if s.large != nil {
		digits = s.large.Append(digits[:0], 10)
	}
	point := len(digits) - s.places
	whole, fraction := digits[:max(point, 0)], digits[max(point, 0):]
	start := len(dst)
	if minus {
		dst = append(dst, '-')
	}
	if len(whole) == 0 {
		whole = zeros[:1]
	}
	dst = append(dst, whole...)
	fraction = bytes.TrimRight(fraction, "0")
	if len(fraction) > 0 {
		dst = append(append(append(dst, '.'), bytes.Repeat(zeros[:1], max(-point, 0))...), fraction...)
	}
	if string(dst[start:]) == "-0" {
		return append(dst[:start], '0')
	}
	return dst
}

const (
	secondsPerMinute = 60
	secondsPerHour   = 60 * secondsPerMinute
	secondsPerDay    = 24 * secondsPerHour
	secondsPerWeek   = 7 * secondsPerDay
)

// addISO adds a duration of ISO 8601 without its sign and P.
func (s *secondsSum) addISO(v []byte) bool {
	units, isTime := "WD", false
	for ok := true; len(v) > 0; {
		if v[0] == 'T' {
			if isTime || len(v) == 1 {
				return false
			}
			units, isTime, v = "HMS", true, v[1:]
		}
		var whole, fraction []byte
		whole, fraction, v, ok = cutAmount(v)
		if !ok || len(v) == 0 {
			return false
		}
		i := strings.IndexByte(units, v[0])
		if i < 0 || len(fraction) > 0 && len(v) > 1 {
			return false
		}
		s.add(whole, fraction, map[byte]uint64{
			'W': secondsPerWeek, 'D': secondsPerDay, 'H': secondsPerHour, 'M': secondsPerMinute, 'S': 1,
		}[v[0]], 0)
		units, v = units[i+1:], v[1:]
	}
	return s.added
}

// cutAmount parses digits and an optional fraction.
func cutAmount(v []byte) (whole, fraction, rest []byte, ok bool) {
	n := digitCount(v)
	fraction, rest, ok = cutFraction(v[n:])
	return v[:n], fraction, rest, ok && n > 0
}

// durationUnits are the words for units, the longest unit first.
var durationUnits = [...]struct {
	words   string // each between blanks
	seconds uint64
	shift   int // the unit is the seconds divided by 10^shift
}{
	{" w week weeks ", secondsPerWeek, 0},
	{" d day days ", secondsPerDay, 0},
	{" h hr hrs hour hours ", secondsPerHour, 0},
	{" m min mins minute minutes ", secondsPerMinute, 0},
	{" s sec secs second seconds ", 1, 0},
	{" ms msec millisecond milliseconds ", 1, 3},
}

// durationUnit returns the position of a unit among durationUnits, or -1.
func durationUnit(word []byte) int {
	if len(word) == 0 || len(word) > len("milliseconds") {
		return -1
	}
	for i, u := range durationUnits {
		if strings.Contains(u.words, " "+strings.ToLower(string(word))+" ") {
			return i
		}
	}
	return -1
}

// addUnits adds amounts with units, the longest unit first, and a clock that stands alone or after
// days. A comma may follow a unit.
func (s *secondsSum) addUnits(v []byte, format string) bool {
	for next := 0; len(v) > 0; {
		const hours = 2
		if n := digitCount(v); next <= hours && n < len(v) && v[n] == ':' {
			return s.addClock(v, format)
		}
		whole, fraction, rest, ok := cutAmount(v)
		rest = bytes.TrimLeft(rest, " ")
		letters := 0
		for letters < len(rest) && rest[letters]|0x20 >= 'a' && rest[letters]|0x20 <= 'z' {
			letters++
		}
		unit := durationUnit(rest[:letters])
		if !ok || unit < next {
			return false
		}
		rest = rest[letters:]
		if len(fraction) > 0 && len(rest) > 0 {
			return false
		}
		s.add(whole, fraction, durationUnits[unit].seconds, durationUnits[unit].shift)
		if after, ok := bytes.CutPrefix(rest, []byte{','}); ok && len(after) > 0 {
			rest = after
		}
		v, next = bytes.TrimLeft(rest, " "), unit+1
	}
	return s.added
}

// addClock adds H:MM:SS with an optional fraction, H:MM, or M:SS if that is the format. Hours, and
// minutes of M:SS, have any number of digits.
func (s *secondsSum) addClock(v []byte, format string) bool {
	n := digitCount(v)
	first := v[:n]
	second, v, ok := cutDigits(v[n+1:], 2, 2)
	if n == 0 || !ok || second > 59 {
		return false
	}
	seconds := [2]byte{'0', '0'}
	hasSeconds := len(v) > 0 && v[0] == ':'
	if hasSeconds {
		third, rest, ok := cutDigits(v[1:], 2, 2)
		if !ok || third > 59 {
			return false
		}
		s.add(first, nil, secondsPerHour, 0)
		s.add(appendPair(nil, second), nil, secondsPerMinute, 0)
		appendPair(seconds[:0], third)
		v = rest
	} else if format == MinutesSeconds {
		s.add(first, nil, secondsPerMinute, 0)
		appendPair(seconds[:0], second)
		hasSeconds = true
	} else {
		s.add(first, nil, secondsPerHour, 0)
		s.add(appendPair(nil, second), nil, secondsPerMinute, 0)
	}
	fraction, v, ok := cutFraction(v)
	if !ok || len(v) > 0 || len(fraction) > 0 && !hasSeconds {
		return false
	}
	s.add(seconds[:], fraction, 1, 0)
	return true
}

// formatDuration returns a duration in canonical form as H:MM:SS[.fraction]. Hours have any number
// of digits.
func formatDuration(canonical string) string {
	digits, minus := strings.CutPrefix(canonical, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	hours, rest := "0", uint64(0)
	if n, err := strconv.ParseUint(whole, 10, 64); err == nil {
		hours, rest = strconv.FormatUint(n/secondsPerHour, 10), n%secondsPerHour
	} else if n, ok := new(big.Int).SetString(whole, 10); ok {
		h, m := n.QuoRem(n, big.NewInt(secondsPerHour), new(big.Int))
		hours, rest = h.String(), m.Uint64()
	}
	b := make([]byte, 0, len(hours)+len(fraction)+len("-:00:00."))
	fraction = strings.TrimRight(fraction, "0")
	if minus && (hours != "0" || rest > 0 || fraction != "") {
		b = append(b, '-')
	}
	b = appendPair(append(append(b, hours...), ':'), int(rest/secondsPerMinute))
	b = appendPair(append(b, ':'), int(rest%secondsPerMinute))
	if fraction != "" {
		b = append(append(b, '.'), fraction...)
	}
	return string(b)
}
