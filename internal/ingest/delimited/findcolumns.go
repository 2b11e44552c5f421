package delimited

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"herbarium/internal/ingest/kind"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/table"
)

// Limits of the lines in which columns of fixed width are looked for.
const (
	maxFixedLines = 2_000
	maxFixedWidth = 4_000 // characters of a line
	maxFixedAbove = 20    // lines above the records
	maxFixedBelow = 10    // lines below the records
	minFixedLines = 3
)

// textLine is a line that is not blank.
type textLine struct {
	number int
	gap    bool // a blank line or a ruler is above it
	filled []bool
}

// isFilled reports whether a line has a value at a character.
func (l textLine) isFilled(i int) bool { return i >= 0 && i < len(l.filled) && l.filled[i] }

// crosses reports whether a value crosses the boundary of two columns.
func (l textLine) crosses(starts []int) bool {
	return slices.ContainsFunc(starts, func(at int) bool { return l.isFilled(at-1) && l.isFilled(at) })
}

// blankGap is a range of characters that are blank in all records, left of a column.
type blankGap struct{ start, end, columnEnd int }

// indent returns the number of blanks between a gap and the value right of it, -1 if there is none.
func (l textLine) indent(g blankGap) int {
	for i := g.end; i < min(g.columnEnd, len(l.filled)); i++ {
		if l.filled[i] {
			return i - g.end
		}
	}
	return -1
}

// foundColumns are columns of fixed width that were found in a sample.
type foundColumns struct {
	dialect  dialect
	isRuled  bool // a ruler shows them
	isSpaced bool // at least two blanks are between all columns, in all lines
	lines    int  // that fit them
	aligned  bool // the values of all columns but the first begin at the same characters
}

// findColumns looks for columns of fixed width, which a ruler shows, or characters that are blank
// in all records. It finds none if lines have tabs, because their width is not known.
func (s sample) findColumns(d dialect) (found foundColumns, ok bool) {
	lines, ruler, isShort := s.textLines(d)
	if !isShort {
		return found, false
	}
	if starts, first, n := ruledColumns(lines, ruler); n > 0 {
		return s.found(d, lines, starts, first, foundColumns{isRuled: true, lines: n}), true
	}
	gaps, records := blankColumns(lines)
	if len(gaps) == 0 || len(gaps) >= rows.MaxColumns || records.end-records.start < minFixedLines {
		return found, false
	}
	found = foundColumns{isSpaced: true, lines: records.end - records.start, aligned: true}
	var starts []int
	for _, g := range gaps {
		at := boundary(lines[records.start:records.end], g)
		starts = append(starts, at)
		found.isSpaced = found.isSpaced && g.end-g.start > 1
		found.aligned = found.aligned && at == g.end
	}
	return s.found(d, lines, starts, lines[records.start].number, found), true
}

// found completes columns, which begin at the first character and at starts.
func (s sample) found(d dialect, lines []textLine, starts []int, first int, f foundColumns) foundColumns {
	longest := 0
	for _, l := range lines {
		longest = max(longest, len(l.filled))
	}
	widths, last := []int(nil), 0
	for _, at := range starts {
		widths, last = append(widths, at-last), at
	}
	f.dialect = d.withWidths(append(widths, max(1, longest-last)))
	f.dialect.firstRecord = first
	return f
}

// textLines returns the lines of the sample without blank lines, comments and rulers, and the last
// ruler with several runs above the records, as an index of lines and the characters that it fills.
// It reports false if columns are not looked for.
func (s sample) textLines(d dialect) (lines []textLine, ruler textLine, ok bool) {
	fixed := d.withWidths([]int{1})
	gap := false
	if len(s.ruler) > 0 {
		ruler = newTextLine(s.ruler)
	}
	for rest, number := s.text, s.line; len(rest) > 0 && len(lines) < maxFixedLines; number++ {
		line, after, found := cutLine(rest)
		if !found && !s.all && len(lines) > 0 {
			break // it may be incomplete
		}
		rest = after
		_, isExcluded := slices.BinarySearch(d.CommentRows, number)
		switch {
		case isExcluded || d.Comment != "" && bytes.HasPrefix(line, []byte(d.Comment)):
			continue
		case len(line) > maxFixedWidth*utf8.UTFMax || bytes.IndexByte(line, '\t') >= 0:
			return nil, ruler, false
		case fixed.isRuler(line):
			if r := newTextLine(line); len(lines) <= maxFixedAbove && len(r.columnStarts()) > 0 && (ruler.filled == nil || ruler.number == 0) {
				ruler, ruler.number = r, len(lines)
			}
			gap = true
			continue
		case len(bytes.TrimSpace(line)) == 0:
			gap = true
			continue
		}
		l := newTextLine(line)
		if len(l.filled) > maxFixedWidth {
			return nil, ruler, false
		}
		l.number, l.gap, gap = number, gap, false
		lines = append(lines, l)
	}
	return lines, ruler, true
}

func newTextLine(line []byte) (l textLine) {
	for line = bytes.TrimRight(line, padding); len(line) > 0; {
		c, size := utf8.DecodeRune(line)
		l.filled = append(l.filled, c != ' ')
		line = line[size:]
	}
	return l
}

// columnStarts returns the characters after which the runs of a ruler begin, without the first run.
func (l textLine) columnStarts() (starts []int) {
	begun := false
	for i, filled := range l.filled {
		if filled && !l.isFilled(i-1) && begun {
			starts = append(starts, i)
		}
		begun = begun || filled
	}
	return starts
}

