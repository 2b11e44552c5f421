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
	"herbarium/internal/herb"
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
	declared herb.Type  // by the descriptor; empty: inferred
	field    herb.Field // type and notation to check values against, if the declared type is scalar
	any      bool       // the notation is inferred
	misfit   *place     // first value that does not fit
	buf      []byte
}

// Field adds a field that exposes a column. It fails if the schema declares a notation that is not supported.
func (s *Survey) Field(column int, schema Schema) (*Field, error) {
	s.grow(column + 1)
	f := &Field{survey: s, column: s.columns[column]}
	var err error
	if f.declared, f.field.Notation, f.any, err = schema.parse(); err != nil {
		return nil, err
	}
	if f.field.Type = f.declared; f.declared.IsScalar() && f.declared != "" {
		f.column.checks = append(f.column.checks, f)
	}
	return f, nil
}

// place is a value and its position.
type place struct{ value, where string }

func newPlace(value []byte, where func() string) *place {
	return &place{clip(string(value[:min(len(value), 400)])), where()}
}

// clip truncates a value for use in a message.
func clip(s string) string { return herb.Clip(s, 60) }

// isMarker reports whether a value means a missing one in columns of scalar types. Infinities do so only in declared number
// columns, because floating-point columns have them.
func isMarker(v []byte) (marker, infinity bool) {
	switch string(v) {
	case "#N/A", "--", "..", "?", "N/A", "NA", "NULL", "NaN", "None", `\N`, "null":
		return true, false
	case "+Inf", "-INF", "-Inf", "-Infinity", "-inf", "INF", "Inf", "Infinity", "inf":
		return true, true
	}
	return false, false
}
