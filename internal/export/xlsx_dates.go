package export

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Styles of cells, by their index in stylesPart. A cell with a date is a number of days; only its
// style says that it is a date.
const (
	styleDate = iota + 1
	styleDateTime
	styleMillis
)

// stylesPart returns the formats of dates: ISO 8601 in any language, with a blank instead of T.
func stylesPart() string {
	const date, clock = `yyyy\-mm\-dd`, `\ hh:mm:ss`
	var formats, cells bytes.Buffer
	for i, code := range []string{date, date + clock, date + clock + ".000"} {
		const firstCustom = 164
		fmt.Fprintf(&formats, `<numFmt numFmtId="%d" formatCode="%s"/>`, firstCustom+i, code)
		fmt.Fprintf(&cells, `<xf numFmtId="%d" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`, firstCustom+i)
	}
	return `<styleSheet xmlns="` + mainSchema + `"><numFmts count="3">` + formats.String() + `</numFmts>` +
		`<fonts count="1"><font/></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
		`<borders count="1"><border/></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
		`<cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>` + cells.String() + `</cellXfs>` +
		`<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`
}

// columnsElement returns the widths of the columns with dates, which would be shown as ### in the
// default width; empty if there are none.
func columnsElement(fields []herb.Field) string {
	var b bytes.Buffer
	for i, f := range fields {
		width := map[herb.Type]int{herb.TypeDate: 11, herb.TypeDateTime: 24}[f.Type]
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
// round; and with a zone other than UTC, because cells have none.
func sheetDate(f *herb.Field, value []byte) (serial string, style int, ok bool) {
	if f.Type != herb.TypeDate && f.Type != herb.TypeDateTime {
		return "", 0, false
	}
	t, offset, ok := text.Time(f, value)
	if first := time.Date(1900, time.March, 1, 0, 0, 0, 0, time.UTC); !ok || offset != 0 || t.Before(first) || t.Nanosecond()%int(time.Millisecond) != 0 {
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
