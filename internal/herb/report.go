package herb

import (
	"fmt"
	"hash/crc32"
	"strconv"
	"time"
)

// Report describes how the source of a publish was interpreted and accounts for all of its cells.
type Report struct {
	// format of the source, such as "csv, semicolon between values, windows-1252"
	Format   string         `json:"format"`
	Bytes    int64          `json:"bytes,omitempty"`    // of the source as stored, that is compressed
	Rows     int            `json:"rows"`               // in the source
	Excluded int            `json:"excluded,omitempty"` // rows excluded by the settings
	Columns  []ColumnReport `json:"columns"`            // one for each exposed field, in order
	Hidden   []string       `json:"hidden,omitempty"`   // columns of the source that are not exposed
	// HiddenColumns is the number of columns in Hidden, for readers, who do not get their names.
	HiddenColumns int `json:"hidden_columns,omitempty"`
	// content hash: over all cells, the same in the source and in the listing
	Cells  string   `json:"cells"`
	Layout Layout   `json:"layout,omitzero"` // rows of the source that are not records
	Notes  []string `json:"notes,omitempty"` // notes for the publisher
	// SourceCells accounts for the cells of the source; nil if it is not a file.
	SourceCells *SourceCells `json:"source_cells,omitempty"`
	// Exclusions has the rows that the setting exclude leaves out, by value. Only publishers see
	// them.
	Exclusions []RowValue `json:"exclusions,omitempty"`
	// Coordinates say where the records are.
	Coordinates []Coordinates `json:"coordinates,omitempty"`
}

// RowValue counts the rows that have a value in a column.
type RowValue struct {
	Column string `json:"column,omitempty"`
	Value  string `json:"value"`
	Rows   int    `json:"rows"`
}

// ForReaders returns the part of the report for clients that may read the records and not publish
// the dataset. It is an allow list: numbers, reasons, and what describes listed values. It has no
// text of rows that are not records, no note, and no name of a hidden column.
func (r *Report) ForReaders() *Report {
	if r == nil {
		return nil
	}
	return &Report{
		Format: r.Format, Bytes: r.Bytes, Rows: r.Rows, Excluded: r.Excluded, Columns: r.Columns,
		HiddenColumns: max(r.HiddenColumns, len(r.Hidden)),
		Cells:         r.Cells, Layout: r.Layout.forReaders(), SourceCells: r.SourceCells, Coordinates: r.Coordinates,
	}
}

// RowNotes returns notes about the rows that the setting exclude leaves out.
func (r *Report) RowNotes() (notes []string) {
	for _, x := range r.Exclusions {
		if x.Rows == 0 {
			notes = append(notes, fmt.Sprintf("exclude leaves out no row: no row has %q in %s",
				Clip(x.Value, maxNoteValue), x.Column))
		} else {
			notes = append(notes, fmt.Sprintf("%s left out by exclude: %s is %q", Plural(x.Rows, "row", "rows"),
				x.Column, Clip(x.Value, maxNoteValue)))
		}
	}
	return notes
}

// maxNoteValue is the number of characters of a value in a note.
const maxNoteValue = 60

// ColumnReport is the part of a Report about one field. Distinct, Min and Max exclude empty values;
// Min and Max are the first and the last value in the order of the field's type.
type ColumnReport struct {
	Field    string   `json:"field"`
	Column   string   `json:"column"` // column name in the source
	Type     Type     `json:"type"`
	Reason   string   `json:"-"`        // Evidence without the type
	Evidence string   `json:"evidence"` // why this type was chosen, such as "number: 9,998 of 10,000; 2 empty"
	Filled   int      `json:"filled"`
	Empty    int      `json:"empty"`
	Distinct int      `json:"distinct"`
	Min      string   `json:"min,omitempty"`
	Max      string   `json:"max,omitempty"`
	Shortest int      `json:"shortest"` // length of the shortest non-empty value, in characters
	Longest  int      `json:"longest"`
	Decimals int      `json:"decimals,omitempty"` // most digits after the decimal separator of a number
	Notes    []string `json:"notes,omitempty"`    // such as "zero-padded codes are kept as text"

	// Exceptions are all values that are neither of the type nor missing, the most frequent first.
	Exceptions []ValueCount `json:"exceptions,omitempty"`

	Lengths []LengthCount `json:"lengths,omitempty"` // distribution of the lengths of texts, ascending
	Words   []ValueCount  `json:"words,omitempty"`   // most frequent words of long texts

	// DateNotations are the ways to read a text column as dates, if there are several or some dates
	// have another notation.
	DateNotations []DateNotation `json:"-"`

	Source ColumnCells `json:"-"` // fingerprint of the column as read, compared with the listing
}

// DateNotation is a way to read the values of a text column as dates: in one notation, or in two of
// which each value has one.
type DateNotation struct {
	Type     Type   // date or datetime
	Format   string // see Notation.DateFormat
	Examples []DateExample
}

