// Package xlsx reads sheets of Office Open XML workbooks.
package xlsx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/layout"
	"herbarium/internal/ingest/rows"
)

// Format returns the XLSX format.
func Format() rows.Format {
	return rows.Format{
		Name:       "xlsx",
		Extensions: []string{".xlsx", ".xlsm"},
		Matches:    isWorkbook,
		Open: func(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (rows.Rows, error) {
			k, err := openBook(ctx, f, b)
			if err != nil {
				return nil, err
			}
			r, err := newReader(k, o)
			if err != nil {
				return nil, errors.Join(err, k.Close())
			}
			return r, nil
		},
		Tables: func(ctx context.Context, f rows.File, _ rows.Options, b *rows.Budget) ([]rows.Table, error) {
			k, err := openBook(ctx, f, b)
			if err != nil {
				return nil, err
			}
			tables, err := k.tables()
			return tables, errors.Join(err, k.Close())
		},
	}
}

// isWorkbook reports whether a file begins with a zip entry that workbooks begin with.
func isWorkbook(head []byte) bool {
	const fixedHeader = 30 // bytes before the name of an entry
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) && len(head) > fixedHeader &&
		regexp.MustCompile(`^(\[Content_Types\]\.xml|(_rels|xl|docProps|customXml)[/\\])`).Match(head[fixedHeader:])
}

// tables lists the sheets. Those that are visible and tables are published; if there is none, the first visible sheet with
// a value.
func (k *book) tables() ([]rows.Table, error) {
	const notTable = "not a table"
	var listed []rows.Table
	known := map[string]string{} // reasons by part; sheets may share one
	for _, s := range k.sheets {
		reason, ok := known[s.part]
		if s.hidden {
			reason = "hidden"
		} else if !ok {
			in, err := k.openSheet(s)
			if err != nil {
				return nil, err
			}
			sampled, err := sample(in.next)
			if err := errors.Join(err, in.part.Close()); err != nil {
				return nil, err
			}
			switch {
			case len(sampled) == 0:
				reason = "empty"
			case !isTable(sampled):
				reason = notTable
			}
			known[s.part] = reason
		}
		listed = append(listed, rows.Table{Name: s.name, Skipped: reason})
	}
	if firstPublished(listed) < 0 {
		if i := slices.IndexFunc(listed, func(t rows.Table) bool { return t.Skipped == notTable }); i >= 0 {
			listed[i].Skipped = ""
		}
	}
	return listed, nil
}

// firstPublished returns the index of the first table that is published, or -1.
func firstPublished(tables []rows.Table) int {
	return slices.IndexFunc(tables, func(t rows.Table) bool { return t.Skipped == "" })
}

// reader implements rows.Rows.
type reader struct {
	in      *sheetReader
	options rows.Options
	pending []layout.Row // sampled rows that Next has not returned
	body    layout.Body
	merges  []layout.Merge // nil: not read
	header  int            // number of the last row of the header
	line    int            // number of the row returned last
	columns []rows.Column
	kinds   []layout.Kind // of the values of each column
	named   int           // columns of the header
	beyond  string        // the first cell right of the header
	notes   []string
}

// newReader selects a sheet and reads its header.
func newReader(k *book, o rows.Options) (*reader, error) {
	r := &reader{options: o}
	s, err := r.selectSheet(k)
	if err != nil {
		return nil, err
	}
	if r.in, err = k.openSheet(s); err != nil {
		return nil, err
	}
	if err := r.readHeader(); err != nil {
		return nil, errors.Join(err, r.in.part.Close())
	}
	r.named = len(r.columns)
	return r, nil
}

