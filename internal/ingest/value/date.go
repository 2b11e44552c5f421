package value

import (
	"bytes"
	"strings"

	"herbarium/internal/text"
)

// dateFormat is a notation of dates that is inferred beside ISO 8601.
type dateFormat struct {
	Long  string // with four digits of the year
	Short string // with two digits of the year; empty: not inferred
}

// dateFormats returns the notations of dates that are inferred, alone or before a time of day. An
// array needs no allocation for each value.
func dateFormats() [15]dateFormat {
	return [...]dateFormat{
		{"%d/%m/%Y", "%d/%m/%y"}, {"%m/%d/%Y", "%m/%d/%y"}, {"%d.%m.%Y", "%d.%m.%y"}, {"%m.%d.%Y", "%m.%d.%y"},
		{"%d-%b-%Y", "%d-%b-%y"}, {"%d-%m-%Y", ""}, {"%m-%d-%Y", ""}, {"%Y/%m/%d", ""}, {"%Y.%m.%d", ""},
		{"%Y.%m.%d.", ""}, {"%Y. %m. %d.", ""}, {"%Y-%m-%d", ""},
		{"%d %b %Y", "%d %b %y"}, {"%b %d, %Y", ""}, {"%b %d %Y", ""},
	}
}

// IsShort reports whether a date has two digits of the year. Without leading zeros, 1.2.24 is a
// version rather than a date.
func (f dateFormat) IsShort(date []byte) bool {
	return f.Short != "" && text.MatchesDateFormat(f.Short, date) &&
		(len(date) == len("31.12.24") || !strings.HasSuffix(f.Short, ".%y"))
}

// compactFormat returns the notation of a datetime without separators in its date and its time of
// day, or "" if v is not such a datetime.
func compactFormat(v []byte) string {
	if len(v) != len("20060102T150405") {
		return ""
	}
	for _, format := range [...]string{"%Y%m%dT%H%M%S", "%Y%m%d %H%M%S"} {
		if text.MatchesDateFormat(format, v) {
			return format
		}
	}
	return ""
}

// Lengths of the shortest and the longest value that is a date or a datetime.
const (
	minTime = len("1/1/24")
	maxTime = len("Wednesday, September 30, 2020, 10:00:00.000000000 PM +00:00")
)

// periodFormat returns the notation of a month, a quarter or a week of a year, or "" if v is none.
// Its numbers have all their digits: 2024-1 may be anything.
func periodFormat(v []byte) string {
	if len(v) < len("Jan-24") || len(v) > len("September 2024") {
		return ""
	}
	for _, format := range [...]string{
		"%Y-%m", "%m/%Y", "%YM%m", "%YQ%q", "%Y-Q%q", "%Y Q%q", "%G-W%V", "%Y %b", "Q%q %Y", "Q%q-%Y", "%b %Y", "%b-%y",
		"%b-%Y", "%b. %Y",
	} {
		isLetter, hasNames := format[0] == 'Q' || format[1] == 'b', strings.Contains(format, "%b")
		if isLetter != isDigit(v[0]) && (hasNames || isDigit(v[len(v)-1])) && text.MatchesDateFormat(format, v) {
			isPadded := !strings.Contains(format, "%m") || len(v) == len("2024-01")
			if isPadded {
				return format
			}
		}
	}
	return ""
}

// digitFormats returns the notations of dates that are digits only. A date of the 20th and 21st
// century with the year first is none with the year last.
func digitFormats() [3]string { return [...]string{"%Y%m%d", "%m%d%Y", "%d%m%Y"} }

// IsDate reports whether a value is a date, a period or a datetime in some notation.
func IsDate(v []byte) bool { return isDayOrTime(v) || periodFormat(v) != "" }

// isDayOrTime reports whether a value is a date or a datetime in some notation: one or two digits,
// or the name of a month, a separator, and so on, with a year.
func isDayOrTime(v []byte) bool {
	if text.IsDate(v) {
		return true
	}
	if len(v) < minTime || len(v) > maxTime {
		return false
	}
	if _, ok := text.ScanDateTime(v); ok || compactFormat(v) != "" {
		return true
	}
	date, _ := cutClock(text.CutWeekday(v), nil)
	set, _ := notationsOf(date)
	return set != 0
}

// cutClock splits a value into a date and the notation of the time of day after it, which begins
// with what separates them. The notation is empty if there is no time of day, or none that is
// valid. It is in buf, if that is large enough.
func cutClock(v, buf []byte) (date, notation []byte) {
	colon := bytes.IndexByte(v, ':')
	if colon < len("1/1/24 1") {
		return v, nil
	}
	hour := colon
	for isDigit(v[hour-1]) && hour > colon-2 {
		hour--
	}
	end := hour
	for hour-end < 2 && (v[end-1] == ' ' || v[end-1] == ',' || v[end-1] == 'T' && hour == end) {
		end--
	}
	if end == hour || hour == colon {
		return v, nil
	}
	notation, ok := text.AppendClockFormat(append(buf[:0], v[end:hour]...), v[hour:])
	if !ok {
		return v, nil
	}
	return v[:end], notation
}

// isSeveralNumbers reports whether a value is at least three numbers, as most dates, times of day
// and addresses of networks are.
func isSeveralNumbers(v []byte) bool {
	const separators = "-/:. T"
	isSeparator := func(r rune) bool { return strings.ContainsRune(separators, r) }
	return len(bytes.Trim(v, "0123456789Z+"+separators)) == 0 && len(bytes.FieldsFunc(v, isSeparator)) >= 3
}
