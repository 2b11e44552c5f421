package xlsx

import (
	"fmt"
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/layout"
	"herbarium/internal/ingest/rows"
)

// sheetReader reads the rows of a sheet.
type sheetReader struct {
	book     *book
	sheet    sheet
	part     *part
	line     int // number of the row read last
	last     int // number of the last row with a value
	formulas int // without a stored result
	row      layout.Row
	size     int // bytes of its cells
	content  content
	buf      []byte // values of the row that are not shared strings
}

func (k *book) openSheet(s sheet) (*sheetReader, error) {
	p, err := k.open(s.part, maxSheet)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, herb.Invalidf("the workbook has no part %s; save it again", rows.Clip(s.part))
	}
	return &sheetReader{book: k, sheet: s, part: p}, nil
}

// position locates the row read last.
func (r *sheetReader) position() string { return fmt.Sprintf("sheet %q, row %d", r.sheet.name, r.line) }

// next returns the next row with a value, valid until the next call. The error is io.EOF after the last.
func (r *sheetReader) next() (layout.Row, error) {
	for {
		if err := r.part.next(); err != nil {
			return layout.Row{}, err
		}
		if r.part.kind != tokenStart || r.part.depth != 3 || r.part.name != "row" {
			continue // a row of cells is worksheet/sheetData/row; anchors of controls have rows too
		}
		r.line++
		if n := r.part.attr("r"); n != "" {
			line, err := strconv.Atoi(n)
			if err != nil {
				return layout.Row{}, herb.Invalidf("sheet %q: invalid row number %q; save the workbook again", r.sheet.name, rows.Clip(n))
			}
			r.line = line
		}
		if err := r.readCells(); err != nil {
			return layout.Row{}, err
		}
		if len(r.row.Cells) > 0 {
			r.row.Gap, r.last = r.last > 0 && r.line > r.last+1, r.line
			return r.row, nil
		}
	}
}

// readCells reads the cells of a row.
func (r *sheetReader) readCells() error {
	r.buf, r.size, r.row = r.buf[:0], 0, layout.Row{Line: r.line, Cells: r.row.Cells[:0], Kinds: r.row.Kinds[:0]}
	column := -1
	for depth := r.part.depth; r.part.depth >= depth; {
		if err := r.part.next(); err != nil {
			return err
		}
		if r.part.kind != tokenStart || r.part.name != "c" {
			continue
		}
		column++
		if name := r.part.attr("r"); name != "" {
			if column = columnOf(name); column < 0 {
				return herb.Invalidf("%s: invalid cell %q; save the workbook again", r.position(), rows.Clip(name))
			}
		}
		value, k, err := r.readCell()
		if err == nil {
			err = r.setCell(column, value, k)
		}
		if err != nil {
			return r.locate(err)
		}
	}
	return nil
}

// locate adds the position to an error about the file.
func (r *sheetReader) locate(err error) error {
	if herb.CodeOf(err) != herb.CodeInvalid {
		return err
	}
	return rows.Damaged(err, r.position())
}

func (r *sheetReader) setCell(column int, value []byte, k layout.Kind) error {
	if len(value) == 0 {
		return nil
	}
	if err := r.book.budget.Columns(column + 1); err != nil {
		return err
	}
	r.size += len(value)
	if err := r.book.budget.Record(r.size); err != nil {
		return err
	}
	for len(r.row.Cells) <= column {
		r.row.Cells, r.row.Kinds = append(r.row.Cells, nil), append(r.row.Kinds, 0)
	}
	if r.row.Kinds[column] != 0 {
		return herb.Invalidf("the cell %s occurs twice; save the workbook again", cellName(column, r.line))
	}
	r.row.Cells[column], r.row.Kinds[column] = value, k
	return nil
}

// readCell reads a cell. Its value is valid until the next row.
func (r *sheetReader) readCell() ([]byte, layout.Kind, error) {
	stored, s := r.part.attr("t"), style{}
	if i, err := strconv.Atoi(r.part.attr("s")); err == nil && i >= 0 && i < len(r.book.styles) {
		s = r.book.styles[i]
	}
	if err := r.content.read(r.part); err != nil {
		return nil, 0, err
	}
	raw, start, k := r.content.value, len(r.buf), layout.Text
	if r.content.formula && len(raw) == 0 && stored != "str" {
		r.formulas++
	}
	switch {
	case stored == "inlineStr" || stored == "str" || len(raw) == 0:
		// Some writers put inline text into <v>, or leave out the type.
		if r.buf = append(r.buf, r.content.text...); len(r.buf) == start {
			r.buf = append(r.buf, raw...)
		}
	case stored == "s":
		text, err := r.book.strings.get(raw)
		if err != nil || r.book.strings.file == nil {
			return text, layout.Text, err // cells share the memory of the table
		}
		r.buf = append(r.buf, text...)
	case stored == "b" && (string(raw) == "1" || string(raw) == "0"):
		r.buf, k = strconv.AppendBool(r.buf, raw[0] == '1'), layout.Boolean
	case stored == "b" || stored == "e" || stored == "d":
		if k = layout.Other; string(raw) == "#N/A" {
			k = layout.Missing
		}
		r.buf = append(r.buf, raw...)
	default:
		r.buf, k = s.appendNumber(r.buf, raw, r.book.date1904)
	}
	return r.buf[start:len(r.buf):len(r.buf)], k, nil
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

// columnOf parses the letters of a cell such as BC17, from 0. It is negative if there are none.
func columnOf(cell string) int {
	n := 0
	for i := 0; i < len(cell); i++ {
		c := cell[i] &^ 0x20
		if c < 'A' || c > 'Z' {
			break
		}
		if n = n*26 + int(c-'A') + 1; n > 1<<20 {
			return -1
		}
	}
	return n - 1
}
