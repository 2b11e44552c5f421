// Package rows defines the contract between file formats and the rest of ingest: a Format opens a
// File and yields Rows within a Budget.
package rows

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Format reads files of one kind. A new format is one package that returns a Format and one line in
// the registry.
type Format struct {
	// Name identifies the format in descriptors, flags and messages, such as "csv".
	Name string
	// Extensions lists file extensions in lower case with their dot. The first one is offered in
	// messages.
	Extensions []string
	// Generic lists extensions that files of this format share with files that are not tables, such
	// as ".txt".
	Generic []string
	// Matches reports whether a file that begins with head has this format. It is nil if the
	// content does not identify the format, as with delimited text.
	Matches func(head []byte) bool
	// Open starts to read one table of a file. Errors of herb.CodeInvalid describe what is wrong in
	// the file and where, without its path.
	Open func(ctx context.Context, f File, o Options, b *Budget) (Rows, error)
	// Tables lists the tables of a file that holds several: sheets, database tables, JSON arrays.
	// Options.Table selects one. nil: a file is one table.
	Tables func(ctx context.Context, f File, o Options, b *Budget) ([]Table, error)
	// Keyed reports that every row names its own cells, as in JSON. The columns of several files
	// are then united by name; otherwise they must be equal.
	Keyed bool
	// Lists reports that the file has arrays. The cells of a column of the type list are then JSON
	// arrays of plain values; ingest decides how the column is written.
	Lists bool
}

// Rows yields the rows of one table. It is used by one goroutine.
type Rows interface {
	// Columns returns the columns known so far. Next may append columns, and never renames those
	// before. Types are complete after io.EOF, because workbooks and SQLite declare them value by
	// value. It is called for every row.
	Columns() []Column
	// Next returns the cells of the next row in the order of the columns, valid until the next
	// call. Missing cells at the end may be left out. A cell is empty if it has no value. The error
	// is io.EOF after the last row.
	Next() ([][]byte, error)
	// Position locates the row that Next returned last.
	Position() Position
	// Notes returns what a publisher should know about how the file was read. It is complete after
	// io.EOF.
	Notes() []string
	// Layout returns which rows name the columns and which are left out, as far as the file does
	// not declare it. It is complete after io.EOF.
	Layout() herb.Layout
	// Options returns the options of Open, completed by what was detected: reading the file again
	// with them gives the same rows. It is complete after io.EOF.
	Options() Options
	// Close releases resources. It does not close the File.
	Close() error
}

// Position locates a row. Members that do not apply to a format are zero.
type Position struct {
	Row   int    // number of the row or record
	Line  int    // of text
	Sheet string // of a workbook
	Table string // of a database
}

// String returns the position for a message, such as "line 7".
func (p Position) String() string {
	switch {
	case p.Sheet != "":
		return fmt.Sprintf("row %d of sheet %q", p.Row, p.Sheet)
	case p.Table != "":
		return fmt.Sprintf("table %q, row %d", p.Table, p.Row)
	case p.Line == 0:
		return fmt.Sprintf("row %d", p.Row)
	case p.Row == 0:
		return fmt.Sprintf("line %d", p.Line)
	default:
		return fmt.Sprintf("record %d, line %d", p.Row, p.Line)
	}
}

// Column is a column of a table.
type Column struct {
	Name string    // as the file writes it; empty: the file has no name for it
	Type herb.Type // declared by the file; empty: inferred from the values
	// Numbers reports that some cells are numbers by themselves, as in JSON and workbooks, so that
	// a point in a number is a decimal point. It is complete after io.EOF.
	Numbers bool
}

// Table is a table of a file that holds several.
type Table struct {
	Name    string
	Skipped string // why it is published only if a user names it, such as "hidden"; empty: it is published
}

func Names(tables []Table) (names []string) {
	for _, t := range tables {
		names = append(names, t.Name)
	}
	return names
}

