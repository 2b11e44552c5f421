package xlsx

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/layout"
	"herbarium/internal/ingest/rows"
)

// The rows at the start of a sheet from which the header is detected.
const (
	sampleRows  = 50
	sampleBytes = 1 << 20
	belowHeader = 20 // rows that a header is compared with
	// maxGroupRows is the number of rows above a header that may have several values.
	maxGroupRows = 3
)

// readHeader reads up to the first record.
func (r *reader) readHeader() error {
	o := &r.options
	isDetected := o.Header == rows.HeaderDetect
	switch {
	case len(o.HeaderRows) > 0:
		return r.readHeaderRows()
	case o.Header == rows.HeaderNone:
		r.setColumns(o.Names, nil)
		return nil
	}
	sampled, err := sample(r.read)
	if err != nil {
		return err
	}
	if len(sampled) == 0 {
		return herb.Invalidf("sheet %q is empty; write the names of the columns in its first row", r.in.sheet.name)
	}
	first := 0
	if isDetected && o.Skip == 0 {
		first = detectHeader(sampled)
	}
	if first < 0 {
		r.note("no header: row %d has values like the rows below it; use --header %d if it names the columns", sampled[0].Line, sampled[0].Line)
		o.Header, r.pending = rows.HeaderNone, sampled
		return nil
	}
	last, names := first, []string(nil)
	if isDetected {
		if first, last, names, err = r.detectGroups(sampled, first); err != nil {
			return err
		}
	}
	header, below := sampled[first:last+1], sampled[last+1:]
	r.setColumns(names, header)
	r.header = sampled[last].Line
	if first > 0 {
		r.note("row %d is the header; rows above it are not published: %s", sampled[first].Line, layout.List(sampled[:first]))
	}
	if names != nil {
		r.note("%s", layout.GroupNote("row", header, r.columns))
	}
	for _, h := range header {
		if r.header > 1 {
			o.HeaderRows = append(o.HeaderRows, h.Line)
		}
	}
	r.body.Header = layout.UniqueHeader(header, below)
	if isDetected && r.body.Detect(r.columns, below) {
		below = below[1:]
	}
	r.pending = below
	return nil
}

// detectGroups looks for rows above or below the header that name the columns together with it or, if the header is the
// first row for lack of evidence, for such rows below titles. It returns the first and the last of these rows and the names;
// without such rows, both are the header.
func (r *reader) detectGroups(sampled []layout.Row, header int) (first, last int, names []string, err error) {
	isTitle := func(i int) bool { return i < 0 || header == 0 && sampled[i].Filled() == 1 }
	for last = max(header, 1); last+1 < len(sampled); last++ {
		possible := false
		for first = max(last+1-layout.MaxHeader, 0); first < last; first++ {
			if first > header && !isTitle(first-1) {
				continue
			}
			possible = true
			names, err = r.groupNames(sampled[first:last+1], sampled[last+1:])
			if names != nil || err != nil {
				return first, last, names, err
			}
		}
		if !possible {
			break
		}
	}
	return header, header, nil, nil
}

// groupNames returns the names that several rows give together, nil if they do not.
func (r *reader) groupNames(header, below []layout.Row) (_ []string, err error) {
	for i := range len(header) - 1 {
		if header[i+1].Line != header[i].Line+1 {
			return nil, nil
		}
	}
	if n := len(header); n < 2 || n > layout.MaxHeader || !layout.MayGroup(header[n-2], header[n-1]) {
		return nil, nil
	}
	if r.merges == nil {
		if r.merges, err = r.in.book.readMerges(r.in.sheet.part); err != nil {
			return nil, err
		}
	}
	return layout.Groups(header, below, r.merges, r.options.HeaderJoin), nil
}

// readHeaderRows reads the rows that the options name as the header.
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
	names, err := r.groupNames(header, below)
	if len(header) == 1 || names != nil {
		r.body.Header = layout.UniqueHeader(header, below)
	}
	r.setColumns(names, header)
	r.pending = below
	return err
}

