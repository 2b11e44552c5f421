package herb

import (
	"strconv"
	"time"
)

// Report describes how the source of a publish was interpreted and accounts for all of its cells.
type Report struct {
	Format   string         `json:"format"`             // format of the source, such as "csv, semicolon between values, windows-1252"
	Bytes    int64          `json:"bytes,omitempty"`    // of the source as stored, that is compressed
	Rows     int            `json:"rows"`               // in the source
	Excluded int            `json:"excluded,omitempty"` // rows excluded by the settings
	Columns  []ColumnReport `json:"columns"`            // one for each exposed field, in order
	Hidden   []string       `json:"hidden,omitempty"`   // columns of the source that are not exposed
	Cells    string         `json:"cells"`              // content hash: over all cells, the same in the source and in the listing
	Notes    []string       `json:"notes,omitempty"`    // notes for the publisher
	// SourceCells accounts for the cells of the source; nil if it is not a file.
	SourceCells *SourceCells `json:"source_cells,omitempty"`
}

// ColumnReport is the part of a Report about one field. Distinct, Min and Max exclude empty values; Min and Max are the
// first and the last value in the order of the field's type.
type ColumnReport struct {
	Field    string   `json:"field"`
	Column   string   `json:"column"` // column name in the source
	Type     Type     `json:"type"`
	Evidence string   `json:"evidence"` // why this type was chosen, such as "number: 9,998 of 10,000; 2 empty"
	Filled   int      `json:"filled"`
	Empty    int      `json:"empty"`
	Distinct int      `json:"distinct"`
	Min      string   `json:"min,omitempty"`
	Max      string   `json:"max,omitempty"`
	Shortest int      `json:"shortest"` // length of the shortest non-empty value, in characters
	Longest  int      `json:"longest"`
	Notes    []string `json:"notes,omitempty"` // such as "zero-padded codes are kept as text"

	Source ColumnCells `json:"-"` // fingerprint of the column as read, compared with the listing
}

// Expectation is a query with its expected result. A version that returns another result does not go live.
type Expectation struct {
	Query string            `json:"query"`           // the query string of a listing
	Total *int              `json:"total,omitempty"` // expected number of records; nil: any
	First map[string]string `json:"first,omitempty"` // expected values of the first record
}

// SourceError records why a watched source could not be published.
type SourceError struct {
	Path    string    `json:"place"`        // of the source
	Ref     Ref       `json:"ref,omitzero"` // the dataset of the source; zero if unknown
	Message string    `json:"message"`
	Since   time.Time `json:"since"`
}

// Count formats a number with commas, as in reports.
func Count(n int) string { return GroupDigits(strconv.Itoa(n)) }

// GroupDigits inserts commas into an integer, which may have a sign.
func GroupDigits(s string) string {
	for i := len(s) - 3; i > 0 && '0' <= s[i-1] && s[i-1] <= '9'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
