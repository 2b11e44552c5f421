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

// readHeader reads up to the first record and names the columns.
func (r *reader) readHeader() error {
	o := &r.options
	isGiven := len(o.HeaderRows) > 0
	isDetected := !isGiven && o.Header == rows.HeaderDetect
	if !isGiven && o.Header == rows.HeaderNone {
		r.setColumns(o.Names)
		return nil
	}
	sampled, err := sample(r.read, o.HeaderRows)
	if err != nil {
		return err
	}
	first, last, names := 0, 0, []string(nil) // of the header
	switch {
	case isGiven && len(sampled) == 0:
		return herb.Invalidf("sheet %q has no row %d", r.in.title, slices.Max(o.HeaderRows))
	case len(sampled) == 0:
		return herb.Invalidf("sheet %q is empty; write the names of the columns in its first row", r.in.title)
	case isGiven:
		for last = -1; last+1 < len(sampled) && sampled[last+1].Line <= slices.Max(o.HeaderRows); {
			last++
		}
		names = r.groupNames(sampled[:last+1], sampled[last+1:])
	case isDetected && o.Skip == 0:
		first = r.detectHeader(sampled)
	}
	if first < 0 {
		r.note("no header: row %d has values like the rows below it; use --header %d if it names the columns", sampled[0].Line, sampled[0].Line)
		o.Header, r.pending = rows.HeaderNone, sampled
		return nil
	}
	if isDetected {
		first, last, names = r.detectGroups(sampled, first)
	}
	header, below := sampled[first:last+1], sampled[last+1:]
	if first > 0 {
		r.note("row %d is the header; rows above it are not published: %s", sampled[first].Line, layout.List(sampled[:first]))
	}
	if names != nil || len(header) == 1 {
		r.body.Header = layout.UniqueHeader(header, below)
	}
	if names == nil {
		r.setColumns(joinNames(header, o.HeaderJoin))
	} else if r.setColumns(names); isDetected {
		r.note("%s", layout.GroupNote("row", header, r.columns))
	}
	for _, h := range header {
		if r.header = h.Line; !isGiven && sampled[last].Line > 1 {
			o.HeaderRows = append(o.HeaderRows, h.Line)
		}
	}
	if isDetected && r.body.Detect(r.columns, below) {
		below = below[1:] // without the units
	}
	r.pending = below
	return r.book.err
}

func (r *reader) setColumns(names []string) {
	for _, name := range names {
		r.columns = append(r.columns, rows.Column{Name: name})
	}
	r.named, r.kinds = len(names), make([]layout.Kind, len(names))
}

// joinNames joins the values that the rows of a header have for each column.
func joinNames(header []layout.Row, separator string) (names []string) {
	for _, h := range header {
		for i, c := range h.Cells {
			if i == len(names) {
				names = append(names, "")
			}
			names[i] = layout.JoinName(names[i], string(c), separator)
		}
	}
	return names
}

// detectGroups looks for rows above or below the header that name the columns together with it or, if the header is the
// first row for lack of evidence, for such rows below titles. It returns the first and the last of these rows and the names;
// without such rows, both are the header.
func (r *reader) detectGroups(sampled []layout.Row, header int) (first, last int, names []string) {
	for last = max(header, 1); last+1 < len(sampled); last++ {
		isPossible := false
		for first = max(last+1-layout.MaxHeader, 0); first < last; first++ {
			if first > header && (header > 0 || sampled[first-1].Filled() > 1) {
				continue
			}
			isPossible = true
			if names = r.groupNames(sampled[first:last+1], sampled[last+1:]); names != nil {
				return first, last, names
			}
		}
		if !isPossible {
			break
		}
	}
	return header, header, nil
}

// groupNames returns the names that several rows give together, nil if they do not.
func (r *reader) groupNames(header, below []layout.Row) []string {
	n := len(header)
	if n < 2 || n > layout.MaxHeader || header[n-1].Line != header[0].Line+n-1 || !layout.MayGroup(header[n-2], header[n-1]) {
		return nil
	}
	return layout.Groups(header, below, r.mergedCells(), r.options.HeaderJoin)
}

