package table

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/value"
)

// Limits of the rows below a blank row that are examined.
const (
	maxBlock  = 20 // rows
	maxTitles = 3  // rows of one value above a header
)

// stack recognizes the tables that follow a table in the same file, below a blank row:
//
//	Minister | Date    | Organisation
//	A. Lee   | Oct-14  | Tearfund
//
//	Travel                                        the title of the next table
//	Minister | Dates   | Destination  | Cost      its header
//	A. Lee   | 28 Nov  | Berlin       | 825.84
type stack struct {
	names  Row   // that the header gives; Cells lack the last, empty ones
	first  []Row // below the header, up to a blank row
	isGap  bool  // the row before the next one has no value
	queue  []Row // rows that were read ahead
	known  int   // number of rows in queue that do not begin a table
	err    error // after the queue
	others []Row // first row of each of the other tables
	lines  []int // of these tables
}

// newStack returns the stack of a table with a header and the rows below it.
func newStack(header, below []Row) *stack {
	s := &stack{names: header[len(header)-1]}
	s.names.Cells = s.names.Cells[:s.names.Width()]
	end := 0
	for end < len(below) && !below[end].Blank && (end == 0 || !below[end].Gap) {
		end++
	}
	s.first = below[:end]
	return s
}

// next returns the next row. isNew means that it begins another table.
func (s *stack) next(read func() (Row, error)) (row Row, isNew bool, err error) {
	row, err = s.take(read)
	if err != nil {
		return row, false, err
	}
	isKnown := s.known > 0
	s.known = max(0, s.known-1)
	isGap := s.isGap || row.Gap
	isFirst := len(row.Cells) > 0 && isFilled(row.Cells[0]) // most rows have a first value
	s.isGap = !isFirst && row.Filled() == 0
	if s.isGap || isKnown || !isGap {
		return row, false, nil
	}
	row = row.Clone()
	block := []Row{row}
	for len(block) < maxBlock {
		var r Row
		r, s.err = s.take(read)
		if s.err != nil {
			break
		}
		block = append(block, r.Clone())
		if r.Gap || r.Filled() == 0 {
			break
		}
	}
	s.queue = slices.Concat(block[1:], s.queue)
	end := len(block)
	if last := block[end-1]; end > 1 && (last.Gap || last.Filled() == 0) {
		end--
	}
	s.known = end - 1
	return row, s.begins(block[:end]), nil
}

// take returns the next row of the queue, or else reads one.
func (s *stack) take(read func() (Row, error)) (row Row, err error) {
	if len(s.queue) > 0 {
		row, s.queue = s.queue[0], s.queue[1:]
		return row, nil
	}
	if s.err != nil {
		return Row{}, s.err
	}
	return read()
}

// begins reports whether rows below a blank row are another table. Below at most three titles, a
// row of different texts names columns that all rows below it fit, and no record of this table can
// be equal to it: it has more values than this table has columns; or it has another number of
// values, or many of the same names, above numbers or dates; or it has texts in all columns that
// have numbers or dates, at least two. A row equal to the header begins no other table.
func (s *stack) begins(block []Row) bool {
	title := 0
	for title < min(maxTitles, len(block)) && block[title].Filled() == 1 && len(block[title].cell(0)) > 0 {
		title++
	}
	if title+1 >= len(block) {
		return false
	}
	names, below := block[title], block[title+1:]
	if names.equals(s.names) || !areDistinctTexts(names) {
		return false
	}
	width, known, typed, misfits, contrasts := names.Width(), 0, 0, 0, 0
	for c := range min(width, maxColumns) {
		name := names.cell(c)
		isText := names.kind(c) == value.Text
		isKnown := func(other []byte) bool { return bytes.Equal(bytes.TrimSpace(other), name) }
		if len(name) > 0 && slices.ContainsFunc(s.names.Cells, isKnown) {
			known++
		}
		if k, n := ColumnKind(s.first, c); n > 0 && k != value.Text {
			typed++
			if isText {
				misfits++
			}
		}
		if k, n := ColumnKind(below, c); isText && n > 0 && k != value.Text && (n > 1 || len(below) == 1) {
			contrasts++
		}
	}
	isWider := func(r Row) bool { return r.Width() > width }
	if slices.ContainsFunc(below, isWider) || !slices.ContainsFunc(below, func(r Row) bool { return r.Filled() > 1 }) {
		return false
	}
	isOther := width != len(s.names.Cells)
	switch {
	case width > len(s.names.Cells):
		return contrasts > 0 || title > 0 || known > 1
	case isOther || 2*known >= names.Filled():
		return contrasts > 0
	}
	return typed > 1 && misfits == typed && contrasts > 0
}

// areDistinctTexts reports whether a row has at least two values, all of them different, which are
// texts or years.
func areDistinctTexts(r Row) bool {
	seen, hasText := map[string]bool{}, false
	for c := range r.Cells {
		text := string(r.cell(c))
		if text == "" {
			continue
		}
		isText := r.kind(c) == value.Text
		if seen[text] || !isText && !isYear(r.cell(c)) {
			return false
		}
		seen[text], hasText = true, hasText || isText
	}
	return len(seen) > 1 && hasText
}

// FirstTable returns the rows below a header without those of other tables, and without less than
// half of them below a blank row that are all narrower than the header.
func FirstTable(header Row, below []Row) []Row {
	s, rest := newStack([]Row{header}, below), below
	read := func() (Row, error) {
		if len(rest) == 0 {
			return Row{}, io.EOF
		}
		row := rest[0]
		rest = rest[1:]
		return row, nil
	}
	n := 0
	for _, isNew, err := s.next(read); err == nil && (!isNew || n == 0); _, isNew, err = s.next(read) {
		n++
	}
	end := n
	for end > 0 && len(below[end-1].Cells) < len(s.names.Cells) {
		end--
	}
	if end < n && below[end].Gap && 2*end > n {
		return below[:end]
	}
	return below[:n]
}

// leaveOut leaves out the other tables, of which row is the first row.
func (s *stack) leaveOut(row Row, read func() (Row, error), report *herb.Layout) error {
	for isNew := true; ; {
		if isNew {
			s.others = append(s.others, row)
		}
		for line := row.Line; line <= max(row.Line, row.End); line++ {
			s.lines = append(s.lines, line)
		}
		if row.Filled() > 0 {
			report.LeaveOut(row.Line, herb.OtherTable, row.Text())
		}
		var err error
		row, isNew, err = s.next(read)
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// note names the other tables, of which there are some, for the publisher.
func (s *stack) note(unit string) string {
	const shown, maxText = 5, 60
	text := ""
	for i, r := range s.others[:min(len(s.others), shown)] {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s %d (%s)", unit, r.Line, herb.Clip(r.Text(), maxText))
	}
	if more := len(s.others) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("only the first of %d tables is published; others begin at %s; set skip=%d to publish the "+
		"next one",
		1+len(s.others), text, s.others[0].Line-1)
}
