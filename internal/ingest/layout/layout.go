// Package layout finds the header of a table and what people write around its records: titles, names of groups above the
// header, units below it, repeated headers, and footnotes. It serves formats without a schema: delimited text and workbooks.
//
// A row is left out only if nothing else than a header, a unit or a footnote can be meant, and every such row is reported.
package layout

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/ingest/rows"
)

// Row is a row of a sheet or a record of a text.
type Row struct {
	Line, End int  // its first and its last line, from 1
	Gap       bool // a blank line or row is above it
	Cells     [][]byte
	Kinds     []Kind // that the file declares; nil: none
	Invalid   error  // why the row cannot be a record; it may be a footnote
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

// Filled returns the number of values that are not blank.
func (r Row) Filled() (n int) {
	for _, c := range r.Cells {
		if len(bytes.TrimSpace(c)) > 0 {
			n++
		}
	}
	return n
}

// Width returns the number of cells up to the last value.
func (r Row) Width() int {
	n := len(r.Cells)
	for n > 0 && len(r.Cells[n-1]) == 0 {
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

// List lists the rows that have values for a message.
func List(skipped []Row) string {
	filled := slices.DeleteFunc(slices.Clone(skipped), func(r Row) bool { return r.Filled() == 0 })
	return rows.JoinSome(filled, func(r Row) string {
		var values []string
		for _, c := range r.Cells {
			if c = bytes.TrimSpace(c); len(c) > 0 {
				values = append(values, string(c))
			}
		}
		return fmt.Sprintf("%d (%s)", r.Line, rows.Clip(strings.Join(values, " | ")))
	})
}

// Kind is a set of kinds of values.
type Kind uint8

// The kinds of values.
const (
	Text Kind = 1 << iota
	Number
	Code // number with a zero-padded format
	Date
	Datetime
	Boolean
	Other   // anything that declares no type, such as errors and times of day
	Missing // no value, or a marker of one
)

// KindOf returns what a value appears to be, in a wide sense: only the layout depends on it. A date has at least three
// numbers, such as a year, a month and a day. Datetimes are dates.
func KindOf(v []byte) Kind {
	const separators = "-/:. T"
	v = bytes.TrimSpace(v)
	if len(bytes.Trim(v, "-_=")) == 0 { // empty, or a rule
		return Missing
	}
	switch string(v) {
	case "NA", "N/A", "n/a", "na", "null", "NULL", "None", "NaN", "nan", "?", ".", "..", `\N`, "#N/A":
		return Missing
	case "true", "false", "TRUE", "FALSE", "True", "False":
		return Boolean
	}
	digits := strings.ReplaceAll(strings.Trim(string(v), "+-$€£¥% "), ",", "")
	if _, err := strconv.ParseFloat(digits, 64); err == nil && digits[len(digits)-1] <= '9' { // not infinity
		return Number
	}
	isSeparator := func(r rune) bool { return strings.ContainsRune(separators, r) }
	if len(bytes.Trim(v, "0123456789Z+"+separators)) == 0 && len(bytes.FieldsFunc(v, isSeparator)) >= 3 {
		return Date
	}
	return Text
}

// ColumnKind returns the kind that all n values of a column have, Text if they differ.
func ColumnKind(table []Row, column int) (k Kind, n int) {
	for _, r := range table {
		switch got := KindOf(r.cell(column)); {
		case got == Missing:
		case n > 0 && got != k:
			return Text, n
		default:
			k = got
			n++
		}
	}
	return k, n
}

// isYear reports whether a number is a likely name of a column.
func isYear(cell []byte) bool {
	n, err := strconv.Atoi(string(cell))
	return err == nil && n >= 1500 && n <= 2200
}

// isName reports whether a value may name a column.
func isName(cell []byte) bool { return KindOf(cell) == Text || isYear(cell) }
