package table

import (
	"bytes"
	"cmp"
	"io"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/value"
)

// Limits of the rows that are held until it is known whether they are footnotes.
const (
	maxHeld     = 200
	maxFootnote = 4 << 10 // bytes
)

// Body yields the records below a header, without rows that have no value, repeat the header, or
// are footnotes.
type Body struct {
	report    *herb.Layout      // collects the rows that are left out
	header    []Row             // rows of the header that no record is equal to
	footnotes *footnoteDetector // nil: none are recognized
	stack     *stack            // nil: other tables are not recognized
	records   int               // number of rows so far that cannot be footnotes
	held      []Row             // rows that may be footnotes, until a record or the end follows
	ready     []Row             // records to return before the next row is read
	end       error             // io.EOF after the last row was read
	notes     []Row             // footnotes
	terms     []rows.Term       // evidence for the first of these
}

// NewBody returns the body of a table with a number of columns. It adds the rows that it leaves out
// to report. isGiven means that the user gave the header. Then footnotes are not recognized, so
// that a user can keep rows that look like footnotes.
func NewBody(s Sample, l Header, columns int, isGiven bool, report *herb.Layout) *Body {
	b := &Body{report: report}
	if !l.Exists() || len(s.Rows) < l.End {
		return b
	}
	header := s.Rows[l.First:l.End]
	sample := WithoutNotes(FirstTable(s.Rows[l.End-1], s.Rows[l.End:]))
	if len(header) == 1 || l.Names != nil {
		b.header = uniqueRows(header, sample)
	}
	if !isGiven {
		b.footnotes = newFootnoteDetector(sample, columns)
		b.stack = newStack(header, s.Rows[l.End:])
	}
	return b
}

// Next returns the next record. It calls read for the rows below the header.
func (b *Body) Next(read func() (Row, error)) (Row, error) {
	for len(b.ready) == 0 {
		if b.end != nil {
			return Row{}, b.end
		}
		row, isNew, err := Row{}, false, error(nil)
		if b.stack == nil {
			row, err = read()
		} else {
			row, isNew, err = b.stack.next(read)
		}
		switch {
		case isNew && b.records > 0:
			b.finish()
			b.end = cmp.Or(b.stack.leaveOut(row, read, b.report), b.end)
		case err == io.EOF:
			b.finish()
		case err != nil:
			return Row{}, err
		case row.Blank && (b.footnotes == nil || b.records < minRecords):
			b.leaveOut(row, "no value")
		case slices.ContainsFunc(b.header, row.equals):
			b.leaveOut(row, "repeats the header")
		case b.footnotes != nil && b.records >= minRecords && b.footnotes.mayBeFootnote(row):
			b.held = append(b.held, row.Clone())
			if len(b.held) > maxHeld {
				b.footnotes = nil
				b.release()
			}
		case len(b.held) == 0:
			b.records++
			return row, row.Invalid
		default:
			b.records++
			b.release()
			b.ready = append(b.ready, row) // returned before the next row is read
		}
	}
	next := b.ready[0]
	b.ready = b.ready[1:]
	return next, next.Invalid
}

func (b *Body) leaveOut(row Row, reason string) {
	b.report.LeaveOut(row.Line, reason, row.Text())
}

// release moves the held rows to ready, because they are no footnotes. Those without a value are
// left out.
func (b *Body) release() {
	if b.footnotes != nil {
		b.footnotes.observe(b.held)
	}
	for _, r := range b.held {
		if r.Blank {
			b.leaveOut(r, "no value")
		} else {
			b.ready = append(b.ready, r)
		}
	}
	b.held = nil
}

// finish separates the footnotes at the end of the table from records.
func (b *Body) finish() {
	b.end = io.EOF
	if b.footnotes == nil {
		return
	}
	start, terms := b.footnotes.index(b.held)
	if len(b.held)-start > b.records { // a table has more records than footnotes
		start, terms = len(b.held), nil
	}
	notes := b.held[start:]
	b.held = b.held[:start]
	b.release()
	for _, r := range notes {
		if r.Blank {
			b.leaveOut(r, "no value")
		} else {
			b.leaveOut(r, herb.Footnote)
		}
	}
	b.notes, b.terms = notes, terms
}

// leftOutLines returns the lines of the footnotes and of other tables.
func (b *Body) leftOutLines() (lines []int) {
	for _, r := range b.notes {
		for line := r.Line; line <= max(r.Line, r.End); line++ {
			lines = append(lines, line)
		}
	}
	if b.stack != nil {
		lines = append(lines, b.stack.lines...)
	}
	return lines
}

// uniqueRows returns the rows of a header that no record can be equal to. Such a row has several
// names, and one is above numbers or dates; or it has three names or occurs three times, and no
// other row has one of the names.
func uniqueRows(header, below []Row) (unique []Row) {
	isHeader := func(r Row) bool { return slices.ContainsFunc(header, r.equals) }
	others := slices.DeleteFunc(slices.Clone(below), isHeader)
	for _, h := range header {
		names, isContrast := map[string]bool{}, false
		for c, name := range h.Cells {
			if h.kind(c) == value.Text {
				names[string(bytes.TrimSpace(name))] = true
				k, n := ColumnKind(others, c)
				isContrast = isContrast || n > 0 && k != value.Text
			}
		}
		isName := func(c []byte) bool { return names[string(bytes.TrimSpace(c))] }
		recurs := slices.ContainsFunc(others, func(r Row) bool { return slices.ContainsFunc(r.Cells, isName) })
		if len(names) > 1 && len(others) > 0 &&
			(isContrast || !recurs && (len(names) > 2 || len(below)-len(others) > 1)) {
			unique = append(unique, h)
		}
	}
	return unique
}