// mergedCells returns the ranges of merged cells at the start of the sheet. They follow the rows in the file, so the sheet is
// read once more for them.
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

// sample reads the rows at the start of a sheet from which its layout is detected. Of the rows down to the header, only those
// that are given are read.
func sample(next func() (layout.Row, error), header []int) (sampled []layout.Row, err error) {
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
		}
	}
	return sampled, nil
}

// maxGroupRows is the number of rows above a header that may have several values.
const maxGroupRows = 3

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
func (r *reader) detectHeader(sampled []layout.Row) int {
	if isRecord(sampled) {
		return -1
	}
	for _, strict := range []bool{true, false} {
		for i := range sampled {
			if r.isHeader(sampled, i, strict) {
				return moreNames(sampled, i)
			}
		}
	}
	return 0
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

func (r *reader) isHeader(sampled []layout.Row, i int, strict bool) bool {
	const maxBelow = 20 // rows that a header is compared with
	header, below := sampled[i], sampled[i+1:min(i+1+maxBelow, len(sampled))]
	filled, wider := header.Filled(), 0 // wider rows below have 5 values for 3 of the header, or more
	for _, b := range below {
		if 3*b.Filled() > 5*filled {
			wider++
		}
	}
	if filled < 2 || 2*wider >= len(below) {
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
		spans := func(m layout.Merge) bool { return m.Top == above.Line && m.Right > m.Left }
		if n == 1 && (filled > 2 || contrast || sampled[j+1].Line > above.Line+1 || slices.ContainsFunc(r.mergedCells(), spans)) {
			continue // a title
		}
		if groups++; !contrast || 2*n > filled || groups > maxGroupRows {
			return false
		}
	}
	return true
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

// countNames counts the values of a row that may name a column (texts, years and periods), and the different ones.
func countNames(r layout.Row) (names, distinct int) {
	seen, kinds := map[string]bool{}, layout.Text|periods(r)
	for c, k := range r.Kinds {
		if k&kinds != 0 || k == layout.Number && layout.IsYear(r.Cells[c]) {
			names++
			seen[string(r.Cells[c])] = true
		}
	}
	return names, len(seen)
}

// contrasts returns the number of columns that have a name in the header and mostly values below that cannot be names: neither
// texts nor, below a year, years. Periods always name columns.
func contrasts(header layout.Row, below []layout.Row) (n int) {
	kinds := layout.Text | periods(header)
	for c, k := range header.Kinds {
		isYear := k == layout.Number && layout.IsYear(header.Cells[c])
		surplus := 0 // of values that cannot be names
		for _, r := range below {
			switch {
			case c >= len(r.Kinds) || r.Kinds[c]&^layout.Missing == 0:
			case r.Kinds[c] == layout.Text || isYear && k&kinds == 0 && layout.IsYear(r.Cells[c]):
				surplus--
			default:
				surplus++
			}
		}
		if (isYear || k&kinds != 0) && surplus > 0 {
			n++
		}
	}
	return n
}

// periods returns the kinds of the values of a row that name periods: at least three dates in ascending order, or five
// consecutive numbers, such as weeks. It is 0 if there are none.
func periods(r layout.Row) (found layout.Kind) {
	const days = layout.Date | layout.Datetime
	var dates []string
	last, numbers, areConsecutive := 0, 0, true
	for c, k := range r.Kinds {
		if k&days != 0 {
			dates = append(dates, string(r.Cells[c]))
		} else if k == layout.Number {
			n, err := strconv.Atoi(string(r.Cells[c]))
			areConsecutive = areConsecutive && err == nil && (numbers == 0 || n == last+1)
			last, numbers = n, numbers+1
		}
	}
	if n := len(dates); n >= 3 && slices.IsSorted(dates) && len(slices.Compact(dates)) == n {
		found |= days
	}
	if numbers >= 5 && areConsecutive {
		found |= layout.Number
	}
	return found
}
