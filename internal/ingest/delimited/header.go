package delimited

import (
	"bytes"
	"cmp"
	"io"
	"regexp"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/table"
)

func (r *reader) start(extension string) error {
	if err := r.separatorLine(); err != nil {
		return err
	}
	o := r.options
	first := max(r.next, o.Skip+1)
	if len(o.HeaderRows) > 0 && o.Header != rows.HeaderNone {
		first = max(first, o.HeaderRows[0])
	}
	if err := r.skipTo(first, "above the header"); err == io.EOF {
		return herb.Invalidf("no line %d, which names the columns; the file has %d lines", first, r.next-1)
	} else if err != nil {
		return err
	}
	text, all := r.text.Peek(sampleBytes)
	if !all && charset.CountLines(text) < 10 {
		text, all = r.text.Peek(longSampleBytes)
	}
	best, above := r.detectReading(sample{text: text, all: all, line: r.next, options: o,
		tabular: slices.Contains([]string{".csv", ".tsv", ".tab"}, extension)})
	r.setDialect(best.dialect)
	switch {
	case !r.d.separates() && best.isSpaced():
		r.note("each line is one value; set widths to the widths of the columns, such as widths=10,20,8, if there " +
			"are several")
	case r.d.blanks:
		r.note("values are separated by runs of blanks")
	case r.d.SkipInitialSpace != o.SkipInitialSpace:
		r.note("blanks after a delimiter are not part of the value, because quotes follow them")
	case r.d.lenient:
		r.note(`a backslash before a quote or delimiter makes it part of the value`)
	}
	if err := r.readHeader(best, above); err != nil {
		return err
	}
	r.columns = len(r.header)
	if err := r.budget.Columns(r.columns); err != nil {
		return herb.Invalidf("line %d: %s", r.record.Line, err)
	}
	return nil
}

// separatorLine reads a line such as sep=; that spreadsheets write above the header.
func (r *reader) separatorLine() error {
	head, _ := r.text.Peek(len(`"sep=;"` + "\r\n"))
	match := regexp.MustCompile(`^"?(?i:sep)=([^"\r\n[:^ascii:]])"?(?:[\r\n]|$)`).FindSubmatch(head)
	if match == nil || r.d.Delimiter != 0 && r.d.Delimiter != match[1][0] {
		return nil
	}
	r.d.Delimiter = match[1][0]
	return r.skipTo(r.next+1, "")
}

// detectReading detects the dialect and what is above the header, and skips that. It returns the
// lines above that are titles rather than comments.
func (r *reader) detectReading(s sample) (best reading, above []table.Row) {
	from, lines, last := r.next, 0, []byte(nil)
	text := s.text
	if r.d.Comment == "" && s.options.Skip == 0 && len(s.options.HeaderRows) == 0 {
		var size int
		r.comment, size, last = commentLines(s.text)
		lines = charset.CountLines(s.text[:size])
		s.text, s.line = s.text[size:], s.line+lines
	}
	d := r.d
	d.Comment = cmp.Or(d.Comment, r.comment)
	best = s.detect(d)
	if size := recordsIn(text[:len(text)-len(s.text)], best); size < len(text)-len(s.text) {
		lines, last = charset.CountLines(text[:size]), nil
		s.text, s.line = text[size:], from+lines
		if lines == 0 {
			r.comment, d.Comment = "", r.d.Comment
		}
		best = s.detect(d)
	}
	best.dialect.Comment = r.d.Comment // a record may begin like the comments
	isComment := best.found.First == 0 && r.comment != "" && isHeader(last, best)
	if s.options.Explain != nil {
		s.explain(s.options.Explain, best, isComment)
	}
	switch l := best.found; {
	case l.First > 0:
		lines = best.records[l.First].Line - from
	case isComment:
		lines--
		if lines == 0 {
			r.comment = ""
		}
		best.records, best.found = nil, table.Header{End: 1} // the header is known
	}
	for line := range lines {
		var content []byte
		content, text, _ = cutLine(text)
		above = append(above, table.Row{Line: from + line, Cells: [][]byte{bytes.Clone(content)}})
	}
	_ = r.skipTo(from+lines, "") // the lines are in the sample, so skipping them cannot fail
	if best.found.First > 0 {
		return best, above
	}
	for _, row := range above {
		if row.Filled() > 0 {
			r.left.LeaveOut(row.Line, "begins with "+r.comment, row.Text())
		}
	}
	return best, nil
}

