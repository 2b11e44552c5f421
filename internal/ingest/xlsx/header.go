package xlsx

import (
	"io"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/table"
	"herbarium/internal/ingest/value"
)

// readHeader reads up to the first record and names the columns.
func (r *reader) readHeader() error {
	o := r.options
	in := table.Input{Options: o, Report: &r.left, Extends: true, Next: r.read}
	if o.Header != rows.HeaderNone {
		sampled, err := sample(r.read, o.HeaderRows, &r.left)
		switch isGiven := len(o.HeaderRows) > 0; {
		case err != nil:
			return err
		case isGiven && (len(sampled) == 0 || sampled[0].Line > slices.Max(o.HeaderRows)):
			return herb.Invalidf("sheet %q has no row %d", r.in.title, slices.Max(o.HeaderRows))
		case len(sampled) == 0:
			return herb.Invalidf("sheet %q is empty; write the names of the columns in its first row", r.in.title)
		}
		in.Sample = table.Sample{Rows: sampled, Merges: r.mergedCells, Tabular: true}
		in.Found = table.Detect(in.Sample, o)
		if o.Explain != nil {
			table.Explain(o.Explain, in.Sample, in.Found, r.left.Unit, "")
		}
		r.pending = sampled[in.Found.End:]
	}
	r.table = table.New(in)
	r.columns = r.table.Columns()
	r.kinds = make([]value.Kind, len(r.columns))
	return r.book.err
}

// mergedCells returns the ranges of merged cells at the start of the sheet. They follow the rows in
// the file, so the sheet is read once more for them.
func (r *reader) mergedCells() []table.Merge {
	const maxLine = 1_000 // headers are above
	if r.merges != nil {
		return r.merges
	}
	r.merges = []table.Merge{}
	r.book.visit(r.in.name, maxSheet, func(x *part) {
		if string(x.path) == "/worksheet/mergeCells/mergeCell" {
			var m table.Merge
			from, to, _ := strings.Cut(x.attr("ref"), ":")
			m.Left, m.Top = parseCell(from)
			m.Right, m.Bottom = parseCell(to)
			if m.Top <= maxLine && m.Left >= 0 && len(r.merges) < rows.MaxColumns {
				r.merges = append(r.merges, m)
			}
		}
	})
	return r.merges
}

// sample reads the rows at the start of a sheet from which its layout is detected. Of the rows down
// to the header, only those that are given are read; the others are added to dropped.
func sample(next func() (table.Row, error), header []int, dropped *herb.Layout) (sampled []table.Row, err error) {
	const maxRows, maxBytes = 50, 1 << 20 // below the given rows
	isAbove := len(header) > 0
	for size := 0; len(sampled) < maxRows+len(header) && size < maxBytes; {
		r, err := next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		isAbove = isAbove && r.Line <= slices.Max(header)
		if !isAbove {
			size += r.Size()
		}
		if !isAbove || slices.Contains(header, r.Line) {
			sampled = append(sampled, r.Clone())
		} else {
			dropped.Drop(r.Line, "above the header", r.Text())
		}
	}
	return sampled, nil
}

// isTable reports whether rows at the start of a sheet are a table: most of them have several
// values, or there is one column of values that are not text. Notes and titles are text in one
// column.
func isTable(sampled []table.Row) bool {
	wide, other := 0, 0
	for i, r := range sampled {
		if r.Filled() > 1 {
			wide++
		} else if i > 0 && r.Kinds[len(r.Kinds)-1] != value.Text {
			other++
		}
	}
	return wide >= 2 && (wide >= 5 || 2*wide >= len(sampled)) || len(sampled) > 2 && 2*other > len(sampled)
}

// read returns the next row that the options do not exclude.
func (r *reader) read() (next table.Row, err error) {
	if len(r.pending) > 0 {
		next, r.pending = r.pending[0], r.pending[1:]
		return next, nil
	}
	for {
		next, err = r.in.readRow()
		_, isComment := slices.BinarySearch(r.options.CommentRows, next.Line)
		switch {
		case err != nil || next.Line > r.options.Skip && !isComment:
			return next, err
		case isComment:
			r.left.Drop(next.Line, "excluded by its number", next.Text())
		default:
			r.left.Drop(next.Line, "above the header", next.Text())
		}
	}
}
