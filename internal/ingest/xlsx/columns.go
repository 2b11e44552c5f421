package xlsx

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/layout"
	"herbarium/internal/ingest/rows"
)

// note adds a note about the sheet.
func (r *reader) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf("sheet %q: ", r.in.sheet.name)+fmt.Sprintf(format, args...))
}

// readHeader reads up to the first record.
func (r *reader) readHeader() error {
	o := &r.options
	switch {
	case len(o.HeaderRows) > 0:
		return r.readHeaderRows()
	case o.Header == rows.HeaderNone:
		for _, name := range o.Names {
			r.addColumn(name)
		}
		return nil
	}
	sampled, err := sample(r.read)
	if err != nil {
		return err
	}
	if len(sampled) == 0 {
		return herb.Invalidf("sheet %q is empty; write the names of the columns in its first row", r.in.sheet.name)
	}
	header := 0
	if o.Header == rows.HeaderDetect && o.Skip == 0 {
		header = detectHeader(sampled)
	}
	if header < 0 {
		r.note("no header: row %d has values like the rows below it; use --header %d if it names the columns", sampled[0].Line, sampled[0].Line)
		o.Header, r.pending = rows.HeaderNone, sampled
		return nil
	}
	first := header // the first row of groups, if there is one
	if o.Header == rows.HeaderDetect {
		if first, header, err = r.detectGroups(sampled, header); err != nil {
			return err
		}
	}
	r.header = sampled[header].Line
	if first > 0 {
		r.note("row %d is the header; rows above it are not published: %s", sampled[first].Line, layout.List(sampled[:first]))
	}
	if r.header > 1 {
		o.HeaderRows = []int{r.header}
	}
	if first < header {
		o.HeaderRows = nil
		for _, h := range sampled[first : header+1] {
			o.HeaderRows = append(o.HeaderRows, h.Line)
		}
		r.note("%s", layout.GroupNote("row", sampled[first:header+1], r.columns))
	} else {
		r.addNames(sampled[header])
	}
	r.body.Header = layout.UniqueHeader(sampled[first:header+1], sampled[header+1:])
	r.pending = sampled[header+1:]
	if o.Header == rows.HeaderDetect && r.body.Detect(r.columns, r.pending) {
		r.pending = r.pending[1:]
	}
	return nil
}

// detectGroups looks for rows above or below the header that name the columns together with it or, if the header is the
// first row for lack of evidence, for such rows below titles. It returns the first and the last of these rows and sets the
// columns; without such rows, both are the header.
func (r *reader) detectGroups(sampled []layout.Row, header int) (first, last int, err error) {
	isTitle := func(i int) bool { return i < 0 || header == 0 && sampled[i].Filled() == 1 }
	for last := max(header, 1); last+1 < len(sampled); last++ {
		possible := false
		for n := min(layout.MaxHeader, last+1); n > 1; n-- {
			first := last - n + 1
			if first > header && !isTitle(first-1) {
				continue
			}
			possible = true
			if ok, err := r.addGroups(sampled[first:last+1], sampled[last+1:]); ok || err != nil {
				return first, last, err
			}
		}
		if !possible {
			break
		}
	}
	return header, header, nil
}

// addGroups sets the columns if several rows name them together.
func (r *reader) addGroups(header, below []layout.Row) (_ bool, err error) {
	for i := range len(header) - 1 {
		if header[i+1].Line != header[i].Line+1 {
			return false, nil
		}
	}
	if last := len(header) - 1; !layout.MayGroup(header[last-1], header[last]) {
		return false, nil
	}
	if r.merges == nil {
		if r.merges, err = r.in.book.readMerges(r.in.sheet.part); err != nil {
			return false, err
		}
	}
	names := layout.Groups(header, below, r.merges, r.options.HeaderJoin)
	for _, name := range names {
		r.addColumn(name)
	}
	return names != nil, nil
}

// readHeaderRows reads the rows that name the columns together.
func (r *reader) readHeaderRows() error {
	r.header = slices.Max(r.options.HeaderRows)
	var header []layout.Row
	for r.pending == nil {
		next, err := r.read()
		switch {
		case err == io.EOF && len(header) == 0:
			return herb.Invalidf("sheet %q has no row %d", r.in.sheet.name, r.header)
		case err == io.EOF:
			r.pending = []layout.Row{}
		case err != nil:
			return err
		case next.Line > r.header:
			r.pending = []layout.Row{next.Clone()}
		case slices.Contains(r.options.HeaderRows, next.Line):
			header = append(header, next.Clone())
		}
	}
	below, err := sample(r.read)
	if err != nil {
		return err
	}
	r.pending = below
	if len(header) > 1 && len(header) <= layout.MaxHeader {
		if ok, err := r.addGroups(header, below); ok || err != nil {
			r.body.Header = layout.UniqueHeader(header, below)
			return err
		}
	}
	for _, h := range header {
		r.addNames(h)
	}
	if len(header) == 1 {
		r.body.Header = layout.UniqueHeader(header, below)
	}
	return nil
}

// addNames appends to the names of the columns.
func (r *reader) addNames(header layout.Row) {
	for i, c := range header.Cells {
		if i == len(r.columns) {
			r.addColumn("")
		}
		r.columns[i].Name = layout.JoinName(r.columns[i].Name, string(c), r.options.HeaderJoin)
	}
}

// readMerges reads the ranges of merged cells at the start of a sheet. They follow the rows in the file.
func (k *book) readMerges(sheet string) (merges []layout.Merge, err error) {
	const maxLine = 1_000 // headers are above
	merges = []layout.Merge{}
	err = k.visit(sheet, maxSheet, func(x *part, section string) error {
		if section != "mergeCells" || x.name != "mergeCell" {
			return nil
		}
		from, to, _ := strings.Cut(x.attr("ref"), ":")
		m := layout.Merge{Top: lineOf(from), Left: columnOf(from), Bottom: lineOf(to), Right: columnOf(to)}
		if m.Top <= maxLine && m.Left >= 0 && len(merges) < rows.MaxColumns {
			merges = append(merges, m)
		}
		return nil
	})
	return merges, err
}

// lineOf parses the number of a cell such as BC17. It is 0 if there is none.
func lineOf(cell string) int {
	n, _ := strconv.Atoi(strings.TrimLeft(cell, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	return n
}
