package review

import (
	"bytes"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
)

// Limits of the rows that a review shows.
const (
	firstRows   = 25
	lastRows    = 5
	markedRows  = 15     // with values that prevent a type
	leftOutRows = 40     // that are left out: the first ones, and half as many of the last
	maxCells    = 24_000 // of all rows
	minRows     = 8      // however many columns there are
	maxCell     = 120    // characters
	maxText     = 1 << 20
)

// sample chooses the rows that a review shows.
type sample struct {
	table    *ingest.Table
	contents *contents
	edits    Edits
	columns  int
	width    int // characters of a cell
	first    int // rows of the start
	last     int
	marked   int // rows that may still be shown because of their values

	total   int // rows of the table
	count   int // of these, so far
	left    []Row
	shown   []shownRow
	missing map[int][]string // signs of missing values, by column
}

// shownRow is a row with its place in the file.
type shownRow struct {
	Row
	order   int  // number in the file
	before  int  // rows of the table before it
	inTable bool // it is a row of the table
}

func newSample(t *ingest.Table, f *contents, e Edits) *sample {
	s := &sample{table: t, contents: f, edits: e, columns: len(f.Columns), first: firstRows, last: lastRows,
		marked: markedRows, missing: map[int][]string{}}
	s.total = t.Dataset.Report.Rows
	if total := max(minRows, maxCells/max(1, s.columns)); total < firstRows+lastRows+markedRows {
		s.first, s.last = max(1, total*firstRows/(firstRows+lastRows+markedRows)),
			max(1, total*lastRows/(firstRows+lastRows+markedRows))
		s.marked = max(1, total-s.first-s.last)
	}
	s.width = min(maxCell, max(minRows, maxText/max(1, s.columns*(s.first+s.last+s.marked))))
	for _, field := range f.Fields {
		s.missing[field.Column] = field.Notation.Missing
	}
	s.left = s.leftRows()
	return s
}

// leftRows returns the header and the rows that are left out, in the order of the file.
func (s *sample) leftRows() (left []Row) {
	l := s.table.Dataset.Report.Layout
	for _, r := range slices.Concat(l.Rows, l.Dropped) {
		left = append(left, Row{
			Kind: RowLeftOut, Number: r.Row, Reason: r.Reason, Text: r.Text,
			Edited: slices.Contains(s.edits.Drop, r.Row),
		})
	}
	slices.SortStableFunc(left, func(a, b Row) int { return a.Number - b.Number })
	left = slices.CompactFunc(left, func(a, b Row) bool { return a.Number == b.Number })
	if len(left) > leftOutRows+leftOutRows/2 {
		left = slices.Concat(left[:leftOutRows], left[len(left)-leftOutRows/2:])
	}
	header := l.Header
	if len(header) == 0 && l.Unit == "" {
		header = []int{0} // the format names the columns
	}
	for i, number := range header {
		row := Row{Kind: RowHeader, Number: number, Edited: s.edits.HeaderRows != nil}
		names := s.contents.Columns
		if len(header) > 1 && i < len(l.HeaderCells) { // which name the columns together
			names = l.HeaderCells[i][:min(len(l.HeaderCells[i]), s.columns)]
		}
		for _, name := range names {
			row.Cells = append(row.Cells, herb.Clip(name, s.width))
		}
		left = append(left, row)
	}
	slices.SortStableFunc(left, func(a, b Row) int { return a.Number - b.Number })
	return left
}

// add adds a row of the table. marked are the columns whose values prevent a type, if it should be
// shown.
func (s *sample) add(row ingest.SourceRow, marked []int) {
	for len(s.left) > 0 && s.left[0].Number < row.Number {
		s.shown = append(s.shown, shownRow{Row: s.left[0], order: s.left[0].Number, before: s.count})
		s.left = s.left[1:]
	}
	isMarked := len(marked) > 0 && s.marked > 0
	if s.count < s.first || s.count >= s.total-s.last || isMarked {
		s.shown = append(s.shown, s.row(row, marked))
		if isMarked {
			s.marked--
		}
	}
	s.count++
}

// row returns a row of the table.
func (s *sample) row(r ingest.SourceRow, marked []int) shownRow {
	row := Row{Kind: RowRecord, Number: r.Number, Cells: make([]string, s.columns),
		Edited: slices.Contains(s.edits.Keep, r.Number)}
	if r.Excluded {
		row.Kind, row.Reason, row.ByValue = RowLeftOut, "excluded by its values", true
	}
	lines := 0 // besides the first
	for i, c := range r.Cells[:min(len(r.Cells), s.columns)] {
		row.Cells[i] = herb.Clip(string(c[:min(len(c), 4*s.width)]), s.width)
		if len(c) > 0 && (s.table.IsMissing(i, c) || slices.Contains(s.missing[i], string(bytes.TrimSpace(c)))) {
			if row.Missing == nil {
				row.Missing = make([]bool, s.columns)
			}
			row.Missing[i] = true
		}
		lines += lineBreaks(c)
	}
	if lines > 0 && s.contents.Unit == "line" {
		s.contents.Spans[r.Number] = r.Number + lines
	}
	for _, i := range marked {
		if row.Marked == nil {
			row.Marked = make([]bool, s.columns)
		}
		row.Marked[i] = true
	}
	return shownRow{row, r.Number, s.count, true}
}

// finish returns the rows, with gaps.
func (s *sample) finish() (rows []Row) {
	for _, r := range s.left {
		s.shown = append(s.shown, shownRow{Row: r, order: r.Number, before: s.count})
	}
	after := 0 // rows of the table up to the last one
	for _, r := range s.shown {
		if hidden := r.before - after; hidden > 0 {
			rows = append(rows, Row{Kind: RowGap, Count: hidden})
		}
		after = r.before
		if r.inTable {
			after++
		}
		if s.contents.Unit == "" {
			r.Number = 0
		}
		rows = append(rows, r.Row)
	}
	if hidden := s.count - after; hidden > 0 {
		rows = append(rows, Row{Kind: RowGap, Count: hidden})
	}
	return rows
}

// lineBreaks counts the line breaks of a value.
func lineBreaks(value []byte) int {
	return bytes.Count(value, []byte("\n")) + bytes.Count(value, []byte("\r")) - bytes.Count(value, []byte("\r\n"))
}
