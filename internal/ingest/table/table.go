package table

import (
	"io"
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// Input is what a format knows about a table.
type Input struct {
	// Options are the options as given, zero for a format that has none for the header.
	Options rows.Options
	// Report collects the rows that are not records. Its unit is set.
	Report *herb.Layout
	// Sample is the start of the table, and Header the position of the header in it. The rows above
	// the header have the text that the report shows, and those of the header are complete.
	Sample Sample
	Found  Header
	// Width is the number of columns if no row names them.
	Width int
	// Extends reports that rows may have more columns than the header, or than Width.
	Extends bool
	// RowNames reports that the header has no name for the first column.
	RowNames bool
	// Next returns the next row below the header, valid until the next call. The error is io.EOF
	// after the last row. It is nil for JSON, which reads every array below the header as a record.
	Next func() (Row, error)
}

// Table is a table with its header.
type Table struct {
	// Names are the names of the columns. Rows may add columns without a name.
	Names []string
	// Header lists the rows that name the columns, from 1; empty: none does.
	Header []int

	in   Input
	body *Body
}

// New reads the header from the sample.
func New(in Input) *Table {
	t := &Table{in: in}
	o, l, report := in.Options, in.Found, in.Report
	isGiven := o.Header != rows.HeaderDetect || len(o.HeaderRows) > 0
	report.Given = isGiven || o.Skip > 0
	for _, row := range in.Sample.Rows[:l.First] {
		if row.Filled() > 0 {
			report.LeaveOut(row.Line, "above the table", row.Text())
		}
	}
	if !isGiven {
		line := t.firstRecord()
		if l.Exists() {
			line = in.Sample.Rows[l.End-1].Line
		}
		report.Doubt = l.doubt(report.Unit, line)
	}
	t.nameColumns()
	columns := len(t.Names)
	if in.Extends {
		for _, row := range in.Sample.Rows[l.End:] {
			columns = max(columns, len(row.Cells))
		}
	}
	t.body = NewBody(in.Sample, l, columns, isGiven, report)
	return t
}

// firstRecord returns the number of the first record of a table without a header.
func (t *Table) firstRecord() int {
	if l := t.in.Found; l.End < len(t.in.Sample.Rows) {
		return t.in.Sample.Rows[l.End].Line
	}
	return 1
}

// nameColumns names the columns by the header, or else by Options.Names if there are enough names,
// or else by numbers.
func (t *Table) nameColumns() {
	in := t.in
	for _, row := range in.Sample.Rows[in.Found.First:in.Found.End] {
		in.Report.AddHeader(row.Line, row.Cells)
		t.Header = append(t.Header, row.Line)
		t.Names = JoinNames(t.Names, row.Cells, in.Options.HeaderJoin)
	}
	copy(t.Names, in.Found.Names) // which may lack the last, empty ones
	if in.RowNames {
		t.Names = slices.Insert(t.Names, 0, unusedName("row", t.Names))
	}
	if in.Found.Exists() {
		return
	}
	if names := in.Options.Names; len(names) >= in.Width && (!in.Extends || in.Options.Header == rows.HeaderNone) {
		t.Names = slices.Clone(names)
	}
	for i := len(t.Names); i < in.Width; i++ {
		t.Names = append(t.Names, "column_"+strconv.Itoa(i+1))
	}
}

// unusedName returns a name, with a number if it is one of others.
func unusedName(base string, names []string) string {
	name := base
	for n := 2; slices.Contains(names, name); n++ {
		name = base + "_" + strconv.Itoa(n)
	}
	return name
}

// Columns returns the columns of the header.
func (t *Table) Columns() (columns []rows.Column) {
	for _, name := range t.Names {
		columns = append(columns, rows.Column{Name: name})
	}
	return columns
}

// HasTitles reports whether rows above the header were left out.
func (t *Table) HasTitles() bool { return t.in.Found.First > 0 }

// Notes names the tables below this one, which are not read. It is complete after the last record.
func (t *Table) Notes() []string {
	if s := t.body.stack; s != nil && len(s.others) > 0 {
		return []string{s.note(t.in.Report.Unit)}
	}
	return nil
}

// HasRowNames reports whether the header has no name for the first column.
func (t *Table) HasRowNames() bool { return t.in.RowNames }

// Next returns the next record, valid until the next call. The error is io.EOF after the last.
func (t *Table) Next() (Row, error) {
	row, err := t.body.Next(t.in.Next)
	if e := t.in.Options.Explain; err == io.EOF && e != nil {
		line := 0
		if len(t.Header) == 1 {
			line = t.Header[0]
		}
		t.body.explainFootnotes(e, line)
	}
	return row, err
}

// Complete adds to options what was detected, so that the file is read again in the same way. It is
// complete after the last record.
func (t *Table) Complete(o rows.Options) rows.Options {
	switch {
	case len(t.Header) == 0:
		o.Header = rows.HeaderNone
		if t.in.Found.First > 0 {
			o.Skip = t.firstRecord() - 1
		}
	case len(o.HeaderRows) == 0 && slices.Max(t.Header) > 1:
		o.HeaderRows = t.Header
	}
	o.CommentRows = slices.Concat(o.CommentRows, t.body.leftOutLines())
	return o
}
