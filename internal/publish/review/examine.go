package review

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/value"
	"herbarium/internal/progress"
	"herbarium/internal/text"
	"herbarium/internal/versions"
)

// examine reads the rows of a file and completes its contents: with the rows that the review shows,
// and the values that prevent the types of columns.
func (s *Service) examine(
	ctx context.Context, t *ingest.Table, f *contents, r *storedDraft, live []herb.Field, running *inspection,
) error {
	running.enter(phaseExamining)
	sample := newSample(t, f, r.Edits)
	exceptions := newExceptions(t, f, r.Edits, live)
	for row, err := range t.Rows(ctx) {
		if err != nil {
			return err
		}
		marked := exceptions.add(row)
		sample.add(row, marked)
		if n := sample.count; n%1024 == 0 {
			running.report(func(p *progress.Progress) {
				p.Records, p.Done, p.Total = n, int64(n),
					int64(t.Dataset.Report.Rows)
			})
		}
	}
	f.shown = sample.finish()
	exceptions.describe(f.columns)
	report := t.Dataset.Report
	if doubt := report.Layout.Doubt; doubt != "" {
		if len(report.Layout.Header) > 0 {
			doubt = "header: " + doubt + "; keep it as a record if it is one"
		} else {
			doubt = "no header: " + doubt + "; choose the row that names the columns, if there is one"
		}
		f.warnings = append(f.warnings, doubt)
	}
	for _, note := range report.Notes {
		f.warnings = append(f.warnings, plainMessage(note))
	}
	return nil
}

// formatOf describes the format of a file and which table of it was read.
func formatOf(t *ingest.Table) string {
	format, table := t.Dataset.Report.Format, t.Source.Dialect.Table
	if n := len(t.Source.Tables); n > 0 {
		return format + ", " + herb.Plural(n, "table", "tables") + " as one"
	}
	if t.Source.Entry != "" {
		format += ", file " + herb.Clip(t.Source.Entry, maxCell)
	}
	if table != "" {
		noun := cmp.Or(map[string]string{"xlsx": "sheet", "json": "member"}[t.Source.Format], "table")
		format += ", " + noun + " " + herb.Clip(table, maxCell)
	}
	return format
}

// newColumns describes the columns of a file.
func newColumns(t *ingest.Table) []Column {
	columns := make([]Column, len(t.Columns()))
	for i, name := range t.Columns() {
		columns[i] = Column{Position: i, Source: name}
	}
	for i, at := range t.FieldColumns() {
		if at >= len(columns) || columns[at].Field != "" {
			continue
		}
		field, report := t.Dataset.Fields[i], t.Dataset.Report.Columns[i]
		c := &columns[at]
		c.Field, c.Type, c.Title, c.DateNotations = field.Name, field.Type, field.Title, report.DateNotations
		if field.Type == herb.TypeDate || field.Type == herb.TypeDateTime {
			c.Format = field.Notation.DateFormat
		}
		c.Evidence = strings.Join(append([]string{report.Reason}, report.Notes...), "; ")
	}
	return columns
}

// Limits of the values that prevent the type of a column.
const (
	maxExceptions     = 20     // that a review lists, of a column
	maxExceptionTypes = 1_000  // different ones that are counted, of a column
	maxAllExceptions  = 20_000 // of all columns
	maxMarkedRows     = 3      // rows that are shown for a column

	maxMissing      = 16 << 10 // bytes of a value that can be treated as missing
	maxMissingBytes = 4 << 20  // of all such values that are longer than a shown cell
)

// exceptions finds the values that do not have the type of their column: the one that the publisher
// has chosen, the one of the live version, or the one that nearly all values have.
type exceptions struct {
	columns []exceptionColumn
	counted int // different values of all columns
	bytes   int // of the values that are longer than a shown cell
	marked  []int
	buf     []byte
	table   *ingest.Table
}

type exceptionColumn struct {
	position int
	field    herb.Field // the type and its notation
	isAny    bool       // any notation of the type fits
	values   map[string]*Exception
	filled   int  // values
	rest     int  // of these, values that are not of the type
	parses   bool // some of the rest are of the type in another notation
	shown    int  // rows
}