// commentLines returns the prefix of the comment lines at the start of a text, "" if there are none
// or only these, their size and the last of them.
func commentLines(text []byte) (prefix string, size int, last []byte) {
	for rest := text; ; {
		line, after, found := cutLine(rest)
		switch {
		case !found:
			return "", 0, nil
		case len(line) == 0:
		case prefix == "" && (line[0] == '#' || line[0] == '%') || prefix != "" && line[0] == prefix[0]:
			prefix, size, last = string(line[:1]), len(text)-len(after), line
		default:
			return prefix, size, last
		}
		rest = after
	}
}

// recordsIn returns the position of the first comment that is a row of the table below: it and the
// next one have as many values as the table has columns, no blank follows the sign, and no row
// below clearly names the columns. It is the size of the comments if they have no such rows.
func recordsIn(comments []byte, below reading) int {
	found, n := len(comments), 0
	below.dialect.Comment = ""
	if below.header < 2 || below.found.Exists() && !below.found.Doubtful {
		return found
	}
	for rest := comments; len(rest) > 0; {
		line, after, _ := cutLine(rest)
		row := (sample{text: line, all: true, line: 1}).split(below.dialect)
		isText := len(line) > 1 && line[1] != line[0] && !isPadding(line[1])
		switch {
		case len(row.records) != 1 || row.header != below.header || !isText:
			found, n = len(comments), 0
		default:
			n++
			if n == 1 {
				found = len(comments) - len(rest)
			}
		}
		rest = after
	}
	if n < 2 {
		return len(comments)
	}
	return found
}

// isHeader reports whether a comment line names the columns of the table below it: it is a better
// header than its first line.
func isHeader(line []byte, below reading) bool {
	if len(below.records) == 0 {
		return false
	}
	s := sample{text: line, all: true, line: 1}
	names := s.split(below.dialect)
	switch width := len(below.records[0].Cells); {
	case len(names.records) != 1 || names.header != width || len(line) < 2:
		return false
	case width == 1 && (line[1] == ' ' || line[1] == line[0]):
		return false
	}
	own := table.Detect(table.Sample{Rows: below.records, Tabular: true, AtTop: true}, rows.Options{})
	combined := table.Sample{Rows: append(names.records, below.records...), Tabular: true, AtTop: true}
	l := table.Detect(combined, rows.Options{})
	isSentence := line[1] == ' ' && s.isProse(below.dialect)
	return l.Exists() && l.End == 1 && (!own.Exists() || l.Score > own.Score && !isSentence)
}

// readHeader reads up to the first record and names the columns. The header is read again, because
// the sample may end in it.
func (r *reader) readHeader(best reading, above []table.Row) error {
	o, l := r.options, best.found
	in := table.Input{Options: o, Report: &r.left, Next: r.readRow, RowNames: best.rowNames}
	var header []table.Row
	if !l.Exists() && (len(best.records) > 0 || o.Header == rows.HeaderNone) {
		err := r.readRecord()
		if err != nil && err != io.EOF {
			return err
		}
		r.pending = err == nil
		if r.pending {
			in.Width = max(len(r.record.Cells), table.CommonWidth(best.records))
		}
	} else {
		lines := o.HeaderRows
		for _, row := range best.records[l.First:min(l.End, len(best.records))] {
			if l.Names != nil && len(o.HeaderRows) == 0 {
				lines = append(lines, row.Line)
			}
		}
		if len(lines) == 0 {
			lines = []int{0} // the next record
		}
		var err error
		header, err = r.readHeaderRows(lines)
		if err != nil {
			return err
		}
	}
	below := best.records[min(l.End, len(best.records)):]
	best.records = slices.Concat(above, header, below)
	l.First, l.End = len(above), len(above)+len(header)
	in.Sample, in.Found = best.sample(), l
	r.table = table.New(in)
	r.header = r.table.Columns()
	if best.rowNames {
		r.note("the header has one name fewer than there are columns; the first column is called %q", r.table.Names[0])
	}
	return nil
}

// readHeaderRows reads the records at some lines, 0 for the next one, which name the columns.
func (r *reader) readHeaderRows(lines []int) (header []table.Row, err error) {
	for _, line := range lines {
		err = r.skipTo(line, "between the rows of the header")
		if err == nil {
			err = r.readRecord()
		}
		switch {
		case err == io.EOF && line == 0:
			return nil, herb.Invalidf("the file is empty; its first line must name the columns")
		case err == io.EOF || err == nil && line > 0 && r.record.Line != line:
			return nil, herb.Invalidf("line %d, which names the columns, is blank, a comment, or within a record", line)
		case err != nil:
			return nil, err
		}
		header = append(header, r.record.Clone())
	}
	return header, nil
}
