package web

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// day writes a day for people.
func day(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2 January 2006")
}

// moment writes a time for people.
func moment(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2 January 2006, 15:04 UTC")
}

// machineTime writes a time for the datetime attribute.
func machineTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// plural writes a number with its noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return herb.Count(n) + " " + many
}

// plainText makes text fit for places that know no markup, such as the title of a window: without anything that
// would turn the text around it, and on one line.
func plainText(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200E, r == 0x200F, r == 0x061C:
			return -1
		}
		return r
	}, s)), " ")
}

// clip shortens text to some characters.
func clip(s string, most int) string {
	if shorter := cut(s, most); len(shorter) < len(s) {
		return strings.TrimRight(shorter, " ") + "…"
	}
	return s
}

// cut returns the first characters of a text.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i]
		}
	}
	return s
}

// appendClipped appends text, escaped and shortened to some characters.
func appendClipped(b []byte, s string, most int) []byte {
	if shorter := cut(s, most); len(shorter) < len(s) {
		return append(appendEscaped(b, strings.TrimRight(shorter, " ")), "…"...)
	}
	return appendEscaped(b, s)
}

// humanNumber groups the digits of a number in plain decimal notation from five digits on. Up to four, as in a year,
// people read them as they are.
func humanNumber(s string) string {
	sign, digits := "", s
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		sign, digits = s[:1], s[1:]
	}
	whole, _, _ := strings.Cut(digits, ".")
	if len(whole) < 5 || strings.Trim(whole, "0123456789") != "" {
		return s
	}
	var b strings.Builder
	b.WriteString(sign)
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(whole[i])
	}
	b.WriteString(s[len(sign)+len(whole):])
	return b.String()
}

// humanDate writes a date of a dataset for people; what is none stays as it is.
func humanDate(s string) string {
	month, ok := monthOf(s)
	if !ok {
		return s
	}
	return strings.TrimPrefix(s[8:], "0") + " " + month + " " + s[:4]
}

// appendDate appends a date for people, escaped.
func appendDate(b []byte, s string) []byte {
	month, ok := monthOf(s)
	if !ok {
		return appendEscaped(b, s)
	}
	b = append(appendEscaped(b, strings.TrimPrefix(s[8:], "0")), ' ')
	return appendEscaped(append(append(b, month...), ' '), s[:4])
}

// monthOf returns the name of the month of a date; ok is false if it is none.
func monthOf(s string) (name string, ok bool) {
	if len(s) != len(time.DateOnly) || s[4] != '-' || s[7] != '-' || s[5] > '1' {
		return "", false
	}
	month := int(s[5]-'0')*10 + int(s[6]-'0')
	if month < 1 || month > 12 {
		return "", false
	}
	return time.Month(month).String()[:3], true
}

// appendEscaped appends text to HTML, in an element or in a quoted attribute. A carriage return is written as a reference,
// because a browser would turn it into a line feed; a null, which HTML cannot say, as the mark of what cannot be shown.
func appendEscaped(b []byte, s string) []byte {
	from := 0
	for i := plainPrefix(s); i < len(s); i++ {
		if with := escapes[s[i]]; with != "" {
			b = append(append(b, s[from:i]...), with...)
			from = i + 1
		}
	}
	return append(b, s[from:]...)
}

func escaped(s string) string { return string(appendEscaped(nil, s)) }

// escapes says what stands for a byte in HTML; empty: the byte itself.
var escapes = [256]string{
	'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&#34;", '\'': "&#39;", '\r': "&#13;", 0: string(utf8.RuneError),
}

// plainPrefix returns how many bytes at the start of a text are sure to need no escape. It looks at eight of them at once, of
// which each is a digit of a number: one that is zero borrows from its highest bit when one is subtracted from all.
func plainPrefix(s string) int {
	const ones, highest = 0x0101010101010101, 0x8080808080808080
	zero := func(x uint64) uint64 { return (x - ones) & ^x }
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		found := (x-' '*ones)&^x | // control characters, of which two are escaped
			zero(x^'"'*ones) | zero((x|1*ones)^'\''*ones) | zero((x|2*ones)^'>'*ones) // & and ', < and > differ in one bit
		if found&highest != 0 {
			break
		}
	}
	return i
}