// setColumns names the columns or, without names, joins the values that the rows of the header have for each.
func (r *reader) setColumns(names []string, header []layout.Row) {
	for _, name := range names {
		r.addColumn(name)
	}
	if names != nil {
		return
	}
	for _, h := range header {
		for i, c := range h.Cells {
			if i == len(r.columns) {
				r.addColumn("")
			}
			r.columns[i].Name = layout.JoinName(r.columns[i].Name, string(c), r.options.HeaderJoin)
		}
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

// sample reads the first rows of a sheet.
func sample(next func() (layout.Row, error)) ([]layout.Row, error) {
	var sampled []layout.Row
	size := 0
	for len(sampled) < sampleRows && size < sampleBytes {
		r, err := next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		size += r.Size()
		sampled = append(sampled, r.Clone())
	}
	return sampled, nil
}

// isTable reports whether rows at the start of a sheet are a table: most of them have several values, or there is one
// column of values that are not text. Notes and titles are text in one column.
func isTable(sampled []layout.Row) bool {
	wide, other := 0, 0
	for i, r := range sampled {
		if r.Filled() > 1 {
			wide++
		} else if i > 0 && r.Kinds[len(r.Kinds)-1] != layout.Text {
			other++
		}
	}
	return wide >= 2 && (wide >= 5 || 2*wide >= len(sampled)) || len(sampled) > 2 && 2*other > len(sampled)
}

// detectHeader returns the index of the header among the first rows of a sheet. It is the first row that is mostly filled,
// with distinct names, above rows of about the same width, and below nothing but titles. If no row has distinct names, one
// that differs in kind from the values below it is accepted. Without any evidence the header is the first row. It is -1 if
// the first row consists of values like those below it.
func detectHeader(sampled []layout.Row) int {
	if isRecord(sampled) {
		return -1
	}
	for _, strict := range []bool{true, false} {
		for i := range sampled {
			if isHeader(sampled, i, strict) {
				return moreNames(sampled, i)
			}
		}
	}
	return 0
}

// moreNames returns the index of the row that names the columns if the rows from i on are nothing but names: the last one
// that has more of them than the row at i, above values of other kinds. Otherwise it is i.
func moreNames(sampled []layout.Row, i int) int {
	header := i
	for j := i; j <= i+maxGroupRows && j+1 < len(sampled); j++ {
		if _, distinct := countNames(sampled[j]); distinct < sampled[j].Filled() {
			break
		}
		if sampled[j].Filled() > sampled[header].Filled() && contrasts(sampled[j], sampled[j+1:]) > 1 {
			header = j
		}
	}
	return header
}

// isRecord reports whether the first row is a record: no value is text, not all are years, and every value has the kind of
// some value below it. A table of row labels has an empty corner, so its first row is not a record.
func isRecord(sampled []layout.Row) bool {
	first, years := sampled[0], 0
	for c, k := range first.Kinds {
		below := func(r layout.Row) bool { return c < len(r.Kinds) && r.Kinds[c] == k }
		if k&(layout.Text|layout.Other|layout.Missing) != 0 || !slices.ContainsFunc(sampled[1:], below) {
			return false
		}
		if k == layout.Number && layout.IsYear(first.Cells[c]) {
			years++
		}
	}
	return years < first.Filled()
}

func isHeader(sampled []layout.Row, i int, strict bool) bool {
	header, below := sampled[i], sampled[i+1:min(i+1+belowHeader, len(sampled))]
	filled := header.Filled()
	if len(below) == 0 || filled < 2 || 5*filled < 3*medianFilled(below) {
		return false
	}
	names, distinct := countNames(header)
	contrast := contrasts(header, below) > 0
	if strict && distinct < filled || !strict && (2*names < filled || !contrast) {
		return false
	}
	groups := 0 // rows that name groups of columns, or several facts
	for j, above := range sampled[:i] {
		n := above.Filled()
		isTitle := n == 1 && (filled > 2 || contrast || sampled[j+1].Line > above.Line+1)
		if !isTitle {
			groups++
		}
		if !isTitle && !(contrast && 2*n <= filled && groups <= maxGroupRows) {
			return false
		}
	}
	return true
}

// countNames counts the values of a row that may name a column (texts, years and periods), and the different ones.
func countNames(r layout.Row) (names, distinct int) {
	seen, periods := map[string]bool{}, periods(r)
	for c, k := range r.Kinds {
		if k&(layout.Text|periods) != 0 || k == layout.Number && layout.IsYear(r.Cells[c]) {
			names++
			seen[string(r.Cells[c])] = true
		}
	}
	return names, len(seen)
}

// periods returns the kinds of the values of a row that name periods: at least three dates in ascending order, or five
// consecutive numbers, such as weeks. It is 0 if there are none.
func periods(r layout.Row) (found layout.Kind) {
	for kind, least := range map[layout.Kind]int{layout.Date | layout.Datetime: 3, layout.Number: 5} {
		var values []string
		for c, k := range r.Kinds {
			if k&kind != 0 {
				values = append(values, string(r.Cells[c]))
			}
		}
		follows := func(i int) bool {
			if kind != layout.Number {
				return values[i] > values[i-1]
			}
			before, err := strconv.Atoi(values[i-1])
			return err == nil && values[i] == strconv.Itoa(before+1)
		}
		n := 1
		for n < len(values) && follows(n) {
			n++
		}
		if n >= least && n == len(values) {
			found |= kind
		}
	}
	return found
}

// contrasts returns the number of columns that have a name in the header and mostly values of other kinds than text below.
// Periods always name columns.
func contrasts(header layout.Row, below []layout.Row) (n int) {
	periods := periods(header)
	for c, k := range header.Kinds {
		texts, others := 0, 0
		for _, r := range below {
			if c < len(r.Kinds) && r.Kinds[c]&layout.Text != 0 {
				texts++
			} else if c < len(r.Kinds) && r.Kinds[c] != 0 {
				others++
			}
		}
		if k&(layout.Text|periods) != 0 && others > texts {
			n++
		}
	}
	return n
}

func medianFilled(sampled []layout.Row) int {
	var counts []int
	for _, r := range sampled {
		counts = append(counts, r.Filled())
	}
	slices.Sort(counts)
	return counts[len(counts)/2]
}
