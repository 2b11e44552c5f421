// Package xlsx reads sheets of Office Open XML workbooks.
package xlsx

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/table"
	"herbarium/internal/ingest/value"
)

// Format returns the XLSX format.
func Format() rows.Format {
	return rows.Format{
		Name:       "xlsx",
		Extensions: []string{".xlsx", ".xlsm"},
		Matches:    isWorkbook,
		Open: func(_ context.Context, f rows.File, o rows.Options, b *rows.Budget) (rows.Rows, error) {
			k, err := openBook(f, b)
			if err != nil {
				return nil, err
			}
			o.CommentRows = slices.Sorted(slices.Values(o.CommentRows))
			r := &reader{book: k, options: o, left: herb.Layout{Unit: "row"}}
			if err := r.start(); err != nil {
				return nil, errors.Join(err, r.Close())
			}
			return r, nil
		},
		Tables: func(_ context.Context, f rows.File, _ rows.Options, b *rows.Budget) ([]rows.Table, error) {
			k, err := openBook(f, b)
			if err != nil {
				return nil, err
			}
			return k.tables()
		},
	}
}

// isWorkbook reports whether a file begins with a zip entry that workbooks begin with.
func isWorkbook(head []byte) bool {
	const fixedHeader = 30 // bytes before the name of an entry
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) && len(head) > fixedHeader &&
		regexp.MustCompile(`^(\[Content_Types\]\.xml|(_rels|xl|docProps|customXml)[/\\])`).Match(head[fixedHeader:])
}

const notTable = "not a table"

// tables lists the sheets. Those that are visible and tables are published; if there is none, the
// first visible sheet with a value.
func (k *book) tables() ([]rows.Table, error) {
	reasons := map[string]string{} // why sheets are skipped, by part; sheets may share one
	for i, part := range k.sheetParts {
		if k.sheets[i].Skipped != "" {
			continue
		}
		reason, isKnown := reasons[part]
		if !isKnown {
			in, err := k.openSheet(i)
			if err != nil {
				return nil, err
			}
			sampled, err := sample(in.readRow, nil, nil)
			if err := errors.Join(err, in.file.Close()); err != nil {
				return nil, err
			}
			if len(sampled) == 0 {
				reason = "empty"
			} else if !isTable(sampled) {
				reason = notTable
			}
			reasons[part] = reason
		}
		k.sheets[i].Skipped = reason
	}
	i := slices.IndexFunc(k.sheets, func(t rows.Table) bool { return t.Skipped == notTable })
	if i >= 0 && len(rows.Published(k.sheets)) == 0 {
		k.sheets[i].Skipped = ""
	}
	return k.sheets, nil
}

// reader implements rows.Rows.
type reader struct {
	book    *book
	in      *sheetReader
	options rows.Options
	pending []table.Row // sampled rows that Next has not returned
	table   *table.Table
	left    herb.Layout
	merges  []table.Merge // nil: not read
	line    int           // number of the row returned last
	columns []rows.Column
	kinds   []value.Kind // of the values of each column
	beyond  string       // the first cell right of the header
	notes   []string
}

func (r *reader) start() error {
	i, err := r.selectSheet()
	if err == nil {
		r.in, err = r.book.openSheet(i)
	}
	if err != nil {
		return err
	}
	return r.readHeader()
}

func (r *reader) selectSheet() (int, error) {
	sheets := r.book.sheets
	switch number := r.options.TableNo; {
	case len(sheets) == 0:
		return 0, herb.Invalidf("the workbook has no sheet with cells")
	case r.options.Table != "":
		return rows.FindTable("sheet", r.options.Table, sheets)
	case number < 0 || number > len(sheets):
		return 0, herb.Invalidf("no such sheet number %d; sheets: %s", number, rows.JoinNames(rows.Names(sheets)))
	case number > 0:
		return number - 1, nil
	}
	if _, err := r.book.tables(); err != nil {
		return 0, err
	}
	selected := slices.IndexFunc(sheets, func(t rows.Table) bool { return t.Skipped == "" })
	if selected < 0 {
		return 0, herb.Invalidf(
			"no visible sheet of the workbook has a value; name the sheet to publish, like file.xlsx#%s; sheets: %s",
			sheets[0].Name, rows.JoinNames(rows.Names(sheets)))
	}
	r.notes = rows.SelectionNotes("sheet", sheets, selected)
	return selected, nil
}