func (r *reader) selectSheet(k *book) (sheet, error) {
	var names []string
	for _, s := range k.sheets {
		names = append(names, s.name)
	}
	number := r.options.TableNo
	switch {
	case len(names) == 0:
		return sheet{}, herb.Invalidf("the workbook has no sheet with cells")
	case r.options.Table != "":
		i, err := rows.FindTable("sheet", r.options.Table, names)
		return k.sheets[i], err
	case number < 0 || number > len(names):
		return sheet{}, herb.Invalidf("no such sheet number %d; sheets: %s", number, rows.JoinNames(names))
	case number > 0:
		return k.sheets[number-1], nil
	}
	tables, err := k.tables()
	if err != nil {
		return sheet{}, err
	}
	selected := firstPublished(tables)
	if selected < 0 {
		return sheet{}, herb.Invalidf("no visible sheet of the workbook has a value; name the sheet to publish, like file.xlsx#%s; sheets: %s",
			names[0], rows.JoinNames(names))
	}
	var others []string
	for i, t := range tables {
		if i == selected {
			continue
		}
		other := strconv.Quote(t.Name)
		if t.Skipped != "" {
			other += " (" + t.Skipped + ")"
		}
		others = append(others, other)
	}
	if len(others) > 0 {
		r.notes = append(r.notes, fmt.Sprintf("only the sheet %q is published; add # and a name to the file to publish another: %s",
			names[selected], rows.JoinNames(others)))
	}
	return k.sheets[selected], nil
}

// Options implements rows.Rows.
func (r *reader) Options() rows.Options {
	o := r.options
	o.Table, o.TableNo = r.in.sheet.name, 0
	o.CommentRows = slices.Concat(o.CommentRows, r.body.Lines())
	return o
}

// note adds a note about the sheet.
func (r *reader) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf("sheet %q: ", r.in.sheet.name)+fmt.Sprintf(format, args...))
}

func (r *reader) addColumn(name string) {
	r.columns, r.kinds = append(r.columns, rows.Column{Name: name}), append(r.kinds, 0)
}

// read returns the next row that the options do not exclude.
func (r *reader) read() (next layout.Row, err error) {
	if len(r.pending) > 0 {
		next, r.pending = r.pending[0], r.pending[1:]
		return next, nil
	}
	for {
		next, err = r.in.next()
		if err != nil || next.Line > r.options.Skip && !slices.Contains(r.options.CommentRows, next.Line) {
			return next, err
		}
	}
}

// Next implements rows.Rows.
func (r *reader) Next() ([][]byte, error) {
	next, err := r.body.Next(r.read)
	if err == io.EOF {
		for i := range r.columns {
			r.columns[i].Type = columnType(r.kinds[i])
		}
	}
	if err != nil {
		return nil, err
	}
	r.line = next.Line
	if len(next.Cells) > r.named && r.beyond == "" && r.options.Header != rows.HeaderNone {
		r.beyond = cellName(len(next.Cells)-1, next.Line)
	}
	for i, k := range next.Kinds {
		if i == len(r.columns) {
			r.addColumn("")
		}
		r.kinds[i] |= k
	}
	return next.Cells, nil
}

// Columns implements rows.Rows. Cells right of the header add columns without a name. Types are known after the last row.
func (r *reader) Columns() []rows.Column { return r.columns }

// columnType returns the type that the cells of a column declare. Text declares none, because spreadsheets often store
// numbers and dates as text, and neither do mixed cells.
func columnType(kinds layout.Kind) herb.Type {
	return map[layout.Kind]herb.Type{
		layout.Number: herb.TypeNumber, layout.Code: herb.TypeText, layout.Boolean: herb.TypeBoolean,
		layout.Date: herb.TypeDate, layout.Datetime: herb.TypeDateTime,
	}[kinds&^layout.Missing]
}

// Position implements rows.Rows.
func (r *reader) Position() rows.Position { return rows.Position{Row: r.line, Sheet: r.in.sheet.name} }

// Notes implements rows.Rows.
func (r *reader) Notes() []string {
	notes := slices.Clone(r.notes)
	for _, note := range r.body.Notes("row", r.header) {
		notes = append(notes, fmt.Sprintf("sheet %q: %s", r.in.sheet.name, note))
	}
	if r.beyond != "" {
		notes = append(notes, fmt.Sprintf("sheet %q: values right of the header, the first in %s; columns without a name "+
			"are named by their position, such as column_%d", r.in.sheet.name, r.beyond, r.named+1))
	}
	if r.in.formulas > 0 {
		notes = append(notes, fmt.Sprintf("sheet %q: %d formulas have no stored result and are published as empty; "+
			"open the workbook in a spreadsheet program and save it", r.in.sheet.name, r.in.formulas))
	}
	return notes
}

// Close implements rows.Rows.
func (r *reader) Close() error { return errors.Join(r.in.part.Close(), r.in.book.Close()) }
