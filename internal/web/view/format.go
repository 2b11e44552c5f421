package view

import (
	"strings"
	"time"
	"unicode"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Day formats the date of a time.
func Day(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2 January 2006")
}

// Moment formats a time to the minute.
func Moment(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2 January 2006, 15:04 UTC")
}

// Timestamp formats a time for machines; the zero time is empty.
func Timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
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
	sign, digits := "", s
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		sign, digits = s[:1], s[1:]
	}
	whole, _, _ := strings.Cut(digits, ".")
	if len(whole) < 5 || strings.Trim(whole, "0123456789") != "" {
		return s
	}
	grouped := whole
	for i := len(whole) - 3; i > 0; i -= 3 {
		grouped = grouped[:i] + "," + grouped[i:]
	}
	return sign + grouped + digits[len(whole):]
}

// Time formats a date or datetime of a field, for machines and for display. Anything else is displayed unchanged, and
// machine is empty.
func Time(f *herb.Field, s string) (machine, display string) {
	canonical, status := text.Operand(f, s)
	if status != text.Valid {
		return "", s
	}
	if f.Type == herb.TypeDate {
		t, err := time.Parse(time.DateOnly, canonical)
		if err != nil {
			return "", s
		}
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