// Options adds the selected sheet, the rows of the header, and the rows that are no records.
func (r *reader) Options() rows.Options {
	o := r.table.Complete(r.options)
	o.Table, o.TableNo = r.in.title, 0
	return o
}

func (r *reader) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf("sheet %q: ", r.in.title)+fmt.Sprintf(format, args...))
}

// Next adds columns without a name for cells right of the header. The types of columns are known
// after the last row.
func (r *reader) Next() ([][]byte, error) {
	next, err := r.table.Next()
	if err == io.EOF {
		for i, k := range r.kinds {
			r.columns[i].Type, r.columns[i].Numbers = columnType(k), k&value.Number != 0
		}
	}
	if err != nil {
		return nil, err
	}
	r.line = next.Line
	if len(next.Cells) > len(r.table.Names) && r.beyond == "" && len(r.table.Header) > 0 {
		r.beyond = cellName(len(next.Cells)-1, next.Line)
	}
	for i, k := range next.Kinds {
		if i == len(r.columns) {
			r.columns, r.kinds = append(r.columns, rows.Column{}), append(r.kinds, 0)
		}
		r.kinds[i] |= k
	}
	return next.Cells, nil
}

// columnType returns the type that the cells of a column declare. Text declares none, because
// spreadsheets often store numbers and dates as text, and neither do mixed cells.
func columnType(kinds value.Kind) herb.Type {
	return map[value.Kind]herb.Type{
		value.Number: herb.TypeNumber, value.Code: herb.TypeText, value.Boolean: herb.TypeBoolean,
		value.Date: herb.TypeDate, value.Datetime: herb.TypeDateTime,
		value.Time: herb.TypeTime, value.Duration: herb.TypeDuration, value.Time | value.Duration: herb.TypeDuration,
	}[kinds&^value.Missing]
}

func (r *reader) Columns() []rows.Column { return r.columns }

func (r *reader) Position() rows.Position { return rows.Position{Row: r.line, Sheet: r.in.title} }

func (r *reader) Layout() herb.Layout { return r.left }

func (r *reader) Notes() []string {
	all := reader{in: r.in, notes: slices.Clone(r.notes)}
	if r.beyond != "" {
		all.note("values right of the header, the first in %s; columns without a name are named by their position, "+
			"such as column_%d",
			r.beyond, len(r.table.Names)+1)
	}
	for _, n := range r.table.Notes() {
		all.note("%s", n)
	}
	if r.in.formulas > 0 {
		all.note("%d formulas have no stored result and are published as empty; open the workbook in a spreadsheet "+
			"program and save it",
			r.in.formulas)
	}
	return all.notes
}

func (r *reader) Close() error {
	if r.in == nil {
		return nil
	}
	return r.in.file.Close()
}

// Limits of a tag. The decoder holds all attributes of a tag, which begin with an equals sign, and
// all namespaces that are in effect.
const (
	maxAttributes = 1_000
	maxEquals     = 1 << 18
	maxName       = 32 // bytes; elements with longer names are none of ours
)

// part is a part of a workbook that is read as XML.
type part struct {
	book    *book
	name    string // in the zip file
	file    io.ReadCloser
	in      io.Reader // the content, without blank cells and rows of a sheet
	decoder *xml.Decoder
	pending int    // bytes that were read for the current token
	equals  int    // equals signs among them
	root    string // namespace of the root element

	// The current token, valid until the next one.
	// of its element, such as /worksheet/sheetData/row, followed by /text() or /end() unless it is
	// a start tag
	path  []byte
	open  int // bytes of the path of the innermost open element
	attrs []xml.Attr
	text  []byte

	err error // why there is no next token; io.EOF after the last one
}

