package delimited

import (
	"bytes"
	"cmp"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/layout"
	"herbarium/internal/ingest/rows"
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
	if err := r.skipTo(first); err == io.EOF {
		return herb.Invalidf("no line %d, which names the columns; the file has %d lines", first, r.next-1)
	} else if err != nil {
		return err
	}
	text, all := r.text.Peek(sampleBytes)
	if !all && charset.CountLines(text) < 10 {
		text, all = r.text.Peek(longSampleBytes)
	}
	best := r.detectLayout(sample{text, all, r.next, o, slices.Contains([]string{".csv", ".tsv", ".tab"}, extension)})
	r.setDialect(best.dialect)
	switch {
	case r.d.wide:
		r.note("values are separated by at least two blanks")
	case r.d.blanks:
		r.note("values are separated by runs of blanks")
	case r.d.double:
		r.note("values are separated by two colons")
	case r.d.SkipInitialSpace != o.SkipInitialSpace:
		r.note("blanks after a delimiter are not part of the value, because quotes follow them")
	case r.d.lenient:
		r.note(`a backslash before a quote or delimiter makes it part of the value`)
	}
	if err := r.readHeader(best); err != nil {
		return err
	}
	r.columns = len(r.header)
	if err := r.budget.Columns(r.columns); err != nil {
		return herb.Invalidf("line %d: %s", cmp.Or(r.headerLine, r.record.Line), err)
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
	return r.skipTo(r.next + 1)
}

// detectLayout detects the dialect and what is above the header, and skips that.
func (r *reader) detectLayout(s sample) reading {
	from, lines, last := r.next, 0, []byte(nil)
	if r.d.Comment == "" && s.options.Skip == 0 && len(s.options.HeaderRows) == 0 {
		var size int
		r.comment, size, last = commentLines(s.text)
		lines = charset.CountLines(s.text[:size])
		s.text, s.line = s.text[size:], s.line+lines
	}
	d := r.d
	d.Comment = cmp.Or(d.Comment, r.comment)
	best, why := s.detect(d), "they begin with "+r.comment
	best.dialect.Comment = r.d.Comment // a record may begin like the comments
	switch {
	case best.start > 0:
		why = "they are above the table"
		header := best.records[best.start].Line
		if lines = header - from; r.comment == "" {
			r.headerRows = []int{header}
		}
	case r.comment != "" && isHeader(last, best):
		if lines--; lines == 0 {
			r.comment = ""
		}
		best.records = nil // the header is known
	}
	if lines > 0 {
		_ = r.skipTo(from + lines) // the lines are in the sample, so skipping them cannot fail
		r.note("lines skipped because %s: %d, from line %d", why, lines, from)
	}
	return best
}

// commentLines returns the prefix of the comment lines at the start of a text, "" if there are none or only these, their size and
// the last of them.
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

// isHeader reports whether a comment line names the columns of the table below it.
func isHeader(line []byte, table reading) bool {
	if len(table.records) < 2 {
		return false
	}
	s := sample{text: line, all: true, line: 1}
	names := s.split(table.dialect)
	switch width := len(table.records[0].Cells); {
	case len(names.records) != 1 || names.header != width:
		return false
	case names.records[0].IsTags():
		return true
	case width == 1:
		return len(line) > 1 && line[1] != ' ' && line[1] != line[0]
	}
	v := detectHeader(table.records[0].Cells, table.records[1:])
	return v == headerNo || v == headerUnclear && !s.isProse(table.dialect)
}

func (r *reader) readHeader(best reading) error {
	o := r.options
	isDetected := o.Header == rows.HeaderDetect && len(o.HeaderRows) == 0
	table := layout.WithoutNotes(best.records[best.start:]) // the sample; the header is first
	if isDetected && o.Skip == 0 && !best.rowNames && len(table) > 0 && detectHeader(table[0].Cells, table[1:]) == headerNo {
		r.note("no header: line %d has values like the lines below it; use --header %d if it names the columns", table[0].Line, table[0].Line)
		o.Header = rows.HeaderNone
	}
	if o.Header == rows.HeaderNone {
		return r.nameColumns(best)
	}
	lines, size, names := o.HeaderRows, 1, []string(nil)
	if !best.rowNames {
		size, names = groupNames(table, o, isDetected)
	}
	if names != nil && isDetected {
		for _, h := range table[:size] {
			lines = append(lines, h.Line)
		}
		r.headerRows = lines
	}
	if len(lines) == 0 {
		lines = []int{0} // the first record
	}
	for _, line := range lines {
		if err := r.headerRecord(line); err != nil {
			return err
		}
	}
	for i, name := range names {
		r.header[i].Name = name
	}
	if names != nil && isDetected {
		r.notes = append(r.notes, layout.GroupNote("line", table[:size], r.header))
	}
	if r.rowNames = best.rowNames; r.rowNames {
		r.addRowNames()
	}
	if len(table) > 0 && (len(lines) == 1 || names != nil) {
		r.body.Header = layout.UniqueHeader(table[:size], table[size:])
	}
	if len(table) > 0 && isDetected && r.body.Detect(r.header, table[size:]) {
		return r.readRecord() // skips the units
	}
	return nil
}

// groupNames returns the number of records that name the columns together, and the names. Without such records, the number
// is 1. They must be those of the options, unless they are detected.
func groupNames(table []layout.Row, o rows.Options, isDetected bool) (size int, names []string) {
	isGiven := func(line int, h layout.Row) bool { return line == h.Line }
	for n := min(layout.MaxHeader, len(table)-1); n > 1; n-- {
		if isDetected || slices.EqualFunc(o.HeaderRows, table[:n], isGiven) {
			if names := layout.Groups(table[:n], table[n:], nil, o.HeaderJoin); names != nil {
				return n, names
			}
		}
	}
	return 1, nil
}

// headerRecord appends the names in the record at a line, 0 for the next one, to those above.
func (r *reader) headerRecord(line int) error {
	err := r.skipTo(line)
	if err == nil {
		err = r.readRecord()
	}
	switch {
	case err == io.EOF && line == 0:
		return herb.Invalidf("the file is empty; its first line must name the columns")
	case err == io.EOF || err == nil && line > 0 && r.record.Line != line:
		return herb.Invalidf("line %d, which names the columns, is blank, a comment, or within a record", line)
	case err != nil:
		return err
	}
	r.headerLine = r.record.Line
	for i, cell := range r.record.Cells {
		if i == len(r.header) {
			r.header = append(r.header, rows.Column{})
		}
		r.header[i].Name = layout.JoinName(r.header[i].Name, strings.TrimSpace(string(cell)), r.options.HeaderJoin)
	}
	return nil
}

func (r *reader) addRowNames() {
	name := "row"
	for n := 2; slices.ContainsFunc(r.header, func(c rows.Column) bool { return c.Name == name }); n++ {
		name = "row_" + strconv.Itoa(n)
	}
	r.header = slices.Insert(r.header, 0, rows.Column{Name: name})
	r.note("the header has one name fewer than there are columns; the first column is called %q", name)
}

// nameColumns names the columns of a text without a header by Options.Names if they suffice for the first record, else by number.
func (r *reader) nameColumns(best reading) error {
	names, width := r.options.Names, 0
	err := r.readRecord()
	if err != nil && err != io.EOF {
		return err
	}
	if r.pending = err == nil; r.pending {
		width = max(len(r.record.Cells), best.commonWidth())
	}
	if len(names) < width {
		names = nil
	}
	for i := len(names); i < width; i++ {
		names = append(names, "column_"+strconv.Itoa(i+1))
	}
	for _, name := range names {
		r.header = append(r.header, rows.Column{Name: name})
	}
	return nil
}

type verdict int

const (
	headerUnclear verdict = iota
	headerYes             // a column has numbers or dates below something else
	headerNo              // the first record has the same kinds of values as the others
)

// detectHeader decides whether the first record names the columns of the others.
func detectHeader(first [][]byte, others []layout.Row) verdict {
	isTyped, isCommon := false, false // some column has numbers or dates, also in the first record; most records have one of its texts
	texts, recurring := 0, 0
	different := slices.DeleteFunc(slices.Clone(others), func(r layout.Row) bool { return slices.EqualFunc(first, r.Cells, bytes.Equal) })
	below := others
	if len(different) > 0 && hasKind(layout.Row{Cells: first}, layout.Text) {
		below = layout.WithoutUnits(different) // the header may be repeated
	}
	for i, name := range first {
		k, n := layout.ColumnKind(below, i)
		switch nameKind := layout.KindOf(name); {
		case n == 0 || nameKind == layout.Missing:
		case k == layout.Text && nameKind == layout.Text && len(different) > 1 && isCode(name, different, i):
			return headerNo
		case k == layout.Text && nameKind == layout.Text:
			equal := 0
			for _, r := range different {
				if i < len(r.Cells) && bytes.Equal(r.Cells[i], name) {
					equal++
				}
			}
			if texts++; equal > 0 {
				recurring++
			}
			isCommon = isCommon || equal > 1 && 2*equal > len(different)
		case k == layout.Text:
		case k == nameKind:
			isTyped = true
		default:
			return headerYes
		}
	}
	isNull := func(c []byte) bool { return string(c) == `\N` } // of MySQL and PostgreSQL, which is no name
	if len(others) > 1 && (isTyped && !areNames(first, below) || isCommon || recurring >= 2 && 10*recurring >= 7*texts || slices.ContainsFunc(first, isNull)) {
		return headerNo
	}
	return headerUnclear
}

// isCode reports whether a value and all values of a column below it are codes that look alike, such as RO1-0001: each has
// letters and digits, three of them at least, at the same positions.
func isCode(value []byte, below []layout.Row, column int) bool {
	shape := shapeOf(value)
	isOther := func(r layout.Row) bool { return column >= len(r.Cells) || shapeOf(r.Cells[column]) != shape }
	return strings.Count(shape, "0") > 2 && strings.Contains(shape, "a") && !slices.ContainsFunc(below, isOther)
}

// shapeOf replaces each letter of a value by a and each digit by 0.
func shapeOf(value []byte) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r):
			return 'a'
		case unicode.IsDigit(r):
			return '0'
		}
		return r
	}, string(value))
}