// ruledColumns returns the columns that a ruler shows, the line of the first record, and the number
// of records in the sample. That is 0 if there is no ruler or a record does not fit.
func ruledColumns(lines []textLine, ruler textLine) (starts []int, first, n int) {
	starts = ruler.columnStarts()
	if len(starts) == 0 || ruler.number >= len(lines) {
		return nil, 0, 0
	}
	end := lastFitting(lines, starts)
	if end <= ruler.number || slices.ContainsFunc(lines[ruler.number:end], func(l textLine) bool { return l.crosses(starts) }) {
		return nil, 0, 0
	}
	return starts, lines[ruler.number].number, end - ruler.number
}

// lastFitting returns the end of the lines without the last ones that do not fit columns. These may
// be footnotes.
func lastFitting(lines []textLine, starts []int) int {
	end := len(lines)
	for end > 0 && len(lines)-end < maxFixedBelow && lines[end-1].crosses(starts) {
		end--
	}
	return end
}

// blankColumns returns the gaps between columns, and the lines that have them. Lines above and
// below records may be titles, names that are wider than their columns, and footnotes. So the lower
// half of the lines shows the gaps, and the lines above it narrow them unless they fill a gap.
func blankColumns(lines []textLine) (gaps []blankGap, records span) {
	above := min(maxFixedAbove, len(lines)/2)
	for below := range min(maxFixedBelow, len(lines)/3) + 1 {
		end := len(lines) - below
		if below > 3 && !lines[end].gap || end-above < 2 {
			continue
		}
		if found := commonGaps(lines[above:end]); len(found) > len(gaps) {
			gaps, records = found, span{start: above, end: end}
		}
	}
	for records.start > 0 && len(gaps) > 0 {
		narrower, ok := lines[records.start-1].narrow(gaps)
		if !ok {
			break
		}
		gaps = narrower
		records.start--
	}
	return gaps, records
}

// narrow returns what remains of gaps that have values of a line. It reports false if a value fills
// a gap.
func (l textLine) narrow(gaps []blankGap) (narrower []blankGap, ok bool) {
	for _, g := range gaps {
		longest, start := blankGap{}, g.start
		for i := g.start; i <= g.end; i++ {
			if i < g.end && !l.isFilled(i) {
				continue
			}
			if i-start > longest.end-longest.start {
				longest = blankGap{start, i, g.columnEnd}
			}
			start = i + 1
		}
		if longest.end == longest.start {
			return nil, false
		}
		narrower = append(narrower, longest)
	}
	return narrower, true
}

// commonGaps returns the characters that are blank in all records and separate columns: at least
// two, or one that is padding.
func commonGaps(records []textLine) (gaps []blankGap) {
	width := 0
	for _, r := range records {
		width = max(width, len(r.filled))
	}
	used := make([]bool, width)
	for _, r := range records {
		for i, filled := range r.filled {
			used[i] = used[i] || filled
		}
	}
	var blank []blankGap
	for i := max(0, slices.Index(used, true)); i < width; i++ {
		if used[i] {
			continue
		}
		g := blankGap{start: i, columnEnd: width}
		for i < width && !used[i] {
			i++
		}
		if g.end = i; len(blank) > 0 {
			blank[len(blank)-1].columnEnd = g.start
		}
		blank = append(blank, g)
	}
	return slices.DeleteFunc(blank, func(g blankGap) bool { return g.end-g.start == 1 && !isPaddingGap(records, g) })
}

// isPaddingGap reports whether a single character that is blank in all records is padding rather
// than between words: of the records with a value right of it, at least two and at least half have
// several blanks there.
func isPaddingGap(records []textLine, gap blankGap) bool {
	padded, single := 0, 0
	for _, r := range records {
		switch indent := r.indent(gap); {
		case indent < 0:
		case indent > 0 || !r.isFilled(gap.start-1):
			padded++
		default:
			single++
		}
	}
	return padded > 1 && padded >= single
}

// boundary returns where the column right of a gap begins. Values of a column that is aligned at
// the right may be longer in other records.
func boundary(records []textLine, gap blankGap) int {
	isLeft, isRight := true, true // whether the right column is aligned at the left, and the left one at the right
	for _, r := range records {
		isLeft = isLeft && r.indent(gap) <= 0
		isRight = isRight && r.isFilled(gap.start-1)
	}
	switch {
	case isLeft:
		return gap.end
	case isRight:
		return gap.start + 1
	}
	return max(gap.start+1, (gap.start+gap.end+1)/2)
}

// isTable reports whether columns that were found make a table: a ruler shows them, or some column
// has numbers or dates only, or many lines of text are aligned.
func (f foundColumns) isTable(r reading) bool {
	if f.isRuled {
		return r.total > 0
	}
	records := r.records[r.found.End:]
	for c := range f.dialect.Widths {
		if k, n := table.ColumnKind(table.WithoutNotes(records), c); n > 1 && k != kind.Text {
			return true
		}
	}
	const manyLines = 10
	return f.lines >= manyLines && f.isSpaced && f.aligned && r.found.Exists()
}

// isBetter reports whether columns of fixed width, in the reading r, are more likely than a
// delimiter: there are more columns, with at least two blanks between them unless the delimiter
// splits few lines, and the delimiter is always within a value.
func (f foundColumns) isBetter(r, than reading) bool {
	d := than.dialect.Delimiter
	isSplit := 2*than.fitting >= than.total
	if d == '\t' || than.quoted > 0 || isSplit && !f.isSpaced || r.header <= than.header {
		return false
	}
	for _, rec := range r.records {
		for _, c := range rec.Cells {
			if len(c) > 0 && (c[0] == d || c[len(c)-1] == d) {
				return false
			}
		}
	}
	return true
}
