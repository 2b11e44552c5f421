// Package review shows what publishing a file would do before anything is live, and decides what
// the edits of its publisher mean.
//
// A Draft is a file that waits, with Edits. A plan turns the settings of the live version and the
// edits into one descriptor: every edit is a member of it, except a table of an otherwise unedited
// file and the message, which are options of the publish. Edits of rows and columns refer to what
// the file contains, so an inspection reads it first, as the publish would: its contents say which
// rows, columns and types there are. The finding of an inspection with a plan says what the publish
// would do; it is kept in memory, and made again when it is lost. A Review presents it with those
// edits that need no inspection, such as titles. Publishing a draft is the publish of its file with
// the descriptor of its plan; it is rejected if another version is live than the one reviewed.
package review

import (
	"encoding/json"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/progress"
	"herbarium/internal/versions"
)

// Draft is a file that was received and is not published.
type Draft struct {
	ID      string
	Ref     herb.Ref
	Owner   string // ID of the key that sent it
	Name    string // of the file; may be empty
	Size    int64
	Created time.Time
	Edits   Edits
	Publish string // ID of its last publish, for Service.State; empty: none was started
}

// Edits are the settings that a publisher has changed. The zero value publishes the file as it is,
// with the settings of the live version.
type Edits struct {
	Title       *string     `json:"title,omitempty"` // nil: not changed, as in the other members
	Description *string     `json:"description,omitempty"`
	License     *string     `json:"license,omitempty"`  // its identifier, such as "CC-BY-4.0"
	Expected    *string     `json:"expected,omitempty"` // a herb.Frequency; empty: it is not declared
	Access      herb.Access `json:"access,omitempty"`
	PrimaryKey  *[]string   `json:"primary_key,omitempty"` // fields, by their names without the edits of columns
	Table       string      `json:"table,omitempty"`       // of a file of several
	// Tables are several of them that are one dataset; an empty list: the file is one table; nil:
	// not changed. Table takes precedence.
	Tables   *[]string `json:"tables,omitempty"`
	Link     string    `json:"link,omitempty"`     // address that the file was fetched from
	Refresh  string    `json:"refresh,omitempty"`  // when it is fetched again; not empty with Link
	Encoding string    `json:"encoding,omitempty"` // of a file of text
	// Descriptor has the settings instead of the live version: one resource, as NewDescriptor
	// returns it. nil: none was sent.
	Descriptor json.RawMessage `json:"descriptor,omitempty"`
	HeaderRows *[]int          `json:"header_rows,omitempty"` // from 1; an empty list: there is no header
	// rows that are records although they look like something else
	Keep []int `json:"keep,omitempty"`
	Drop []int `json:"drop,omitempty"` // rows that are not records
	// values that leave out rows, of this file and the next ones
	Exclude []ValueEdit        `json:"exclude,omitempty"`
	Columns map[int]ColumnEdit `json:"columns,omitempty"` // by position, from 0
	// Message is what the publisher says about the version. It does not change what is published.
	Message string `json:"message,omitempty"`
}

// ValueEdit decides about the rows with a value in a column: they are left out, or they are records
// although the live version leaves them out.
type ValueEdit struct {
	Column int    `json:"column"` // position, from 0
	Value  string `json:"value"`
	Keep   bool   `json:"keep,omitempty"`
}

// ColumnEdit is what a publisher has changed about a column.
type ColumnEdit struct {
	Name    string    `json:"name,omitempty"`    // of the field; empty: not changed, as in the other members
	Title   *string   `json:"title,omitempty"`   // nil: not changed
	Type    herb.Type `json:"type,omitempty"`    // empty: inferred
	Format  string    `json:"format,omitempty"`  // of dates and datetimes, see herb.Notation.DateFormat; of Type
	Missing []string  `json:"missing,omitempty"` // values that mean missing
	Hidden  bool      `json:"hidden,omitempty"`  // the column is not published
}

