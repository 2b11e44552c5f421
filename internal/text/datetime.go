package text

import (
	"bytes"
	"time"

	"herbarium/internal/herb"
)

// CanonicalDateTime is the canonical form of datetimes for package time. Such values sort
// as bytes.
const CanonicalDateTime = "2006-01-02T15:04:05.000000000Z"

// moment is a point in time as written.
type moment struct {
	year, month, day           int
	hour, minute, second, nano int
	offset                     int  // of the zone, in minutes east of UTC
	clock                      bool // has a time of day
	zoned                      bool // has a zone
}

// date returns the start of the day. It is another day if the date is not valid.
func (m *moment) date() time.Time {
	return time.Date(m.year, time.Month(m.month), m.day, 0, 0, 0, 0, time.UTC)
}

func (m *moment) isValid() bool {
	_, month, day := m.date().Date()
	return int(month) == m.month && day == m.day && m.hour < 24 && m.minute < 60 && m.second < 60
}

// utc returns the instant.
func (m *moment) utc() time.Time {
	return time.Date(m.year, time.Month(m.month), m.day, m.hour, m.minute-m.offset, m.second, m.nano, time.UTC)
}

// appendUTC appends the canonical form. ok is false if the year is not in the range 0000 to 9999 in
// UTC.
func (m *moment) appendUTC(dst []byte) (_ []byte, ok bool) {
	t := m.utc()
	if t.Year() < 0 || t.Year() > 9999 {
		return dst, false
	}
	return t.AppendFormat(dst, CanonicalDateTime), true
}

// dateTimePrefix returns the beginning of the canonical forms of the datetimes whose text in ISO
// 8601 begins with s. A text that ends in a zone is complete: it is one instant, in any zone and
// with any number of digits. Any other text is the beginning of a datetime in UTC.
func dateTimePrefix(s string) string {
	if m, ok := parseISO([]byte(s)); ok && m.zoned {
		if canonical, ok := m.appendUTC(nil); ok {
			return string(canonical)
		}
	}
	b := []byte(s)
	if day := len(time.DateOnly); len(b) > day && (b[day] == ' ' || b[day] == 't') {
		b[day] = 'T'
	}
	if second := len("2006-01-02T15:04:05"); len(b) > second && b[second] == ',' {
		b[second] = '.'
	}
	return string(b)
}

// StartOfDay returns the canonical form of the datetime at the start of a day.
func StartOfDay(day string) string { return day + "T00:00:00.000000000Z" }

// Time parses a date or datetime as written in the notation of its field. t has the day and the
// time of day as written, in UTC; offset is that of the written zone in minutes east of UTC, and 0
// without a zone. ok is false if the value is missing or not valid.
func Time(f *herb.Field, value []byte) (t time.Time, offset int, ok bool) {
	if MissingPosition(f, value) >= 0 {
		return t, 0, false
	}
	m, ok := parseMoment(f.Notation.DateFormat, TrimBlanks(value))
	t = m.date().Add(time.Duration(m.hour)*time.Hour + time.Duration(m.minute)*time.Minute +
		time.Duration(m.second)*time.Second + time.Duration(m.nano))
	return t, m.offset, ok && (f.Type == herb.TypeDateTime || !m.clock)
}

// ScanDateTime reports whether v is a date or datetime in standard notation: YYYY-MM-DD, optionally
// followed by T or a blank and hh:mm[:ss[.fraction]], optionally followed by a zone, and whether it
// has one.
func ScanDateTime(v []byte) (zoned, ok bool) {
	m, ok := parseISO(v)
	return m.zoned, ok
}

// ParseDateTime parses a datetime as written in the notation of its field, and reports whether it
// has a zone. A datetime without one is in UTC. ok is false if the value is missing or invalid.
func ParseDateTime[T string | []byte](f *herb.Field, value T) (t time.Time, zoned, ok bool) {
	if MissingPosition(f, value) >= 0 {
		return t, false, false
	}
	m, ok := parseMoment(f.Notation.DateFormat, TrimBlanks([]byte(value)))
	return m.utc(), m.zoned, ok
}

// parseMoment parses a date or datetime. An empty format is the standard notation.
func parseMoment(format string, v []byte) (moment, bool) {
	if format == "" {
		return parseISO(v)
	}
	return parseDateFormat(format, v)
}

func parseISO(v []byte) (m moment, ok bool) {
	const day = len("2006-01-02")
	if len(v) < day || v[4] != '-' || v[7] != '-' || !isDigits(v[:4]) || !isDigits(v[5:7]) || !isDigits(v[8:day]) {
		return m, false
	}
	m.year, m.month, m.day = number(v[:4]), number(v[5:7]), number(v[8:day])
	if len(v) == day {
		return m, m.isValid()
	}
	if v[day] != 'T' && v[day] != ' ' && v[day] != 't' {
		return m, false
	}
	v, ok = m.cutClock(v[day+1:])
	if !ok {
		return m, false
	}
	if len(v) > 0 && !m.setZone(v) {
		return m, false
	}
	return m, m.isValid()
}

// cutClock parses hh:mm[:ss[.fraction]] at the start of v.
func (m *moment) cutClock(v []byte) (rest []byte, ok bool) {
	if len(v) < len("15:04") || v[2] != ':' || !isDigits(v[:2]) || !isDigits(v[3:5]) {
		return v, false
	}
	m.clock, m.hour, m.minute = true, number(v[:2]), number(v[3:5])
	v = v[5:]
	if len(v) == 0 || v[0] != ':' {
		return v, true
	}
	if len(v) < len(":05") || !isDigits(v[1:3]) {
		return v, false
	}
	m.second = number(v[1:3])
	v = v[3:]
	if len(v) == 0 || v[0] != '.' && v[0] != ',' {
		return v, true
	}
	n := digitCount(v[1:])
	return v[1+n:], m.setFraction(v[1 : 1+n])
}

// setFraction sets the fraction of a second, which has at most nine digits.
func (m *moment) setFraction(v []byte) bool {
	if len(v) == 0 || len(v) > 9 {
		return false
	}
	m.nano = number(v)
	for range 9 - len(v) {
		m.nano *= 10
	}
	return true
}

// setZone parses Z, UTC, GMT, ±hh, ±hhmm or ±hh:mm, optionally after a blank.
func (m *moment) setZone(v []byte) bool {
	m.zoned = true
	v = bytes.TrimPrefix(v, []byte{' '})
	switch string(v) {
	case "Z", "z", "UTC", "GMT":
		return true
	}
	if len(v) < len("+00") || v[0] != '+' && v[0] != '-' || !isDigits(v[1:3]) {
		return false
	}
	minutes := bytes.TrimPrefix(v[3:], []byte{':'})
	if len(v) > 3 && (len(minutes) != 2 || !isDigits(minutes)) {
		return false
	}
	m.offset = 60*number(v[1:3]) + number(minutes)
	ok := number(minutes) < 60 && m.offset <= 24*60
	if v[0] == '-' {
		m.offset = -m.offset
	}
	return ok
}

// number parses a few digits that have been validated.
func number(v []byte) int {
	n := 0
	for _, c := range v {
		n = 10*n + int(c-'0')
	}
	return n
}

// digitCount returns the number of digits at the start of v.
func digitCount(v []byte) int {
	for i, c := range v {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(v)
}
