package xlsx

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/layout"
	"herbarium/internal/ingest/rows"
)

// sheetReader reads the rows of a sheet.
type sheetReader struct {
	*part
	title    string // of the sheet
	line     int    // number of the row read last
	last     int    // number of the last row with a value
	formulas int    // without a stored result
	row      layout.Row
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

// openSheet opens a sheet by its index.
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

// readRow returns the next row with a value, valid until the next call. The error is io.EOF after the last.
func (r *sheetReader) readRow() (layout.Row, error) {
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
		return layout.Row{}, r.err
	}
	where := fmt.Sprintf("sheet %q", r.title)
	if r.line > 0 {
		where += fmt.Sprintf(", row %d", r.line)
	}
	return layout.Row{}, rows.Damaged(r.err, where)
}

func (r *sheetReader) startRow() {
	r.line++
	if n := r.attr("r"); n != "" {
		if r.line, r.err = strconv.Atoi(n); r.err != nil {
			r.err = herb.Invalidf("invalid row number %q; save the workbook again", rows.Clip(n))
		}
	}
	r.buf, r.row = r.buf[:0], layout.Row{Line: r.line, Cells: r.row.Cells[:0], Kinds: r.row.Kinds[:0]}
	r.cell.column = -1
}

func (r *sheetReader) startCell() {
	r.cell = cell{column: r.cell.column + 1, stored: r.attr("t"), content: r.cell.content[:0]}
	if name := r.attr("r"); name != "" {
		if r.cell.column, _ = parseCell(name); r.cell.column < 0 {
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
	r.row.Cells[column], r.row.Kinds[column] = r.buf[start:len(r.buf):len(r.buf)], k
	return nil
}

// appendValue appends the value of the cell to the buffer.
func (r *sheetReader) appendValue() (k layout.Kind, err error) {
	c, raw, k := &r.cell, unescapeControls(r.cell.content), layout.Text
	if c.formula && len(raw) == 0 && c.stored != "str" {
		r.formulas++
	}
	switch {
	case c.stored == "inlineStr" || c.stored == "str" || len(raw) == 0: // some writers put inline text into <v>
		r.buf = append(r.buf, raw...)
	case c.stored == "s":
		r.buf, err = r.book.strings.appendString(r.buf, raw)
	case c.stored == "b" && (string(raw) == "1" || string(raw) == "0"):
		r.buf, k = strconv.AppendBool(r.buf, raw[0] == '1'), layout.Boolean
	case c.stored == "b" || c.stored == "e" || c.stored == "d":
		if k = layout.Other; string(raw) == "#N/A" {
			k = layout.Missing
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

// parseCell parses the name of a cell, such as BC17. The column is negative if there is none, the line 0.
func parseCell(name string) (column, line int) {
	i := 0
	for ; i < len(name) && name[i]|0x20 >= 'a' && name[i]|0x20 <= 'z'; i++ {
		if column = column*26 + int(name[i]|0x20-'a') + 1; column > 1<<20 {
			return -1, 0
		}
	}
	line, _ = strconv.Atoi(name[i:])
	return column - 1, line
}
