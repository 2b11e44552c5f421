package ingest

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
)

// xlsxReader reads the rows of a sheet.
type xlsxReader struct {
	book    *xlsxBook
	sheet   xlsxSheet
	part    *xlsxPart
	dialect oldDialect
	header  []string
	pending bool // the first record was read to find the header
	line    int  // number of the row read last, from 1
	ended   bool
	width   int    // of the widest record so far, at least that of an earlier pass
	named   int    // columns of the header
	beyond  string // the first cell right of the header
	empty   int    // formulas without a result

	raw   []byte // text of the cell that is being read
	text  xlsxText
	buf   []byte // the values of the row
	spans []span
	cells [][]byte
}

// newXLSXReader chooses the sheet and reads its header. width is the number of columns, if an earlier pass counted them.
func newXLSXReader(src io.ReaderAt, size int64, d oldDialect, width int) (x *xlsxReader, err error) {
	defer recoverAs(&err, "the workbook", debug.SetPanicOnFault(true))
	book, err := openBook(src, size)
	if err != nil {
		if book != nil {
			err = errors.Join(err, book.texts.Close())
		}
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, book.texts.Close())
		}
	}()
	x = &xlsxReader{book: book, dialect: d, width: width}
	return x, x.choose()
}

// choose opens the sheet that was asked for, or else the first that can be seen and holds anything.
func (x *xlsxReader) choose() error {
	sheets := x.book.sheets
	var names []string
	for _, s := range sheets {
		names = append(names, s.name)
	}
	d := x.dialect
	switch {
	case len(sheets) == 0:
		return herb.Invalidf("the workbook has no sheet with cells")
	case d.Sheet != "":
		i := slices.Index(names, d.Sheet)
		if i < 0 {
			i = slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, d.Sheet) })
		}
		if i < 0 {
			return herb.Invalidf("there is no sheet %q%s sheets: %s", clip(d.Sheet), didYouMean(d.Sheet, names), listed(names))
		}
		return x.begin(sheets[i])
	case d.SheetNumber > len(sheets) || d.SheetNumber < 0:
		return herb.Invalidf("there is no sheet number %d; sheets: %s", d.SheetNumber, listed(names))
	case d.SheetNumber > 0:
		return x.begin(sheets[d.SheetNumber-1])
	}
	var first error // why the first sheet does not do
	for _, s := range sheets {
		if s.hidden {
			continue
		}
		err := x.begin(s)
		if !errors.Is(err, errEmptySheet) {
			return err
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		return herb.Invalidf("all sheets of the workbook are hidden; name the one to publish, like file.xlsx#%s; sheets: %s",
			names[0], listed(names))
	}
	return first
}

// errEmptySheet says that a sheet has not even a header.
var errEmptySheet = errors.New("no cell has a value")

// begin opens a sheet and reads its header.
func (x *xlsxReader) begin(s xlsxSheet) error {
	part, err := x.book.open(s.part, maxSheetPart)
	if err != nil {
		return err
	}
	if part == nil {
		return herb.Invalidf("the workbook lacks its part %s; save it again", clip(s.part))
	}
	if x.part != nil {
		x.part.Close()
	}
	*x = xlsxReader{book: x.book, dialect: x.dialect, sheet: s, part: part, width: x.width}
	err = x.readHeader()
	x.named = len(x.header)
	if err == io.EOF {
		return herb.Wrap(herb.CodeInvalid, errEmptySheet, "sheet %q is empty; write the names of the columns in its first row", s.name)
	}
	return err
}

// readHeader reads up to the first record.
func (x *xlsxReader) readHeader() error {
	rows := x.dialect.HeaderRows
	if x.dialect.NoHeader {
		x.pending = true
		_, err := x.readRow()
		return err
	}
	join := x.dialect.HeaderJoin
	if join == "" {
		join = " "
	}
	for {
		cells, err := x.readRow()
		switch {
		case err != nil && (err != io.EOF || x.header == nil):
			return err
		case err == io.EOF:
			return nil
		case len(rows) > 0 && x.line > slices.Max(rows):
			x.pending = true // all rows of the header are behind us
			return nil
		case len(rows) > 0 && !slices.Contains(rows, x.line):
			continue
		}
		for i, c := range cells {
			if i == len(x.header) {
				x.header = append(x.header, "")
			}
			if x.header[i] != "" && len(c) > 0 {
				x.header[i] += join
			}
			x.header[i] += string(c)
		}
		if len(rows) == 0 {
			return nil
		}
	}
}

// columns implements rowReader. Rows may be wider than the header: their columns are there, without a name.
func (x *xlsxReader) columns() []string {
	for len(x.header) < x.width {
		x.header = append(x.header, "")
	}
	return x.header
}