// Published returns the names of the tables that are published.
func Published(tables []Table) (names []string) {
	for _, t := range tables {
		if t.Skipped == "" {
			names = append(names, t.Name)
		}
	}
	return names
}

// File is one open file, decompressed. Its methods may be called again and again; they all start at
// the first byte.
type File interface {
	// Name returns the base name of the file without the extension of its compression, for formats
	// that depend on it.
	Name() string
	// Open returns the content from the start. The caller closes it.
	Open() (io.ReadCloser, error)
	// Random returns the content for random access, copied to an unnamed temporary file if it is
	// compressed. It is valid until the File is closed.
	Random() (*io.SectionReader, error)
	// Path returns a path under which a library can open the content and the files beside it that
	// belong to it (a write-ahead log or journal). It is a private copy unless the user named the
	// file itself. It is valid until the open function of Document returns.
	Path() (string, error)
	// Document returns what open returned when it was first called for this File: what the tables
	// of the file have in common. It is closed with the File.
	Document(open func() (io.Closer, error)) (io.Closer, error)
	// Size returns the number of bytes as stored, that is compressed. It bounds what may be made of
	// the file.
	Size() int64
}

// Options are settings that say how a file is written. The zero value means: detect everything.
type Options struct {
	Table    string   // sheet, database table or JSON array; empty: the only one, or the main one
	Joined   bool     // other tables of the file are part of the dataset as well
	TableNo  int      // number of the sheet from 1, if Table is empty; 0: not given
	Encoding string   // of text, by its name in web standards; empty: detected
	Names    []string // of columns, for files that do not name them

	// HeaderNames are columns without which the file cannot be used: a row with all of them is the
	// header. nil: unknown.
	HeaderNames []string `json:"-"`

	// Delimited text.
	Delimiter byte // 0: detected
	// of columns in characters, instead of a delimiter; the last one has the rest of the line;
	// empty: detected
	Widths           []int
	Quote            byte   // 0: '"'
	NoQuote          bool   // quotes are ordinary characters
	NoDoubleQuote    bool   // two quotes in a quoted value do not stand for one
	Escape           byte   // 0: detected, usually none
	SkipInitialSpace bool   // blanks after a delimiter are not part of the value
	Comment          string // prefix of lines that are not records; empty: detected
	CommentRows      []int  // numbers of lines, from 1, that are not records
	Skip             int    // lines before the header
	Null             string // value that stands for a missing one; empty: none

	// Delimited text and workbooks.
	Header     Header // whether there is a header
	HeaderRows []int  // numbers of lines, from 1, that name the columns together; empty: detected
	HeaderJoin string // between the parts of a name from several lines; empty: a blank

	// JSON.
	ItemKeys []string // columns of records that are arrays; empty: the first array names them

	// Explain collects the readings that are compared. nil: nobody asks for them.
	Explain *Explanation `json:"-"`
}

// Header states whether a table has a header.
type Header string

// The values of Header.
const (
	HeaderDetect  Header = ""
	HeaderPresent Header = "present"
	HeaderNone    Header = "none"
)

// Guard runs a call into a library that decodes untrusted bytes. A panic or a memory fault in it
// becomes an error that names what was decoded. It must not surround code of this program, whose
// panics are bugs.
func Guard(what string, call func() error) (err error) {
	fault := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(fault)
		if r := recover(); r != nil {
			err = Damaged(fmt.Errorf("panic: %v", r), "%s", what)
		}
	}()
	return call()
}

// Damaged returns an error with CodeInvalid that locates what is wrong in a file. The message of a
// herb.Error is kept; other causes are only logged.
func Damaged(err error, where string, args ...any) error {
	where = fmt.Sprintf(where, args...)
	if _, ok := errors.AsType[*herb.Error](err); ok {
		return herb.At(where, err)
	}
	return herb.Wrap(herb.CodeInvalid, err, "%s is damaged or truncated; copy the file again, or write it again", where)
}

// Clip shortens a value for a message.
func Clip(s string) string { return herb.Clip(s, 60) }

