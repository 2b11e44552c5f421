package xlsx

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/table"
	"herbarium/internal/ingest/value"
)

// sheetReader reads the rows of a sheet.
type sheetReader struct {
	*part
	title    string // of the sheet
	line     int    // number of the row read last
	last     int    // number of the last row with a value
	formulas int    // without a stored result
	row      table.Row
	buf      []byte // values of the row
	cell     cell
}

// cell is a cell as far as it has been read.
type cell struct {
	column  int // from 0
	stored  string
	style   style
	content []byte // without phonetic hints
	formula bool
}

func (k *book) openSheet(i int) (*sheetReader, error) {
	p, err := k.open(k.sheetParts[i], maxSheet)
	switch {
	case err != nil:
		return nil, err
	case p == nil:
		return nil, herb.Invalidf("the workbook has no part %s; save it again", rows.Clip(k.sheetParts[i]))
	}
	return &sheetReader{part: p, title: k.sheets[i].Name}, nil
}

// readRow returns the next row with a value, valid until the next call. The error is io.EOF after
// the last.
func (r *sheetReader) readRow() (table.Row, error) {
	const row = "/worksheet/sheetData/row"
	for r.next() {
		switch string(r.path) {
		case row:
			r.startRow()
		case row + "/c":
			r.startCell()
		case row + "/c/f":
			r.cell.formula = true
		case row + "/c/is": // some writers leave out the type, and others write a value too
			r.cell.stored, r.cell.content = "inlineStr", r.cell.content[:0]
		case row + "/c/v/text()", row + "/c/is/t/text()", row + "/c/is/r/t/text()":
			r.cell.content = append(r.cell.content, r.text...)
			r.err = r.book.in.Budget.Record(len(r.cell.content))
		case row + "/c/end()":
			r.err = r.endCell()
		case row + "/end()":
			if len(r.row.Cells) > 0 {
				r.row.Gap, r.last = r.last > 0 && r.line > r.last+1, r.line
				return r.row, nil
			}
		}
	}
	if herb.CodeOf(r.err) != herb.CodeInvalid {
		return table.Row{}, r.err
	}
	where := fmt.Sprintf("sheet %q", r.title)
	if r.line > 0 {
		where += fmt.Sprintf(", row %d", r.line)
	}
	return table.Row{}, rows.Damaged(r.err, where)
}

func (r *sheetReader) startRow() {
	r.line++
	if n := r.attr("r"); n != "" {
		r.line, r.err = strconv.Atoi(n)
		if r.err != nil {
			r.err = herb.Invalidf("invalid row number %q; save the workbook again", rows.Clip(n))
		}
	}
	r.buf, r.row = r.buf[:0], table.Row{Line: r.line, Cells: r.row.Cells[:0], Kinds: r.row.Kinds[:0]}
	r.cell.column = -1
}

func (r *sheetReader) startCell() {
	r.cell = cell{column: r.cell.column + 1, stored: r.attr("t"), content: r.cell.content[:0]}
	if name := r.attr("r"); name != "" {
		r.cell.column, _ = parseCell(name)
		if r.cell.column < 0 {
			r.err = herb.Invalidf("invalid cell %q; save the workbook again", rows.Clip(name))
		}
	}
	if i, err := strconv.Atoi(r.attr("s")); err == nil && i >= 0 && i < len(r.book.styles) {
		r.cell.style = r.book.styles[i]
	}
}

// endCell adds the cell to the row, unless it is empty.
func (r *sheetReader) endCell() error {
	start, column := len(r.buf), r.cell.column
	k, err := r.appendValue()
	if err != nil || len(r.buf) == start {
		return err
	}
	if err := r.book.in.Budget.Columns(column + 1); err != nil {
		return err
	}
	for len(r.row.Cells) <= column {
		r.row.Cells, r.row.Kinds = append(r.row.Cells, nil), append(r.row.Kinds, 0)
	}
	if r.row.Kinds[column] != 0 {
		return herb.Invalidf("the cell %s occurs twice; save the workbook again", cellName(column, r.line))
	}
	content := r.buf[start:len(r.buf):len(r.buf)]
	if len(bytes.TrimSpace(content)) == 0 {
		k = value.Missing
	}
	r.row.Cells[column], r.row.Kinds[column] = content, k
	return nil
}

// appendValue appends the value of the cell to the buffer.
func (r *sheetReader) appendValue() (k value.Kind, err error) {
	c, raw, k := &r.cell, unescapeControls(r.cell.content), value.Text
	if c.formula && len(raw) == 0 && c.stored != "str" {
		r.formulas++
	}
	switch {
	case c.stored == "inlineStr" || c.stored == "str" || len(raw) == 0: // some writers put inline text into <v>
		r.buf = append(r.buf, raw...)
	case c.stored == "s":
		r.buf, err = r.book.strings.appendString(r.buf, raw)
	case c.stored == "b" && (string(raw) == "1" || string(raw) == "0"):
		r.buf, k = strconv.AppendBool(r.buf, raw[0] == '1'), value.Boolean
	case c.stored == "b" || c.stored == "e" || c.stored == "d":
		k = value.Other
		if value.IsMissing(raw) { // #N/A
			k = value.Missing
		}
		r.buf = append(r.buf, raw...)
	default:
		r.buf, k = c.style.appendNumber(r.buf, raw, r.book.date1904)
	}
	return k, cmp.Or(err, r.book.in.Budget.Record(len(r.buf)))
}