// areNames reports whether numbers in the first record may be names: consecutive ones, years above other numbers, or three
// that increase by column above others that do not.
func areNames(first [][]byte, others []layout.Row) bool {
	names, ok := integers(first)
	last := len(names) - 1
	repeats := func(r layout.Row) bool { n, _ := integers(r.Cells); return slices.Equal(n, names) }
	if last < 0 || !isIncreasing(names) || slices.ContainsFunc(others, repeats) {
		return false
	}
	if names[last] == names[0]+last && (last > 1 || ok && last == 1 && names[0] <= 1) {
		return true
	}
	differ := func(test func([]int) bool) bool {
		return slices.ContainsFunc(others, func(r layout.Row) bool { n, ok := integers(r.Cells); return !ok || !test(n) })
	}
	return ok && (areYears(names) && differ(areYears) || last > 1 && differ(isIncreasing))
}

// integers returns the integers in a record, and whether all numbers and dates are such.
func integers(record [][]byte) (numbers []int, ok bool) {
	ok = true
	for _, cell := range record {
		if layout.KindOf(cell)&(layout.Number|layout.Date) == 0 {
			continue
		}
		n, err := strconv.Atoi(string(bytes.TrimSpace(cell)))
		if ok = ok && err == nil && n >= 0; ok {
			numbers = append(numbers, n)
		}
	}
	return numbers, ok
}

func areYears(numbers []int) bool {
	return !slices.ContainsFunc(numbers, func(n int) bool { return n < 1000 || n >= 3000 })
}

func isIncreasing(numbers []int) bool {
	return slices.IsSorted(numbers) && len(slices.Compact(slices.Clone(numbers))) == len(numbers)
}
