// Package profile infers the types of columns and describes their values for the import report, in one pass over the
// cells of a table.
//
//	s := profile.New()
//	f, err := s.Field(column, schema)  // for each exposed field with a declared type, before the first cell of its column
//	s.Observe(cells, rows.Position)    // for each row; cells that a descriptor declares missing are empty
//	r, err := f.Result(name, fileType) // after the last row
//
// A field without a declared type (the zero Schema) may be created after the last row. Result returns the type and the
// notation of the field and its column report. It fails if values do not fit the type that the descriptor declares.
//
// The type that a file declares for a column restricts the inference: text excludes numbers and booleans, which such a
// file would have declared. It is not an error if values do not fit it, because some formats do not enforce their types.
package profile

import (
	"bytes"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// maxElements is the number of list elements that are kept for all columns together.
const maxElements = 1_000_000

// Survey profiles the columns of a table. Its memory does not depend on the number of rows.
type Survey struct {
	columns []*column
	rows    int
	budget  int // list elements that may still be kept
}

// New returns a Survey of an empty table.
func New() *Survey { return &Survey{budget: maxElements} }

// Observe adds a row. position locates the row; it is only called for values that a report mentions.
func (s *Survey) Observe(cells [][]byte, position func() string) {
	s.grow(len(cells))
	for i, cell := range cells {
		if len(cell) > 0 {
			s.columns[i].observe(cell, &s.budget, position)
		}
	}
	s.rows++
}

// Rows returns the number of rows.
func (s *Survey) Rows() int { return s.rows }

func (s *Survey) grow(columns int) {
	for len(s.columns) < columns {
		s.columns = append(s.columns, newColumn())
	}
}

// Field is a field that exposes a column.
type Field struct {
	survey   *Survey
	column   *column
	declared herb.Field // type and notation that the descriptor declares; without a type: inferred
	isAny    bool       // the notation is inferred
	isFixed  bool       // the descriptor declares a notation, so none is inferred
	isWhole  bool       // the descriptor declares integers
	misfit   string     // first value that does not fit the declared type, if that is scalar
	fraction string     // first value with a fraction, if integers are declared
	buf      []byte
}

// Field adds a field that exposes a column. It fails if the schema declares a notation that is not supported.
func (s *Survey) Field(column int, schema Schema) (*Field, error) {
	s.grow(column + 1)
	f := &Field{survey: s, column: s.columns[column]}
	var err error
	if f.declared.Type, f.declared.Notation, f.isAny, err = schema.parse(); err != nil {
		return nil, err
	}
	f.isFixed, f.isWhole = schema.declaresNotation() && !f.isAny, schema.isInteger()
	if t := f.declared.Type; t.IsScalar() && t != "" {
		f.column.checks = append(f.column.checks, f)
	}
	return f, nil
}

// check tests a value against the type that the descriptor declares.
func (f *Field) check(value []byte, where func() string) {
	if f.misfit != "" || f.fraction != "" {
		return
	}
	var status text.Status
	f.buf, status = text.AppendCanonical(f.buf[:0], &f.declared, value)
	if status == text.Invalid && !isMarker(text.TrimBlanks(value)) {
		f.misfit = quote(value, where)
	}
	if _, fraction, _ := bytes.Cut(f.buf, []byte(".")); f.isWhole && len(bytes.Trim(fraction, "0")) > 0 {
		f.fraction = quote(value, where)
	}
}