// DateExample is a value of a column, one for each notation.
type DateExample struct {
	Value string
	Date  string // that it means, in ISO 8601
	Order string // of the notation: "day first", "month first" or "year first"
}

// LengthCount counts the non-empty values of From to To characters.
type LengthCount struct {
	From  int `json:"from"`
	To    int `json:"to"`
	Count int `json:"count"`
}

// ValueCount is a value and the number of records that have it.
type ValueCount struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// Expectation is a query with its expected result. A version that returns another result does not
// go live.
type Expectation struct {
	Query string            `json:"query"`           // the query string of a listing
	Total *int              `json:"total,omitempty"` // expected number of records; nil: any
	Min   *int              `json:"min,omitempty"`   // least expected number of records; nil: any
	Max   *int              `json:"max,omitempty"`   // greatest expected number of records; nil: any
	First map[string]string `json:"first,omitempty"` // expected values of the first record
}

// PinnedChart is a chart that a publisher shows with the description of a dataset.
type PinnedChart struct {
	By      []string `json:"by,omitempty"`      // as in the API: fields with or without an interval
	Measure string   `json:"measure,omitempty"` // as in the API; empty: the number of records
}

// SourceError records why a watched source is not published.
type SourceError struct {
	Path    string    `json:"path"`         // of the source
	Ref     Ref       `json:"ref,omitzero"` // the dataset of the source; zero if unknown
	Message string    `json:"message"`
	Skipped bool      `json:"skipped,omitempty"` // left out on purpose; otherwise it failed
	Since   time.Time `json:"since"`
}

// Count formats a number with commas, as in reports.
func Count(n int) string { return GroupDigits(strconv.Itoa(n)) }

// Plural formats a number with its noun.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// GroupDigits inserts commas into an integer, which may have a sign.
func GroupDigits(s string) string {
	for i := len(s) - 3; i > 0 && '0' <= s[i-1] && s[i-1] <= '9'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// SourceCells accounts for every non-empty cell that the reader of a file returned, before settings
// are applied. The listing must have Total + Repeated - Hidden - Excluded - Missing of them.
type SourceCells struct {
	Total    int `json:"total"`
	Hidden   int `json:"hidden,omitempty"`   // in columns that are not exposed
	Excluded int `json:"excluded,omitempty"` // in rows excluded by the settings
	Missing  int `json:"missing,omitempty"`  // values that the settings declare as missing
	Repeated int `json:"repeated,omitempty"` // listed again because several fields expose their column
}

// Listed returns the number of non-empty cells that the listing must have.
func (s SourceCells) Listed() int { return s.Total + s.Repeated - s.Hidden - s.Excluded - s.Missing }

// ColumnCells fingerprints a column: the number of its non-empty cells and a checksum of their
// values and rows. It is computed for the source and for the listing, to detect cells in the wrong
// column. It does not depend on the order of the calls of Add, so that the fingerprints of two
// parts of a column add up to that of the column.
type ColumnCells struct {
	Filled int
	Sum    uint32
}

// Add adds the cell of a row. Empty cells are ignored.
func (c *ColumnCells) Add(row int, cell []byte) {
	if len(cell) == 0 {
		return
	}
	c.Filled++
	// which processors compute for short cells too
	h := crc32.Update(uint32(row), crc32.MakeTable(crc32.Castagnoli), cell)
	// CRCs are linear; mixing makes their sum depend on which cell is in which row
	h = (h ^ h>>16) * 0x85EBCA6B
	h = (h ^ h>>13) * 0xC2B2AE35
	c.Sum += h ^ h>>16
}

// Plus returns the fingerprint of the cells of both.
func (c ColumnCells) Plus(o ColumnCells) ColumnCells {
	return ColumnCells{c.Filled + o.Filled, c.Sum + o.Sum}
}

// Reconcile compares the source with the columns of the listing, in field order. The error says
// what differs. A report without SourceCells is not compared: it was not made from a file.
func (r *Report) Reconcile(listing []ColumnCells) error {
	if r == nil || r.SourceCells == nil {
		return nil
	}
	listed := 0
	for _, c := range listing {
		listed += c.Filled
	}
	if s := *r.SourceCells; listed != s.Listed() {
		return fmt.Errorf("the source has %s non-empty cells, of which %s are in columns that are not exposed, %s in "+
			"excluded rows and %s "+
			"declared missing (%s are listed twice); that leaves %s, but the listing has %s", Count(s.Total),
			Count(s.Hidden),
			Count(s.Excluded), Count(s.Missing), Count(s.Repeated), Count(s.Listed()), Count(listed))
	}
	if len(r.Columns) != len(listing) {
		return fmt.Errorf("%d columns of the source are exposed, but the listing has %d fields", len(r.Columns),
			len(listing))
	}
	for i, c := range r.Columns {
		if c.Source != listing[i] {
			return fmt.Errorf("field %q does not hold the values of column %q: %s non-empty cells in the source, %s "+
				"in the listing",
				c.Field, c.Column, Count(c.Source.Filled), Count(listing[i].Filled))
		}
	}
	return nil
}