func newExceptions(t *ingest.Table, f *contents, e Edits, live []herb.Field) *exceptions {
	x := &exceptions{table: t}
	for i, field := range f.Fields {
		if field.Column >= len(f.Columns) {
			continue
		}
		c := exceptionColumn{position: field.Column, values: map[string]*Exception{}}
		edit, at := e.Columns[field.Column], herb.FieldIndex(live, field.Name)
		switch {
		case field.Type == herb.TypeText && edit.Type != "":
			c.field = herb.Field{Type: edit.Type, Notation: f.notation(field.Column, edit)}
			c.isAny = edit.Format == ""
		case field.Type == herb.TypeText && at >= 0:
			c.field = live[at]
		case len(t.Dataset.Report.Columns[i].Exceptions) > 0:
			c.field = herb.Field{Type: field.Type, Notation: field.Notation}
		}
		if c.field.Type.IsScalar() && c.field.Type != "" {
			x.columns = append(x.columns, c)
		}
	}
	return x
}

// add counts the values of a row. It returns the columns whose values are to be shown.
func (x *exceptions) add(row ingest.SourceRow) (marked []int) {
	x.marked = x.marked[:0]
	if row.Excluded {
		return nil
	}
	isShown := false
	for i := range x.columns {
		c := &x.columns[i]
		if c.position >= len(row.Cells) || len(row.Cells[c.position]) == 0 {
			continue
		}
		cell := row.Cells[c.position]
		c.filled++
		var status text.Status
		x.buf, status = text.AppendPublished(x.buf[:0], &c.field, cell)
		if status != text.Invalid || x.table.IsMissing(c.position, cell) {
			continue
		}
		isOther := isOfType(c.field.Type, cell) // in another notation
		if isOther && c.isAny || value.IsMissing(text.TrimBlanks(cell)) {
			continue
		}
		x.marked = append(x.marked, c.position)
		c.rest++
		c.parses = c.parses || isOther
		if c.shown < maxMarkedRows {
			c.shown++
			isShown = true
		}
		name, isShort := x.name(cell, c)
		if known := c.values[name]; known != nil {
			known.Count++
		} else if len(c.values) < maxExceptionTypes && x.counted < maxAllExceptions {
			x.counted++
			c.values[name] = &Exception{Value: name, IsShort: isShort, Count: 1, Row: row.Number}
		}
	}
	if !isShown {
		return nil
	}
	return x.marked
}

// name returns a value that prevents the type of a column: as it is, so that it can be treated as
// missing, or shortened if it is very long.
func (x *exceptions) name(value []byte, c *exceptionColumn) (name string, isShort bool) {
	switch {
	case len(value) <= maxCell || c.values[string(value)] != nil:
	case len(value) > maxMissing || x.bytes+len(value) > maxMissingBytes:
		return herb.Clip(string(value[:maxCell]), maxCell-1), true
	default:
		x.bytes += len(value)
	}
	return string(value), false
}

// describe completes the description of the columns.
func (x *exceptions) describe(columns []Column) {
	for _, c := range x.columns {
		if c.rest == 0 {
			continue
		}
		var all []Exception
		for _, e := range c.values {
			all = append(all, *e)
		}
		slices.SortFunc(all, func(a, b Exception) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Row, b.Row), strings.Compare(a.Value, b.Value))
		})
		column := &columns[c.position]
		column.Almost, column.Others, column.Rest = c.field.Type, all[:min(len(all), maxExceptions)], c.rest
		column.Most, column.Parses = 2*c.rest > c.filled, c.parses
	}
}

// isOfType reports whether a value is a number, a date or a datetime in some notation.
func isOfType(t herb.Type, v []byte) bool {
	switch t {
	case herb.TypeNumber:
		return value.IsNumber(v)
	case herb.TypeDate, herb.TypeDateTime:
		return value.IsDate(v)
	}
	return false
}

// shownChanges returns what a publish would change, except the number of records unless it is
// breaking, because the review compares the records.
func shownChanges(all []versions.Change) (changes []versions.Change) {
	for _, c := range all {
		if c.Kind != versions.RecordsChanged || c.Breaking {
			changes = append(changes, c)
		}
	}
	return changes
}