// JoinNames lists names for a message as JoinSome does.
func JoinNames(names []string) string { return JoinSome(names, Clip) }

// JoinSome lists items for a message, at most 50 of them.
func JoinSome[T any](items []T, show func(T) string) string {
	const limit = 50
	var shown []string
	for _, item := range items[:min(len(items), limit)] {
		shown = append(shown, show(item))
	}
	list := strings.Join(shown, ", ")
	if more := len(items) - limit; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// maxSuggestions is the number of names that a misspelled one is compared with.
const maxSuggestions = 1_000

// FindTable returns the index of a table by its name. The case is ignored if no name is equal. kind
// is what the format calls a table, for the message.
func FindTable(kind, name string, tables []Table) (int, error) {
	names := Names(tables)
	i := slices.Index(names, name)
	if i < 0 {
		i = slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
	}
	if i >= 0 {
		return i, nil
	}
	suggestion := text.Suggestion(Clip(name), names[:min(len(names), maxSuggestions)])
	return 0, herb.Invalidf("no such %s %q%s %ss: %s", kind, Clip(name), suggestion, kind, JoinNames(names))
}

// SelectionNotes returns a note about the tables of a file that are not published beside the
// selected one, if there are any. kind is what the format calls the selected table.
func SelectionNotes(kind string, tables []Table, selected int) []string {
	if len(tables) == 1 {
		return nil
	}
	list := JoinSome(slices.Concat(tables[:selected], tables[selected+1:]), func(t Table) string {
		if t.Skipped == "" {
			return strconv.Quote(Clip(t.Name))
		}
		return strconv.Quote(Clip(t.Name)) + " (" + t.Skipped + ")"
	})
	return []string{fmt.Sprintf("only the %s %q is published; add # and a name to the file to publish another: %s",
		kind, tables[selected].Name, list)}
}

// SplitCells appends the cells that are concatenated in buf, by the end of each.
func SplitCells(cells [][]byte, buf []byte, ends []int) [][]byte {
	start := 0
	for _, end := range ends {
		cells = append(cells, buf[start:end:end])
		start = end
	}
	return cells
}

// AppendFloat appends a number in the shortest plain decimal notation that reads back as the same
// number.
func AppendFloat(b []byte, f float64, bits int) []byte {
	switch {
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	default:
		return strconv.AppendFloat(b, f, 'f', -1, bits)
	}
}

// AppendDate appends the day of t. A year before 0 or after 9999 has a sign and at least six
// digits.
func AppendDate(b []byte, t time.Time) []byte {
	format := "%04d"
	if y := t.Year(); y < 0 || y > 9999 {
		format = "%+07d"
	}
	return fmt.Appendf(b, format+"-%02d-%02d", t.Year(), t.Month(), t.Day())
}

// AppendClock appends hours, minutes and seconds. Hours may exceed 24.
func AppendClock(b []byte, seconds int64) []byte {
	return fmt.Appendf(b, "%02d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
}

// maxDirectory is the number of bytes of the list of entries of a zip archive, which is held in
// memory.
const maxDirectory = 32 << 20

// OpenZip opens a zip archive.
func OpenZip(src io.ReaderAt, size int64) (*zip.Reader, error) {
	limited := &limitedReaderAt{src, maxDirectory}
	archive, err := zip.NewReader(limited, size)
	if limited.left < 0 {
		err = herb.Invalidf("the list of entries has more than %s; write an archive with fewer entries",
			herb.FormatBytes(maxDirectory))
	}
	limited.left = math.MaxInt64 // entries have limits of their own
	return archive, err
}

type limitedReaderAt struct {
	io.ReaderAt
	left int64
}

func (l *limitedReaderAt) ReadAt(p []byte, off int64) (int, error) {
	l.left -= int64(len(p))
	if l.left < 0 {
		return 0, io.ErrUnexpectedEOF
	}
	return l.ReaderAt.ReadAt(p, off)
}
