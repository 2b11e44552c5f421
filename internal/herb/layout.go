package herb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxLeftOut is the number of rows that a Layout lists.
const maxLeftOut = 1_000

// Layout says which rows of a source are not records: those that name the columns, and those that
// are left out because they are neither names nor records. It is zero for formats with a schema.
type Layout struct {
	Unit   string `json:"unit,omitempty"`   // what the format calls a row: "line", "row" or "array"
	Header []int  `json:"header,omitempty"` // rows of the first file that name the columns, from 1
	Given  bool   `json:"given,omitempty"`  // the settings say which rows name the columns
	// why the header may be wrong, or why there is none; empty: it is clear, or the settings say it
	Doubt   string       `json:"doubt,omitempty"`
	LeftOut int          `json:"left_out,omitempty"` // rows that are left out
	Rows    []LeftOutRow `json:"rows,omitempty"`     // the first of them
	// the first rows that the settings exclude, such as those above a given header
	Dropped []LeftOutRow `json:"dropped,omitempty"`

	HeaderCells [][]string `json:"-"` // values of the rows that name the columns, shortened
}

// Footnote is the reason to leave out a row below the last record. A header that is given keeps
// these rows.
const Footnote = "footnote"

// OtherTable is the reason to leave out a row of another table below the first one. A header that
// is given keeps these rows.
const OtherTable = "another table"

// LeftOutRow is a row of a source that is not a record.
type LeftOutRow struct {
	File   string `json:"file,omitempty"` // empty: the source is one file
	Row    int    `json:"row"`            // from 1
	Reason string `json:"reason"`
	Text   string `json:"text,omitempty"` // its values, shortened
}

// mayBeRecord reports whether settings can make the row a record.
func (r LeftOutRow) mayBeRecord() bool { return r.Text != "" }

func (r LeftOutRow) String() string {
	s := strconv.Itoa(r.Row)
	if r.File != "" {
		s = r.File + " " + s
	}
	if r.Text == "" {
		return s + " (" + r.Reason + ")"
	}
	return s + " (" + r.Reason + ": " + r.Text + ")"
}

// AddHeader adds a row that names the columns.
func (l *Layout) AddHeader(row int, cells [][]byte) {
	const maxCell = 400 // bytes
	values := make([]string, len(cells))
	for i, c := range cells {
		values[i] = strings.ToValidUTF8(string(c[:min(len(c), maxCell)]), "")
	}
	l.Header, l.HeaderCells = append(l.Header, row), append(l.HeaderCells, values)
}

// LeaveOut adds a row that is not a record.
func (l *Layout) LeaveOut(row int, reason, text string) {
	l.LeftOut++
	if len(l.Rows) < maxLeftOut {
		l.Rows = append(l.Rows, newLeftOutRow(row, reason, text))
	}
}

// Drop adds a row that the settings exclude. Rows without a value are ignored.
func (l *Layout) Drop(row int, reason, text string) {
	if len(l.Dropped) == maxLeftOut {
		return
	}
	if r := newLeftOutRow(row, reason, text); r.Text != "" {
		l.Dropped = append(l.Dropped, r)
	}
}

func newLeftOutRow(row int, reason, text string) LeftOutRow {
	const maxText, maxRead = 200, 1_000
	text = strings.ToValidUTF8(text[:min(len(text), maxRead)], "")
	return LeftOutRow{Row: row, Reason: reason, Text: Clip(strings.Join(strings.Fields(text), " "), maxText)}
}

// Add adds the rows that are left out of another file of the source.
func (l *Layout) Add(other Layout) {
	l.LeftOut += other.LeftOut
	l.Rows = append(l.Rows, other.Rows[:min(len(other.Rows), maxLeftOut-len(l.Rows))]...)
}

// forReaders returns the layout without texts of rows and names of files, and without the rows that
// the settings exclude.
func (l Layout) forReaders() Layout {
	seen := Layout{Unit: l.Unit, Header: l.Header, Given: l.Given, Doubt: l.Doubt, LeftOut: l.LeftOut}
	for _, r := range l.Rows {
		seen.Rows = append(seen.Rows, LeftOutRow{Row: r.Row, Reason: r.Reason})
	}
	return seen
}

// NotRecords returns the number of rows that are not records.
func (l Layout) NotRecords() int { return len(l.Header) + l.LeftOut }

// Notes describes the layout to the publisher, with the first rows that are left out, and how to
// keep them, with the settings as Reading names them: --header 3 of a command is header=3.
// There are none if the first row names the columns and all others are records.
func (l Layout) Notes() (notes []string) {
	const shown, maxText = 3, 60
	last := 0
	if n := len(l.Header); n > 0 {
		last = l.Header[n-1]
	}
	switch {
	case l.Doubt != "" && last > 0:
		notes = append(notes, fmt.Sprintf("header: %s; set header=none if it is a record", l.Doubt))
	case l.Doubt != "":
		notes = append(notes, fmt.Sprintf("no header: %s; set header=N if %s N names the columns", l.Doubt, l.Unit))
	case l.Given:
	case len(l.Header) > 1:
		notes = append(notes, fmt.Sprintf("header: %ss %s name the columns together; set header=%d if only the last "+
			"one does",
			l.Unit, joinNumbers(l.Header), last))
	case last > 1:
		notes = append(notes, fmt.Sprintf("header: %s %d names the columns", l.Unit, last))
	}
	if l.LeftOut == 0 {
		return notes
	}
	var list []string
	for _, r := range l.Rows[:min(len(l.Rows), shown)] {
		r.Text = Clip(r.Text, maxText)
		list = append(list, r.String())
	}
	text := strings.Join(list, ", ")
	if more := l.LeftOut - len(list); more > 0 {
		text += fmt.Sprintf(" and %s more, which the report lists", Count(more))
	}
	keep := ""
	if slices.ContainsFunc(l.Rows, LeftOutRow.mayBeRecord) {
		isKept := func(r LeftOutRow) bool { return r.Reason == Footnote || r.Reason == OtherTable }
		keep = "; set header=none to keep all"
		if last > 0 && slices.ContainsFunc(l.Rows, isKept) {
			keep += fmt.Sprintf(", or header=%d to keep those below it", last)
		}
	}
	count := l.Unit // of the only row
	if l.LeftOut > 1 {
		count = fmt.Sprintf("%s %ss:", Count(l.LeftOut), l.Unit)
	}
	return append(notes, fmt.Sprintf("left out: %s %s%s", count, text, keep))
}

func joinNumbers(numbers []int) string {
	var all []string
	for _, n := range numbers {
		all = append(all, strconv.Itoa(n))
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " and " + all[last]
}
