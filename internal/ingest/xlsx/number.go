package xlsx

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/ingest/layout"
	"herbarium/internal/ingest/rows"
)

// style is the number format of a cell, as far as it determines what the number means.
type style struct {
	date, time bool // parts of a timestamp that are shown
	elapsed    bool // hours may exceed 24
	zeros      int  // digits of a zero-padded code; 0: not a code
}

// builtinStyles returns the formats that have a number instead of a code and show dates or times. Those from 27 to 36 and from
// 50 to 58 are dates in East Asia and unused elsewhere.
func builtinStyles() map[int]style {
	styles := map[int]style{}
	for code, ids := range map[string][]int{
		"d":   {14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58},
		"h":   {18, 19, 20, 21, 32, 33, 45, 47},
		"d h": {22},
		"[h]": {46},
	} {
		s := parseStyle(code)
		for _, id := range ids {
			styles[id] = s
		}
	}
	return styles
}

// literal matches what is no unit in a format code: quoted and escaped characters, paddings, colors, conditions, languages,
// and the sections after the first, which is that of positive numbers.
var literal = regexp.MustCompile(`(?s)"[^"]*"?|[\\_*].?|\[[^\]]*\]?|;.*`)

// parseStyle parses a format code, such as yyyy\-mm\-dd or "€" #,##0.00;[Red]\-0.
func parseStyle(code string) style {
	if zeros := strings.Count(code, "0"); zeros > 1 && zeros == len(code) && zeros <= 100 {
		return style{zeros: zeros}
	}
	var s style
	units := literal.ReplaceAllStringFunc(code, func(l string) string {
		if unit, ok := strings.CutPrefix(strings.TrimSuffix(l, "]"), "["); ok && unit != "" && strings.Trim(unit, "hmsHMS") == "" {
			s.elapsed = true
		}
		return " "
	})
	units = strings.NewReplacer("general", " ", "am/pm", "h", "a/p", "h", "e+", " ", "e-", " ").Replace(strings.ToLower(units))
	s.time = s.elapsed || strings.ContainsAny(units, "hs")
	s.date = strings.ContainsAny(units, "ydegb") || strings.Contains(units, "mmm") || strings.Contains(units, "m") && !s.time
	return s
}

// appendNumber appends the value of a numeric cell and returns its kind.
func (s style) appendNumber(b, raw []byte, date1904 bool) ([]byte, layout.Kind) {
	raw = bytes.TrimSpace(raw)
	switch {
	case s.date || s.time:
		if f, err := strconv.ParseFloat(string(raw), 64); err == nil {
			if out, k := s.appendTimestamp(b, f, date1904); k != 0 {
				return out, k
			}
		}
	case s.zeros > 0 && isDigits(raw):
		b = append(b, strings.Repeat("0", max(s.zeros-len(raw), 0))...)
		return append(b, raw...), layout.Code
	}
	return appendDecimal(b, raw)
}

func isDigits(b []byte) bool { return len(b) > 0 && len(bytes.Trim(b, "0123456789")) == 0 }

// appendTimestamp appends a number of days as a date, a timestamp or, if the format shows only that, a time of day. The
// kind is 0 if spreadsheet programs cannot show the number either.
func (s style) appendTimestamp(b []byte, days float64, date1904 bool) ([]byte, layout.Kind) {
	const dayMillis = 24 * 60 * 60 * 1000
	if !(days >= 0 && days < 2_958_466) {
		return b, 0
	}
	millis := int64(math.Round(days * dayMillis))
	if !s.date && (s.elapsed || millis < dayMillis) {
		return appendMillis(b, millis), layout.Other
	}
	day, clock, k := int(millis/dayMillis), millis%dayMillis, layout.Date
	if s.time || clock != 0 {
		k = layout.Datetime
	}
	switch epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC); {
	case date1904:
		b = rows.AppendDate(b, epoch.AddDate(4, 0, 2+day))
	case day == 60: // a date that did not exist: Lotus 1-2-3 took 1900 for a leap year, and others followed
		b, k = append(b, "1900-02-29"...), layout.Other
	case day < 60:
		b = rows.AppendDate(b, epoch.AddDate(0, 0, 1+day))
	default:
		b = rows.AppendDate(b, epoch.AddDate(0, 0, day))
	}
	if s.time || clock != 0 {
		b = appendMillis(append(b, 'T'), clock)
	}
	return b, k
}

// appendMillis appends a time of day, with milliseconds if they are not zero.
func appendMillis(b []byte, millis int64) []byte {
	b = rows.AppendClock(b, millis/1000)
	if fraction := millis % 1000; fraction != 0 {
		b = fmt.Appendf(b, ".%03d", fraction)
	}
	return b
}

// appendDecimal appends a number in plain decimal notation. Its digits are those of the file, with two exceptions: a number
// with an exponent, and a fraction of 16 or 17 digits, which is the conversion of a binary number (1.1000000000000001). They
// are written with the fewest digits that mean the same number (1.1). Other text is appended unchanged.
func appendDecimal(b, raw []byte) ([]byte, layout.Kind) {
	mantissa, _, hasExponent := strings.Cut(strings.ToLower(string(raw)), "e")
	integer, fraction, hasPoint := strings.Cut(strings.TrimLeft(mantissa, "+-"), ".")
	digits := strings.Trim(integer+fraction, "0")
	f, err := strconv.ParseFloat(string(raw), 64)
	switch {
	case err != nil || len(bytes.Trim(raw, "0123456789+-.eE")) > 0 || f == 0 && digits != "": // not a number, or out of range
		return append(b, raw...), layout.Other
	case hasExponent || hasPoint && (len(digits) == 16 || len(digits) == 17):
		return rows.AppendFloat(b, f, 64), layout.Number
	case raw[0] == '-':
		b = append(b, '-')
	}
	if b = append(b, cmp.Or(integer, "0")...); fraction != "" {
		b = append(append(b, '.'), fraction...)
	}
	return b, layout.Number
}
