package delimited

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// readHeader sets the columns.
func (r *reader) readHeader(best reading) error {
	o := r.options
	switch {
	case r.d.blanks:
		r.notes = append(r.notes, "values are separated by runs of blanks")
	case r.d.lenient:
		r.notes = append(r.notes, `a backslash before a quote or delimiter makes it part of the value`)
	}
	if o.Header == rows.HeaderNone {
		return r.nameColumns(best)
	}
	if o.Header == rows.HeaderDetect && len(o.HeaderRows) == 0 && o.Skip == 0 && !best.rowNames && len(best.records) > 0 {
		table := best.records[best.start:]
		if detectHeader(table[0].cells, cellsOf(table[1:])) == headerNo {
			r.notes = append(r.notes, fmt.Sprintf("no header: line %d has values like the lines below it; use --header %d if it names the columns",
				table[0].line, table[0].line))
			return r.nameColumns(best)
		}
	}
	r.named = true
	lines := o.HeaderRows
	if len(lines) == 0 {
		lines = []int{0} // the first record
	}
	for _, line := range lines {
		if err := r.headerRecord(line); err != nil {
			return err
		}
	}
	if r.rowNames = best.rowNames; r.rowNames {
		r.addRowNames()
	}
	return nil
}

// headerRecord appends the names in the record at a line, 0 for the next one, to those above.
func (r *reader) headerRecord(line int) error {
	err := r.skipTo(line)
	var cells [][]byte
	if err == nil {
		cells, err = r.record()
	}
	switch {
	case err == io.EOF && line == 0:
		return herb.Invalidf("the file is empty; its first line must name the columns")
	case err == io.EOF || err == nil && line > 0 && r.line != line:
		return herb.Invalidf("line %d, which names the columns, is blank, a comment, or within a record", line)
	case err != nil:
		return err
	}
	if err := r.checkWidth(); err != nil {
		return err
	}
	for len(r.header) < len(cells) {
		r.header = append(r.header, rows.Column{})
	}
	for i, cell := range cells {
		name := strings.TrimSpace(string(cell))
		if r.header[i].Name != "" && name != "" {
			name = cmp.Or(r.options.HeaderJoin, " ") + name
		}
		r.header[i].Name += name
	}
	return nil
}

func (r *reader) checkWidth() error {
	if err := r.budget.Columns(r.width); err != nil {
		return herb.Invalidf("line %d: %s", r.line, err)
	}
	return nil
}

// addRowNames adds a column before the others.
func (r *reader) addRowNames() {
	taken := map[string]bool{}
	for _, c := range r.header {
		taken[c.Name] = true
	}
	name := "row"
	for n := 2; taken[name]; n++ {
		name = "row_" + strconv.Itoa(n)
	}
	r.header = append([]rows.Column{{Name: name}}, r.header...)
	r.notes = append(r.notes, fmt.Sprintf("the header has one name fewer than there are columns; the first column is called %q", name))
}

// nameColumns names the columns of a text without a header: by Options.Names if they suffice for the first record, else by
// their number.
func (r *reader) nameColumns(best reading) error {
	names := r.options.Names
	_, err := r.record()
	if err != nil && err != io.EOF {
		return err
	}
	if r.pending = err == nil; r.pending {
		if err := r.checkWidth(); err != nil {
			return err
		}
		width := r.width
		if best.header > 1 && best.exceeding == 0 {
			width = max(width, best.header)
		}
		if len(names) < width {
			names = nil
			for i := range width {
				names = append(names, "column_"+strconv.Itoa(i+1))
			}
		}
	}
	for _, name := range names {
		r.header = append(r.header, rows.Column{Name: name})
	}
	return nil
}