// position implements rowReader.
func (x *xlsxReader) position() string { return fmt.Sprintf("sheet %q, row %d", x.sheet.name, x.line) }

// next implements rowReader.
func (x *xlsxReader) next() (cells [][]byte, err error) {
	defer recoverAs(&err, "the workbook", debug.SetPanicOnFault(true))
	if cells = x.cells; !x.pending {
		if cells, err = x.readRow(); err != nil {
			return nil, err
		}
	}
	x.pending = false
	if len(cells) > x.named && x.beyond == "" && !x.dialect.NoHeader {
		x.beyond = x.cellName(len(cells) - 1)
	}
	x.width = max(x.width, len(cells))
	return cells, nil
}

// readRow reads the next row that has a value. The error is io.EOF behind the last.
func (x *xlsxReader) readRow() ([][]byte, error) {
	for !x.ended {
		err := x.part.token()
		if err == io.EOF {
			x.ended = true
			break
		}
		if err != nil {
			return nil, err
		}
		if x.part.kind != xmlStart || x.part.depth != 3 || string(x.part.name) != "row" {
			continue // a row of cells is worksheet/sheetData/row; anchors of controls have rows too
		}
		x.line++
		if r := x.part.value("r"); r != "" {
			if x.line, err = strconv.Atoi(r); err != nil {
				return nil, herb.Invalidf("sheet %q: %q is no number of a row; save the workbook again", x.sheet.name, clip(r))
			}
		}
		filled, err := x.readCells()
		if err != nil {
			return nil, err
		}
		x.part.budget = maxBookPart
		if filled && !slices.Contains(x.dialect.CommentRows, x.line) {
			return x.cells, nil
		}
	}
	return nil, io.EOF
}

// readCells reads the cells of a row, and reports whether any has a value.
func (x *xlsxReader) readCells() (filled bool, err error) {
	x.buf, x.spans, x.cells = x.buf[:0], x.spans[:0], x.cells[:0]
	column := -1
	for {
		if err := x.part.token(); err != nil {
			return false, err
		}
		switch {
		case x.part.kind == xmlEnd && string(x.part.name) == "row":
			for _, s := range x.spans {
				x.cells = append(x.cells, x.buf[s.start:s.end])
			}
			return len(x.spans) > 0, nil
		case x.part.kind == xmlStart && string(x.part.name) == "c":
			column++
			if r := x.part.attr("r"); len(r) > 0 {
				if column = columnOf(r); column < 0 {
					return false, herb.Invalidf("%s: %q is no cell; save the workbook again", x.position(), clip(string(r)))
				}
			}
			s := span{start: len(x.buf)}
			if err := x.readCell(); err != nil {
				return false, damaged(err, x.position())
			}
			if s.end = len(x.buf); s.end == s.start {
				continue
			}
			if column >= MaxColumns {
				return false, herb.Invalidf("%s: there is a value in column %d, and there can be %d columns", x.position(), column+1, MaxColumns)
			}
			for len(x.spans) <= column {
				x.spans = append(x.spans, span{})
			}
			if x.spans[column] != (span{}) {
				return false, herb.Invalidf("%s: the cell %s occurs twice; save the workbook again", x.position(), x.cellName(column))
			}
			x.spans[column] = s
		}
	}
}

// notes implements noter.
func (x *xlsxReader) notes() []string {
	var notes, others []string
	for _, s := range x.book.sheets {
		switch {
		case s == x.sheet:
		case s.hidden:
			others = append(others, fmt.Sprintf("%q (hidden)", s.name))
		default:
			others = append(others, strconv.Quote(s.name))
		}
	}
	if len(others) > 0 && x.dialect.Sheet == "" && x.dialect.SheetNumber == 0 {
		notes = append(notes, fmt.Sprintf("only the sheet %q is published; add # and its name to the file to publish another: %s",
			x.sheet.name, listed(others)))
	}
	if x.beyond != "" {
		notes = append(notes, fmt.Sprintf("sheet %q: there are values right of the header, the first in %s; columns without a name "+
			"are called by their position, such as column_%d", x.sheet.name, x.beyond, x.named+1))
	}
	if x.empty > 0 {
		notes = append(notes, fmt.Sprintf("sheet %q: %d formulas have no stored result and are published as empty; "+
			"open the workbook in a spreadsheet program and save it", x.sheet.name, x.empty))
	}
	return notes
}

// Close gives back what the reader holds.
func (x *xlsxReader) Close() error { return errors.Join(x.part.Close(), x.book.texts.Close()) }