// open opens a part; it returns nil if it is missing. limit is its maximum size. The zip file
// declares the size, and reading more than that fails.
func (k *book) open(name string, limit int64) (*part, error) {
	f := k.parts[partKey(name)]
	if f == nil {
		return nil, nil
	}
	size := int64(min(f.UncompressedSize64, math.MaxInt64/2))
	switch {
	case f.Flags&1 != 0:
		return nil, herb.Invalidf("the workbook is protected by a password; save it without one")
	case size > limit:
		return nil, herb.Invalidf("the part %s of the workbook is larger than %s; save the data as CSV",
			rows.Clip(name), herb.FormatBytes(limit))
	}
	if err := k.in.Budget.Trial().Unpack(size); err != nil { // reading charges for it
		return nil, err
	}
	x := &part{book: k, name: name}
	var err error
	x.file, err = f.Open()
	if err != nil {
		return nil, x.locate(err)
	}
	x.in = chargedReader{x.file, k.in.Budget}
	if slices.Contains(k.sheetParts, name) {
		x.in = &blankFilter{in: x.in}
	}
	in := transform.NewReader(x, unicode.BOMOverride(transform.Nop)) // UTF-16 has a byte order mark
	x.decoder = xml.NewDecoder(bufio.NewReaderSize(in, 64<<10))
	x.decoder.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		if strings.EqualFold(label, "utf-16") {
			return in, nil // already decoded
		}
		enc, err := htmlindex.Get(label)
		if err != nil {
			return nil, err
		}
		return enc.NewDecoder().Reader(in), nil
	}
	return x, nil
}

func (x *part) Read(p []byte) (int, error) {
	n, err := x.in.Read(p)
	x.pending += n
	x.equals += bytes.Count(p[:n], []byte("="))
	switch limit := 4 * x.book.in.Budget.MaxRecord(); {
	case x.pending > limit:
		return 0, herb.Invalidf("a value or tag is longer than %s", herb.FormatBytes(int64(limit)))
	case x.equals > maxEquals:
		return 0, herb.Invalidf("a value or tag has more than %d equals signs", maxEquals)
	}
	return n, err
}

// next reads the next token, unless there is an error. The end of the part is one if elements are
// open.
//
// Parts have extensions whose elements have the local names of the standard ones (x15:workbookPr),
// so only elements in the namespace of the root element have a name in the path.
func (x *part) next() bool {
	for x.err == nil {
		x.pending, x.equals, x.path = 0, 0, x.path[:x.open]
		token, err := x.decoder.Token()
		switch t := token.(type) {
		case xml.StartElement:
			if x.open == 0 {
				x.root = t.Name.Space
			}
			x.attrs, x.path = t.Attr, append(x.path, '/')
			if t.Name.Space == x.root && len(t.Name.Local) <= maxName {
				x.path = append(x.path, t.Name.Local...)
			}
			x.open = len(x.path)
			if len(t.Attr) > maxAttributes {
				err = herb.Invalidf("a tag has more than %d attributes", maxAttributes)
			}
			err = cmp.Or(err, x.book.in.Budget.Elements(1+len(t.Attr)),
				x.book.in.Budget.Depth(bytes.Count(x.path, []byte("/"))))
		case xml.EndElement:
			x.path = append(x.path, "/end()"...)
			x.open = bytes.LastIndexByte(x.path[:x.open], '/')
		case xml.CharData:
			x.text, x.path = t, append(x.path, "/text()"...)
		case xml.Directive:
			err = errors.New("document types are not supported")
		case xml.Comment, xml.ProcInst:
			err = x.book.in.Budget.Elements(1)
			if err == nil {
				continue
			}
		}
		if err == nil {
			return true
		}
		x.err = err
		if err != io.EOF {
			x.err = x.locate(err)
		}
	}
	return false
}

// attr returns an attribute of the element, empty if it is missing. It has no namespace or that of
// relationships, which begins differently in the two editions of the standard.
func (x *part) attr(name string) string {
	for i := range x.attrs {
		if a := &x.attrs[i]; a.Name.Local == name &&
			(a.Name.Space == "" || strings.HasSuffix(a.Name.Space, "/relationships")) {
			return a.Value
		}
	}
	return ""
}

func (x *part) locate(err error) error {
	return x.book.in.Locate(err, "the part %s of the workbook", rows.Clip(x.name))
}

// visit reads a part and calls f for every token, unless a part could not be read before. A missing
// part has no tokens.
func (k *book) visit(name string, limit int64, f func(x *part)) {
	if k.err != nil {
		return
	}
	x, err := k.open(name, limit)
	if x == nil || err != nil {
		k.err = err
		return
	}
	for x.next() {
		f(x)
	}
	k.err = x.file.Close()
	if x.err != io.EOF {
		k.err = x.err
	}
}
