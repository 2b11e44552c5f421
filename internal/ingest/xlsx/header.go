package xlsx

import (
	"io"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/kind"
	"herbarium/internal/ingest/layout"
	"herbarium/internal/ingest/rows"
)

// readHeader reads up to the first record and names the columns.
func (r *reader) readHeader() error {
	o := &r.options
	isGiven := len(o.HeaderRows) > 0
	isDetected := !isGiven && o.Header == rows.HeaderDetect
	if o.Header == rows.HeaderNone {
		r.setColumns(o.Names)
		r.body = layout.NewBody(layout.Sample{}, layout.Layout{}, len(o.Names), true, &r.left)
		return nil
	}
	sampled, err := sample(r.read, o.HeaderRows, &r.left)
	if err != nil {
		return err
	}
	switch {
	case isGiven && (len(sampled) == 0 || sampled[0].Line > slices.Max(o.HeaderRows)):
		return herb.Invalidf("sheet %q has no row %d", r.in.title, slices.Max(o.HeaderRows))
	case len(sampled) == 0:
		return herb.Invalidf("sheet %q is empty; write the names of the columns in its first row", r.in.title)
	}
	r.left.Given = !isDetected || o.Skip > 0
	in := layout.Sample{Rows: sampled, Merges: r.mergedCells, Tabular: true}
	l := layout.Choose(in, *o)
	line, header := sampled[l.First].Line, sampled[l.First:l.End]
	for _, row := range sampled[:l.First] {
		if row.Filled() > 0 {
			r.left.LeaveOut(row.Line, "above the table", row.Text())
		}
	}
	if len(header) == 0 {
		r.left.Doubt = l.Reason("row", line)
		o.Header, r.pending = rows.HeaderNone, sampled[l.First:]
		if l.First > 0 {
			o.Skip = line - 1
		}
		r.body = layout.NewBody(in, l, maxWidth(r.pending), false, &r.left)
		return nil
	}
	names := l.Names
	for _, row := range header {
		if l.Names == nil {
			names = layout.JoinNames(names, row.Cells, o.HeaderJoin)
		}
		r.left.AddHeader(row.Line, row.Cells)
		if !isGiven && sampled[l.End-1].Line > 1 {
			o.HeaderRows = append(o.HeaderRows, row.Line)
		}
	}
	r.setColumns(names)
	r.pending = sampled[l.End:]
	r.body = layout.NewBody(in, l, max(len(names), maxWidth(r.pending)), !isDetected, &r.left)
	return r.book.err
}

// maxWidth returns the number of cells of the widest row.
func maxWidth(sampled []layout.Row) (n int) {
	for _, row := range sampled {
		n = max(n, len(row.Cells))
	}
	return n
}

func (r *reader) setColumns(names []string) {
	for _, name := range names {
		r.columns = append(r.columns, rows.Column{Name: name})
	}
	r.named, r.kinds = len(names), make([]kind.Kind, len(names))
}

// mergedCells returns the ranges of merged cells at the start of the sheet. They follow the rows in
// the file, so the sheet is read once more for them.
func (r *reader) mergedCells() []layout.Merge {
	const maxLine = 1_000 // headers are above
	if r.merges != nil {
		return r.merges
	}
	r.merges = []layout.Merge{}
	r.book.visit(r.in.name, maxSheet, func(x *part) {
		if string(x.path) == "/worksheet/mergeCells/mergeCell" {
			var m layout.Merge
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
func sample(next func() (layout.Row, error), header []int, dropped *herb.Layout) (sampled []layout.Row, err error) {
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
		if isAbove = isAbove && r.Line <= slices.Max(header); !isAbove {
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
func isTable(sampled []layout.Row) bool {
	wide, other := 0, 0
	for i, r := range sampled {
		if r.Filled() > 1 {
			wide++
		} else if i > 0 && r.Kinds[len(r.Kinds)-1] != kind.Text {
			other++
		}
	}
	return wide >= 2 && (wide >= 5 || 2*wide >= len(sampled)) || len(sampled) > 2 && 2*other > len(sampled)
}

// read returns the next row that the options do not exclude.
func (r *reader) read() (next layout.Row, err error) {
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
