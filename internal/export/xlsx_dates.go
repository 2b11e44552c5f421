package export

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Styles of cells, by their index in stylesPart. A cell with a date, a time of day or a duration is
// a number of days; only its style says what it is.
const (
	styleDate = iota + 1
	styleDateTime
	styleMillis
	styleTime
	styleTimeMillis
	styleDuration
	styleDurationMillis
)

// stylesPart returns the formats of dates: ISO 8601 in any language, with a blank instead of T.
// Hours in brackets may exceed 24.
func stylesPart() string {
	const date, clock, elapsed, millis = `yyyy\-mm\-dd`, `hh:mm:ss`, `[h]:mm:ss`, ".000"
	const dateTime = date + `\ ` + clock
	var formats, cells bytes.Buffer
	codes := []string{date, dateTime, dateTime + millis, clock, clock + millis, elapsed, elapsed + millis}
	for i, code := range codes {
		const firstCustom = 164
		fmt.Fprintf(&formats, `<numFmt numFmtId="%d" formatCode="%s"/>`, firstCustom+i, code)
		fmt.Fprintf(&cells, `<xf numFmtId="%d" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`,
			firstCustom+i)
	}
	return `<styleSheet xmlns="` + mainSchema + `"><numFmts count="` + strconv.Itoa(len(codes)) + `">` +
		formats.String() + `</numFmts>` +
		`<fonts count="1"><font/></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
		`<borders count="1"><border/></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
		`<cellXfs count="` + strconv.Itoa(1+len(codes)) +
		`"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>` + cells.String() + `</cellXfs>` +
		`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`
}

// columnsElement returns the widths of the columns with dates, which would be shown as ### in the
// default width; empty if there are none.
func columnsElement(fields []herb.Field) string {
	var b bytes.Buffer
	for i, f := range fields {
		width := map[herb.Type]int{herb.TypeDate: 11, herb.TypeDateTime: 24, herb.TypeTime: 13,
			herb.TypeDuration: 15}[f.Type]
		if width > 0 {
			fmt.Fprintf(&b, `<col min="%d" max="%d" width="%d" customWidth="1"/>`, i+1, i+1, width)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "<cols>" + b.String() + "</cols>"
}

// sheetDate returns the number of days of a date or datetime and the style of its cell. ok is false
// if a cell cannot hold it exactly, so that it is written as text: before March 1900, where
// programs disagree about a leap day; with a fraction finer than milliseconds, to which programs
// round; with a zone other than UTC, because cells have none; and periods, which are not days.
func sheetDate(f *herb.Field, value []byte) (serial string, style int, ok bool) {
	if f.Type == herb.TypeTime || f.Type == herb.TypeDuration {
		return sheetClock(f, value)
	}
	if f.Type != herb.TypeDate && f.Type != herb.TypeDateTime || text.PrecisionOf(f) != text.PrecisionDay {
		return "", 0, false
	}
	t, offset, ok := text.Time(f, value)
	if first := time.Date(1900, time.March, 1, 0, 0, 0, 0, time.UTC); !ok || offset != 0 || t.Before(first) ||
		t.Nanosecond()%int(time.Millisecond) != 0 {
		return "", 0, false
	}
	const day = int64(24 * time.Hour / time.Millisecond)
	millis := t.UnixMilli() - time.Date(1899, time.December, 30, 0, 0, 0, 0, time.UTC).UnixMilli()
	switch style = styleDate; {
	case t.Nanosecond() > 0:
		style = styleMillis
	case f.Type == herb.TypeDateTime:
		style = styleDateTime
	}
	return strconv.FormatFloat(float64(millis/day)+float64(millis%day)/float64(day), 'f', -1, 64), style, true
}

// sheetClock returns the number of days of a time of day or a duration and the style of its cell.
// ok is false if a cell cannot hold it exactly, so that it is written as text: negative durations,
// which programs do not show; durations from 10,000 hours, which they do not read; leap seconds,
// the end of a day, and fractions finer than milliseconds.
func sheetClock(f *herb.Field, value []byte) (serial string, style int, ok bool) {
	canonical, status := text.AppendCanonical(nil, f, value)
	if status == text.Valid && f.Type == herb.TypeTime { // its seconds
		if string(canonical) >= "23:59:60" {
			return "", 0, false
		}
		canonical, status = text.AppendCanonical(nil, &herb.Field{Type: herb.TypeDuration}, canonical)
	}
	whole, fraction, _ := strings.Cut(string(canonical), ".")
	const maxFraction, maxSeconds, day = len("999"), 10_000 * 60 * 60, 24 * 60 * 60 * 1000
	seconds, err := strconv.ParseUint(whole, 10, 63) // not negative
	if status != text.Valid || err != nil || seconds >= maxSeconds || len(fraction) > maxFraction {
		return "", 0, false
	}
	millis, _ := strconv.ParseUint((fraction + "000")[:maxFraction], 10, 63) // digits
	style = styleTime
	if f.Type == herb.TypeDuration {
		style = styleDuration
	}
	if fraction != "" {
		style++ // with milliseconds
	}
	return strconv.FormatFloat(float64(1000*seconds+millis)/day, 'f', -1, 64), style, true
}
