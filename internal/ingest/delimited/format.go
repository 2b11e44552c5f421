// Package delimited reads text whose values are separated by a delimiter or by runs of blanks, or
// are in columns of given widths: CSV, TSV and their relatives.
package delimited

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/table"
)

// Format returns the format of delimited text. What the options do not give is detected: the
// delimiter, quotes, backslash escapes, lines above the header, and whether there is a header.
func Format() rows.Format {
	return rows.Format{Name: "csv", Extensions: []string{".csv", ".psv"},
		Generic: []string{".txt", ".dat", ".data", ".asc"}, Open: opener(0)}
}

// TSV returns the format of tab-separated text.
func TSV() rows.Format {
	return rows.Format{Name: "tsv", Extensions: []string{".tsv", ".tab"}, Open: opener('\t')}
}

// opener returns a function that opens a text. Unless the options give a delimiter, it is the usual
// one if the text has it.
func opener(usual byte) func(context.Context, rows.File, rows.Options, *rows.Budget) (rows.Rows, error) {
	return func(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (rows.Rows, error) {
		text, err := charset.Open(ctx, f, o.Encoding, b.MaxRecord())
		if err != nil {
			return nil, err
		}
		r := &reader{scanner: scanner{text: text, budget: b, d: dialect{Options: o}, next: 1}, options: o,
			left: herb.Layout{Unit: "line"}}
		r.dropped = &r.left
		r.d.Quote = cmp.Or(o.Quote, '"')
		if o.NoQuote {
			r.d.Quote = 0
		}
		if head, _ := text.Peek(sampleBytes); o.Delimiter == 0 && bytes.IndexByte(head, usual) >= 0 {
			r.d.Delimiter = usual
		}
		if r.d.isFixed() {
			r.d = r.d.withWidths(o.Widths)
		}
		r.d.CommentRows = slices.Sorted(slices.Values(o.CommentRows))
		if err := r.start(strings.ToLower(path.Ext(f.Name()))); err != nil {
			return nil, errors.Join(err, text.Close())
		}
		return r, nil
	}
}

// reader implements rows.Rows.
type reader struct {
	scanner
	options rows.Options
	header  []rows.Column
	notes   []string

	table    *table.Table
	pending  bool // readRow returns the current record
	left     herb.Layout
	position int     // line of the record returned last
	comment  string  // detected prefix of comments
	surplus  counter // records with blank values beyond the last column
}

type counter struct{ n, first int }

func (c *counter) add(line int) {
	c.n++
	if c.n == 1 {
		c.first = line
	}
}

func (r *reader) Columns() []rows.Column  { return r.header }
func (r *reader) Position() rows.Position { return rows.Position{Line: r.position} }
func (r *reader) Close() error            { return r.text.Close() }

// Options returns the given options, completed by what was detected and can be given.
func (r *reader) Options() rows.Options {
	o := r.table.Complete(r.options)
	o.Encoding = r.text.Encoding()
	if !r.d.blanks {
		o.Delimiter = r.d.Delimiter
	}
	o.SkipInitialSpace = r.d.SkipInitialSpace
	if r.hasHeader() {
		o.Header = rows.HeaderPresent
	}
	// The first record is the header even if blank lines or comments are above it.
	if len(r.table.Header) == 1 && (r.comment != "" || !r.table.HasTitles()) {
		o.HeaderRows = r.options.HeaderRows
	}
	return o
}

func (r *reader) Notes() []string {
	notes := slices.Concat(r.text.Notes(), r.notes, r.table.Notes())
	if r.surplus.n > 0 {
		notes = append(notes, fmt.Sprintf("in %s, the first in line %d, there are more values than columns; the "+
			"additional values are blank and left out",
			herb.Plural(r.surplus.n, "record", "records"), r.surplus.first))
	}
	if n := r.fixed.longer; n.n > 0 {
		notes = append(notes, fmt.Sprintf("longer than all widths together: %s, the first is line %d; the last "+
			"column has the rest of the line",
			herb.Plural(n.n, "line", "lines"), n.first))
	}
	if n := r.fixed.crossing; n.n > 0 {
		notes = append(notes, fmt.Sprintf("in %s, the first in line %d, no blank is between two columns; correct "+
			"widths if a value is cut",
			herb.Plural(n.n, "record", "records"), n.first))
	}
	return notes
}

func (r *reader) Layout() herb.Layout { return r.left }

func (r *reader) hasHeader() bool { return len(r.table.Header) > 0 }

func (r *reader) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

func (r *reader) Next() ([][]byte, error) {
	row, err := r.table.Next()
	r.position = row.Line
	return row.Cells, err
}

// readRow returns the next record, without comments.
func (r *reader) readRow() (table.Row, error) {
	for {
		if !r.pending {
			if err := r.readRecord(); err != nil {
				return table.Row{}, err
			}
		}
		r.pending = false
		row := r.record
		switch {
		case r.d.isFixed() && r.comment != "" && r.text.Bytes()[0] == r.comment[0]:
			r.left.LeaveOut(row.Line, "begins with "+r.comment, row.Text())
			if err := r.budget.Elements(1); err != nil {
				return row, err
			}
			continue
		case r.fixed.crossed:
			r.fixed.crossing.add(row.Line)
		case r.width == r.columns:
		case r.comment != "" && r.text.Bytes()[0] == r.comment[0]:
			if r.width == 1 || bytes.HasPrefix(r.text.Bytes()[1:], []byte(" ")) {
				r.left.LeaveOut(row.Line, "begins with "+r.comment, row.Text())
				if err := r.budget.Elements(1); err != nil {
					return row, err
				}
				continue
			}
			row.Invalid = herb.Invalidf(
				"line %d: the line begins with %s like the comments above the header, but has %d values and the "+
					"header %d; "+
					"set comment=%s if it is a comment, or skip=N to skip only the lines above the header", row.Line,
				r.comment, r.width, r.columns, r.comment)
		case r.width < r.columns && r.table.HasRowNames():
			row.Invalid = herb.Invalidf(
				"line %d: there are %d values but %d columns, the first of which is for row names; "+
					"add the missing value, or name all columns in the header", row.Line, r.width, r.columns)
		case r.width < r.columns:
		case r.width > len(row.Cells) || row.Width() > r.columns:
			row.Invalid = r.tooMany()
		default:
			r.surplus.add(row.Line)
			row.Cells = row.Cells[:r.columns]
		}
		if row.Blank {
			if err := r.budget.Elements(1); err != nil {
				return row, err
			}
		}
		return row, nil
	}
}

func (r *reader) tooMany() error {
	subject, remedy := "the header names", ""
	if !r.hasHeader() {
		subject = "the table has"
	}
	if r.d.Delimiter != 0 && !r.d.blanks {
		remedy = fmt.Sprintf("; put quotes around a value that contains %q", string(rune(r.d.Delimiter)))
	}
	if r.hasHeader() && len(r.options.HeaderRows) == 0 {
		remedy += ", or set header=N or skip=N if another line names the columns, header=none if no line does, " +
			"delimiter if values are split wrongly"
	}
	return herb.Invalidf("line %d: there are %d values but %s %d columns%s", r.record.Line, r.width, subject,
		r.columns, remedy)
}
