// Package delimited reads text whose values are separated by a delimiter or by runs of blanks: CSV, TSV and their relatives.
package delimited

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
)

// Format returns the format of delimited text. What the options do not give is detected: the delimiter, quotes, backslash
// escapes, lines above the header, and whether there is a header.
func Format() rows.Format {
	return rows.Format{Name: "csv", Extensions: []string{".csv", ".psv"}, Generic: []string{".txt", ".dat", ".data", ".asc"}, Open: open}
}

// TSV returns the format of tab-separated text.
func TSV() rows.Format {
	return rows.Format{Name: "tsv", Extensions: []string{".tsv", ".tab"}, Open: openTSV}
}

func openTSV(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (rows.Rows, error) {
	if o.Delimiter == 0 {
		o.Delimiter = '\t'
	}
	return open(ctx, f, o, b)
}

func open(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (rows.Rows, error) {
	text, err := charset.NewReader(ctx, f, o.Encoding)
	if err != nil {
		return nil, err
	}
	r := &reader{scanner: scanner{win: charset.NewWindow(text, b.MaxRecord()), next: 1}, text: text, budget: b, options: o}
	if err := r.start(strings.ToLower(path.Ext(f.Name()))); err != nil {
		return nil, errors.Join(err, text.Close())
	}
	return r, nil
}

// reader implements rows.Rows.
type reader struct {
	scanner
	text    *charset.Reader
	budget  *rows.Budget
	options rows.Options
	header  []rows.Column
	notes   []string

	named    bool   // the text names the columns
	rowNames bool   // the first column has no name in the text
	pending  bool   // Next returns the current record
	comment  string // detected prefix of comments
	comments int    // detected comment lines among the records
	surplus  int    // records with empty values beyond the last column

	firstComment, firstSurplus int // their lines
	headerLine                 int // below titles; 0: the header is the first record
}

// Columns implements rows.Rows.
func (r *reader) Columns() []rows.Column { return r.header }

// Position implements rows.Rows.
func (r *reader) Position() string { return "line " + strconv.Itoa(r.line) }

// Options returns the given options, completed by what was detected and can be given.
func (r *reader) Options() rows.Options {
	o := r.options
	if o.Encoding = r.text.Encoding(); !r.d.blanks {
		o.Delimiter = r.d.delimiter
	}
	if r.d.quote == '\'' {
		o.Quote = r.d.quote
	}
	if o.Header = rows.HeaderPresent; !r.named {
		o.Header = rows.HeaderNone
	}
	if r.headerLine > 0 {
		o.HeaderRows = []int{r.headerLine}
	}
	return o
}

// Close implements rows.Rows.
func (r *reader) Close() error { return r.text.Close() }

// Notes implements rows.Rows.
func (r *reader) Notes() []string {
	notes := append(r.text.Notes(), r.notes...)
	if r.comments > 0 {
		notes = append(notes, fmt.Sprintf("lines skipped because they begin with %s: %d, the first is line %d", r.comment, r.comments, r.firstComment))
	}
	if r.surplus > 0 {
		notes = append(notes, fmt.Sprintf("%d records, the first in line %d, have more values than there are columns; the additional "+
			"values are empty and left out", r.surplus, r.firstSurplus))
	}
	return notes
}

// Next implements rows.Rows.
func (r *reader) Next() ([][]byte, error) {
	for {
		cells, err := r.cells, error(nil)
		if !r.pending {
			cells, err = r.record()
		}
		r.pending = false
		switch {
		case err != nil:
			return nil, err
		case r.width == len(r.header) || r.width < len(r.header) && r.comment == "" && !r.rowNames:
			return cells, nil
		}
		skip, err := r.checkUneven()
		if err != nil {
			return nil, err
		}
		if !skip {
			return cells[:min(len(cells), len(r.header))], nil
		}
	}
}

// checkUneven checks a record that has more or fewer values than there are columns. skip reports that it is a comment.
func (r *reader) checkUneven() (skip bool, err error) {
	if r.comment != "" && strings.HasPrefix(string(r.win.Bytes()[:1]), r.comment) {
		if r.width > 1 {
			return false, herb.Invalidf("line %d: the line begins with %s like the comments above the header, but has %d values and the header %d; "+
				"use --comment %s if it is a comment, or --skip N to skip only the lines above the header", r.line, r.comment, r.width, len(r.header), r.comment)
		}
		if r.comments++; r.comments == 1 {
			r.firstComment = r.line
		}
		return true, r.budget.Step()
	}
	switch {
	case r.width < len(r.header) && r.rowNames:
		return false, herb.Invalidf("line %d: there are %d values but %d columns, the first of which is for row names; "+
			"add the missing value, or name all columns in the header", r.line, r.width, len(r.header))
	case r.width < len(r.header):
		return false, nil
	case r.filled() > len(r.header):
		return false, r.tooMany()
	}
	if r.surplus++; r.surplus == 1 {
		r.firstSurplus = r.line
	}
	return false, nil
}

func (r *reader) tooMany() error {
	subject := "the header names"
	if !r.named {
		subject = "the first record has"
	}
	remedy := ""
	if r.d.delimiter != 0 && !r.d.blanks {
		remedy = fmt.Sprintf("; put quotes around a value that contains %q", string(rune(r.d.delimiter)))
	}
	if r.named && len(r.options.HeaderRows) == 0 {
		remedy += ", or use --header N or --skip N if another line names the columns, --header none if no line does, --delimiter if values are split wrongly"
	}
	return herb.Invalidf("line %d: there are %d values but %s %d columns%s", r.line, r.width, subject, len(r.header), remedy)
}

// givenDialect returns the dialect that the options give.
func (r *reader) givenDialect() dialect {
	o := r.options
	d := dialect{delimiter: o.Delimiter, quote: cmp.Or(o.Quote, '"'), doubled: !o.NoDoubleQuote, escape: o.Escape, skipBlanks: o.SkipInitialSpace,
		null: o.Null, comment: o.Comment, skip: map[int]bool{}}
	if o.NoQuote {
		d.quote = 0
	}
	for _, n := range o.CommentRows {
		d.skip[n] = true
	}
	return d
}

// start detects the dialect and reads the header.
func (r *reader) start(extension string) error {
	r.setDialect(r.givenDialect())
	if err := r.separatorLine(); err != nil {
		return err
	}
	o := r.options
	first := max(r.next, o.Skip+1)
	if len(o.HeaderRows) > 0 && o.Header != rows.HeaderNone {
		first = max(first, o.HeaderRows[0])
	}
	if err := r.skipTo(first); err == io.EOF {
		return herb.Invalidf("no line %d, which names the columns; the file has %d lines", first, r.next-1)
	} else if err != nil {
		return err
	}
	sample, all := r.win.Sample(sampleBytes)
	if !all && charset.CountLines(sample) < 10 {
		sample, all = r.win.Sample(longSampleBytes)
	}
	s := sniffer{sample: sample, all: all, line: r.next, fixed: o.Skip > 0 || len(o.HeaderRows) > 0,
		noNames: o.Header == rows.HeaderNone || len(o.HeaderRows) > 1, autoQuote: o.Quote == 0 && !o.NoQuote,
		autoEscape: o.Escape == 0 && !o.NoQuote, tabular: extension == ".csv" || extension == ".tsv" || extension == ".tab"}
	best := r.detectLayout(s)
	r.setDialect(best.dialect)
	if err := r.readHeader(best); err != nil {
		return err
	}
	r.columns = len(r.header)
	return r.budget.Columns(r.columns)
}

// detectLayout detects the dialect and what is above the header, and skips that.
func (r *reader) detectLayout(s sniffer) reading {
	var lines, last int
	if !s.fixed && r.d.comment == "" {
		var end int
		if r.comment, end, lines, last = commentLines(s.sample); r.comment != "" {
			s.sample, s.line = s.sample[end:], s.line+lines
		}
	}
	if r.options.Header == rows.HeaderNone {
		s.fixed = true
	}
	best := s.detect(r.d)
	if r.comment != "" && best.start == 0 && isHeader(r.win.Bytes()[last:], best) {
		if lines--; lines == 0 {
			r.comment = ""
		}
		best.records = nil // the header is known
	}
	from := r.next
	if best.start > 0 {
		lines = best.records[best.start].line - from
		if r.comment == "" {
			r.headerLine = from + lines
		}
	}
	if lines == 0 {
		return best
	}
	// The lines are in the sample, so skipping them cannot fail.
	_ = r.skipTo(from + lines)
	why := "they are above the table"
	if best.start == 0 {
		why = "they begin with " + r.comment
	}
	r.notes = append(r.notes, fmt.Sprintf("lines skipped because %s: %d, from line %d", why, lines, from))
	return best
}

// isHeader reports whether the comment line at the start of text names the columns of a table.
func isHeader(text []byte, table reading) bool {
	if len(table.records) < 2 {
		return false
	}
	line := text[:bytes.IndexAny(text, "\r\n")]
	names := sniffer{sample: line, all: true, line: 1, fixed: true}.split(table.dialect)
	switch width := table.records[0].width; {
	case len(names.records) != 1 || names.header != width:
		return false
	case width == 1:
		return len(line) > 1 && line[1] != ' ' && line[1] != line[0]
	}
	switch detectHeader(table.records[0].cells, cellsOf(table.records[1:])) {
	case headerYes:
		return false
	case headerNo:
		return true
	}
	return table.dialect.delimiter != ',' || !isProse(line)
}

// separatorLine reads a line such as sep=; that spreadsheets write above the header.
func (r *reader) separatorLine() error {
	head, _ := r.win.Sample(len(`"sep=;"` + "\r\n"))
	line := head
	if i := bytes.IndexAny(head, "\r\n"); i >= 0 {
		line = head[:i]
	}
	line = bytes.TrimSuffix(bytes.TrimPrefix(line, []byte(`"`)), []byte(`"`))
	if len(line) != len("sep=;") || !strings.EqualFold(string(line[:4]), "sep=") || line[4] == '"' || line[4] >= 0x80 {
		return nil
	}
	if r.d.delimiter != 0 && r.d.delimiter != line[4] {
		return nil
	}
	d := r.d
	d.delimiter = line[4]
	r.setDialect(d)
	return r.skipTo(r.next + 1)
}
