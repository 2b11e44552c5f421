// Package table reads tables of formats without a schema: delimited text, sheets of workbooks and
// JSON arrays of arrays. A format yields raw rows. Detect decides which of them are the header,
// records, or neither; New names the columns, and a Table yields the records below the header and
// reports the rows that are neither.
//
//	row 1  Pupils by school                       left out: it is narrower than the table
//	row 2            | Boys |      | Girls |      header, joined with row 3
//	row 3  School    | 2019 | 2020 | 2019  | 2020
//	row 4  Elm Road  | 12   | 14   | 13    | 11   record
//	row 5  Park Lane | 31   | 30   | 27    | 29   record
//	row 6                                         left out: it has no value
//	row 7  Source: survey of 2021                 left out: a footnote
//
// Detect scores every candidate for the header among the first rows: each row, and two to four rows
// joined. For the table above, row 1 alone scores -0.3, because it leaves four columns without a
// name. Row 3 alone scores 0.8: names are above numbers, but two names occur twice, and row 2 is
// left out. Rows 2 and 3 joined score 1.2. The best candidate is the header if its score is at
// least minScore. Otherwise there is no header, and all rows but titles are records. Unless the
// best score is clearly negative, the decision is doubtful, which the caller reports.
package table

import (
	"bytes"
	"slices"
	"strings"

	"herbarium/internal/ingest/value"
)

// Row is a row of a sheet, a record of a delimited text, or a JSON array.
type Row struct {
	Line, End int  // its first and its last line, from 1
	Gap       bool // a blank line or row is above it
	Blank     bool // it has nothing but delimiters
	Cells     [][]byte
	Kinds     []value.Kind // of the cells, as the file declares them; nil: it declares none
	Invalid   error        // why the row cannot be a record; it may be a footnote
}

// Clone returns a copy that remains valid when the next row is read.
func (r Row) Clone() Row {
	cells := make([][]byte, len(r.Cells))
	for i, c := range r.Cells {
		cells[i] = bytes.Clone(c)
	}
	r.Cells, r.Kinds = cells, slices.Clone(r.Kinds)
	return r
}

// cell returns the value in a column without blanks around it, empty if the row is shorter.
func (r Row) cell(i int) []byte {
	if i >= len(r.Cells) {
		return nil
	}
	return bytes.TrimSpace(r.Cells[i])
}

// kind returns the kind of the value in a column. A declared kind takes precedence, except for
// text, because workbooks often store numbers and dates as text.
func (r Row) kind(i int) value.Kind {
	if i < len(r.Kinds) {
		switch k := r.Kinds[i]; k {
		case value.Number, value.Code:
			return value.Number
		case value.Date, value.Datetime:
			return value.Date
		case value.Boolean:
			return k
		case value.Time, value.Duration, value.Other:
			return value.Other
		}
	}
	return value.KindOf(r.cell(i))
}

// Filled returns the number of values that are not blank.
func (r Row) Filled() (n int) {
	for _, c := range r.Cells {
		if isFilled(c) {
			n++
		}
	}
	return n
}

// Width returns the number of cells without blank ones at the end.
func (r Row) Width() int {
	n := len(r.Cells)
	for n > 0 && !isFilled(r.Cells[n-1]) {
		n--
	}
	return n
}

// Size returns the number of bytes of the values.
func (r Row) Size() (n int) {
	for _, c := range r.Cells {
		n += len(c)
	}
	return n
}

// Text returns the values of the row for a message.
func (r Row) Text() string {
	const maxText = 1_000
	var text []byte
	for _, c := range r.Cells {
		c = bytes.TrimSpace(c)
		if len(c) > 0 && len(text) < maxText {
			if len(text) > 0 {
				text = append(text, " | "...)
			}
			text = append(text, c[:min(len(c), maxText)]...)
		}
	}
	return strings.ToValidUTF8(string(text), "")
}

// equals reports whether two rows have the same values.
func (r Row) equals(other Row) bool {
	n := r.Width()
	return other.Width() == n && slices.EqualFunc(other.Cells[:n], r.Cells[:n], bytes.Equal)
}

func isFilled(cell []byte) bool { return len(bytes.TrimSpace(cell)) > 0 }

// ColumnKind returns the kind that all n values of a column have. If they differ, k is Text, and n
// is the number of values above the first one that differs. See also evidence.dominantKind.
func ColumnKind(table []Row, column int) (k value.Kind, n int) {
	for _, r := range table {
		switch got := value.KindOf(r.cell(column)); {
		case got == value.Missing:
		case n > 0 && got != k:
			return value.Text, n
		default:
			k = got
			n++
		}
	}
	return k, n
}
