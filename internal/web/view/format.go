package view

import (
	"strings"
	"time"
	"unicode"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Day formats the date of a time.
func Day(t time.Time) string { return formatTime(t, "2 January 2006", "–") }

// ShortDay formats the date of a time with an abbreviated month.
func ShortDay(t time.Time) string { return formatTime(t, "2 Jan 2006", "–") }

// Moment formats a time to the minute.
func Moment(t time.Time) string { return formatTime(t, "2 January 2006, 15:04 UTC", "–") }

// Timestamp formats a time for machines; the zero time is empty.
func Timestamp(t time.Time) string { return formatTime(t, time.RFC3339, "") }

func formatTime(t time.Time, layout, none string) string {
	if t.IsZero() {
		return none
	}
	return t.UTC().Format(layout)
}

// Plural formats a number with its noun.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return herb.Count(n) + " " + many
}

// PlainText returns text for places without markup, such as a window title: on one line, without control characters and
// without characters that change the direction of the surrounding text.
func PlainText(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)), " ")
}

// Number groups the digits of a decimal number. Numbers of up to four digits, such as years, are not grouped.
func Number(s string) string {
	whole, _, _ := strings.Cut(s, ".")
	digits := strings.TrimLeft(whole, "+-")
	if len(digits) < 5 || len(whole)-len(digits) > 1 || strings.Trim(digits, "0123456789") != "" {
		return s
	}
	return herb.GroupDigits(whole) + s[len(whole):]
}

// Time formats a date or datetime of a field, for machines and for display. Anything else is displayed unchanged, and
// machine is empty.
func Time(f *herb.Field, s string) (machine, display string) {
	canonical, status := text.Operand(f, s)
	if status != text.Valid {
		return "", s
	}
	if t, err := time.Parse(time.DateOnly, canonical); err == nil {
		return canonical, t.Format("2 Jan 2006")
	}
	t, err := time.Parse(text.DateTimeLayout, canonical)
	if err != nil {
		return "", s
	}
	layout := "2 Jan 2006, 15:04"
	if t.Second() != 0 || t.Nanosecond() != 0 {
		layout = "2 Jan 2006, 15:04:05.999999999"
	}
	if _, zoned, _ := text.ScanDateTime([]byte(s)); zoned {
		layout += " UTC"
	}
	return t.Format(time.RFC3339Nano), t.Format(layout)
}