// Review is what publishing a draft would do.
type Review struct {
	Draft     Draft
	Progress  *progress.Progress    // not nil while the file is read; the members below are of the check before then
	Error     string                // why the file cannot be read with these settings; empty if it can
	Field     string                // that Error is about; empty if it is about none
	Problem   string                // of Field: Error without places and without what to do
	Tables    []string              // of a file of several, of which one must be chosen or is
	Joined    []string              // tables that are one dataset; empty: the dataset is one table
	Encodings []rows.EncodingSample // in which the words of the file can be read; empty if that is not in doubt
	Encoding  string                // in which the file is read; empty: UTF-8, or it is not text
	Live      string                // the version that it would replace; empty if there is none
	Title     string
	About     string // description
	License   string
	Expected  string // a herb.Frequency; empty: it is not declared
	Access    herb.Access
	Key       []string // primary key
	Unique    string   // original name of the field of the inferred primary key; empty: there is none
	Format    string   // such as "xlsx, sheet Prices"
	Records   int
	Unit      string // what the format calls a row: "line", "row" or "array"; empty: rows have no numbers
	Rows      []Row  // the first and the last of the file, and some that need attention
	Columns   []Column
	LeftOut   int            // rows of the file that are not records, without the header
	Excluded  []ExcludedRows // rows that are left out by their values
	Warnings  []string       // notes about the file
	Unchanged bool           // the file and its settings are those of the live version: nothing would be published
	// for users of the live version, except the number of records, and problems of the new one
	Changes []versions.Change
	// Compared is with the records of the live version; nil if there is none, it cannot be read, or
	// the comparison is not ready.
	Compared *herb.RecordChanges
}

// IsUnreadable reports whether the file cannot be read, and no edit of the draft can change that.
func (r *Review) IsUnreadable() bool {
	return r.Progress == nil && r.Error != "" && len(r.Columns)+len(r.Tables)+len(r.Encodings) == 0
}

// RowKind is what a row of a file is read as.
type RowKind string

// The kinds of rows.
const (
	RowRecord  RowKind = "record"
	RowHeader  RowKind = "header"
	RowLeftOut RowKind = "left out"
	RowGap     RowKind = "gap" // stands for rows that are not shown
)

// Row is a row of a file.
type Row struct {
	Kind    RowKind
	Number  int      // in its file, from 1; 0 if rows have no numbers
	Count   int      // of rows in a gap
	Reason  string   // why it is left out, such as "title"
	Text    string   // of a row that is left out
	Cells   []string // in the order of the columns, shortened
	Marked  []bool   // cells that prevent the type of their column; nil: none
	Edited  bool     // a publisher has decided that it is kept or dropped
	ByValue bool     // it is left out by its values rather than by its number
	Missing []bool   // cells that are published as missing; nil: none
}

// ExcludedRows are the rows that are left out because of a value in a column.
type ExcludedRows struct {
	herb.RowValue
	Position int // of the column; -1: the file has no such column
}

// Column is a column of a file.
type Column struct {
	Position      int
	Source        string // its name in the file
	Field         string // empty: it is not published
	Original      string // name of the field without the edits of columns, by which Edits.PrimaryKey refers to it
	Title         string
	Type          herb.Type
	Evidence      string // why it has this type, without the type
	Format        string // in which its dates are written; empty: ISO 8601, or none
	Edit          ColumnEdit
	Added         bool        // the live version has no such field
	Almost        herb.Type   // that nearly all values have; empty: none
	Others        []Exception // the most frequent values that prevent it
	Rest          int         // number of values that prevent it
	Most          bool        // most values do, so that they cannot be meant as missing
	Parses        bool        // some of them are of the type in another notation
	DateNotations []herb.DateNotation
}

// Exception is a value that prevents the type of a column.
type Exception struct {
	Value   string
	IsShort bool // the value is too long to be kept whole, so it cannot be treated as missing
	Count   int
	Row     int // the first with it
}