// cellName returns the name of a cell, such as BC17, by its column from 0 and its row from 1.
func cellName(column, line int) string {
	var letters []byte
	for n := column + 1; n > 0; n = (n - 1) / 26 {
		letters = append(letters, byte('A'+(n-1)%26))
	}
	slices.Reverse(letters)
	return string(letters) + strconv.Itoa(line)
}

// parseCell parses the name of a cell, such as BC17. The column is negative if there is none, the
// line 0.
func parseCell(name string) (column, line int) {
	i := 0
	for ; i < len(name) && name[i]|0x20 >= 'a' && name[i]|0x20 <= 'z'; i++ {
		column = column*26 + int(name[i]|0x20-'a') + 1
		if column > 1<<20 {
			return -1, 0
		}
	}
	line, _ = strconv.Atoi(name[i:])
	return column - 1, line
}

// style is the number format of a cell, as far as it determines what the number means.
type style struct {
	date, time bool // parts of a timestamp that are shown
	elapsed    bool // hours may exceed 24
	zeros      int  // digits of a zero-padded code; 0: not a code
}

// builtinStyles returns the formats that have a number instead of a code and show dates or times.
// Those from 27 to 36 and from 50 to 58 are dates in East Asia and unused elsewhere.
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

// literal matches what is no unit in a format code: quoted and escaped characters, paddings,
// colors, conditions, languages, and the sections after the first, which is that of positive
// numbers.
var literal = regexp.MustCompile(`(?s)"[^"]*"?|[\\_*].?|\[[^\]]*\]?|;.*`)

// parseStyle parses a format code, such as yyyy\-mm\-dd or "€" #,##0.00;[Red]\-0.
func parseStyle(code string) style {
	if zeros := strings.Count(code, "0"); zeros > 1 && zeros == len(code) && zeros <= 100 {
		return style{zeros: zeros}
	}
	var s style
	units := literal.ReplaceAllStringFunc(code, func(l string) string {
		if unit, ok := strings.CutPrefix(strings.TrimSuffix(l, "]"), "["); ok && unit != "" &&
			strings.Trim(unit, "hmsHMS") == "" {
			s.elapsed = true
		}
		return " "
	})
	units = strings.NewReplacer("general", " ", "am/pm", "h", "a/p", "h", "e+", " ", "e-",
		" ").Replace(strings.ToLower(units))
	s.time = s.elapsed || strings.ContainsAny(units, "hs")
	s.date = strings.ContainsAny(units, "ydegb") || strings.Contains(units, "mmm") ||
		strings.Contains(units, "m") && !s.time
	return s
}

// appendNumber appends the value of a numeric cell and returns its kind.
func (s style) appendNumber(b, raw []byte, date1904 bool) ([]byte, value.Kind) {
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
		return append(b, raw...), value.Code
	}
	return appendDecimal(b, raw)
}

func isDigits(b []byte) bool { return len(b) > 0 && len(bytes.Trim(b, "0123456789")) == 0 }

// appendTimestamp appends a number of days as a date, a timestamp or, if the format shows only
// that, a time of day or a duration. The kind is 0 if spreadsheet programs cannot show the number
// either.
func (s style) appendTimestamp(b []byte, days float64, date1904 bool) ([]byte, value.Kind) {
	const dayMillis = 24 * 60 * 60 * 1000
	if !(days >= 0 && days < 2_958_466) {
		return b, 0
	}
	millis := int64(math.Round(days * dayMillis))
	switch {
	case !s.date && s.elapsed:
		return appendMillis(b, millis), value.Duration
	case !s.date && millis < dayMillis:
		return appendMillis(b, millis), value.Time
	}
	day, clock, k := int(millis/dayMillis), millis%dayMillis, value.Date
	if s.time || clock != 0 {
		k = value.Datetime
	}
	switch epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC); {
	case date1904:
		b = rows.AppendDate(b, epoch.AddDate(4, 0, 2+day))
	case day == 60: // a date that did not exist: Lotus 1-2-3 took 1900 for a leap year, and others followed
		b, k = append(b, "1900-02-29"...), value.Other
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

func appendMillis(b []byte, millis int64) []byte {
	b = rows.AppendClock(b, millis/1000)
	if fraction := millis % 1000; fraction != 0 {
		b = fmt.Appendf(b, ".%03d", fraction)
	}
	return b
}

// appendDecimal appends a number in plain decimal notation. Its digits are those of the file, with
// two exceptions: a number with an exponent, and a fraction of 16 or 17 digits, which is the
// conversion of a binary number (1.1000000000000001). They are written with the fewest digits that
// mean the same number (1.1). Other text is appended unchanged.
func appendDecimal(b, raw []byte) ([]byte, value.Kind) {
	mantissa, _, hasExponent := strings.Cut(strings.ToLower(string(raw)), "e")
	integer, fraction, hasPoint := strings.Cut(strings.TrimLeft(mantissa, "+-"), ".")
	digits := strings.Trim(integer+fraction, "0")
	f, err := strconv.ParseFloat(string(raw), 64)
	switch {
	case err != nil || len(bytes.Trim(raw, "0123456789+-.eE")) > 0 || f == 0 && digits != "":
		// not a number, or out of range
		return append(b, raw...), value.Other
	case hasExponent || hasPoint && (len(digits) == 16 || len(digits) == 17):
		return rows.AppendFloat(b, f, 64), value.Number
	case raw[0] == '-':
		b = append(b, '-')
	}
	b = append(b, cmp.Or(integer, "0")...)
	if fraction != "" {
		b = append(append(b, '.'), fraction...)
	}
	return b, value.Number
}
