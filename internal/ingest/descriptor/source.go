package descriptor

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/value"
)

// Source is one dataset to be published, with its settings.
type Source struct {
	Ref  herb.Ref
	Path string
	// folder that Path and MoreFiles are confined to; empty if the user named the file itself
	Root string `json:"-"`
	// path of a file in the zip archive at Path; empty: the only table of it, or no archive
	Entry string `json:",omitempty"`
	Base  string `json:"-"` // folder below Root that they are confined to as well; empty means Root
	// of the file in messages; empty means Path; the JSON name is part of source hashes
	DisplayName string `json:"Called"`
	Title       string
	Description string
	Access      herb.Access    // empty means open
	AccessSet   bool           // a descriptor or a flag sets Access
	Fields      []FieldSetting // empty if every column is exposed
	Format      string         // name of a format; empty if it is detected by extension and content
	// with the same columns, whose rows follow; the JSON name is part of source hashes
	MoreFiles []string `json:"Parts"`
	// tables of the file, as FILE#TABLE names them, with the same columns, whose rows follow each
	// other; empty: it has one, which Entry and Dialect.Table select
	Tables []string `json:",omitempty"`
	// records in the descriptor at Path, or a copy of standard input; nil to read Path
	Input *io.SectionReader `json:"Inline"`
	// the file, if other sources read it too; nil if this is the only one
	Shared  *file.Shared `json:"-"`
	Dialect rows.Options // how the files are written
	Missing []string     // values that mean a missing value, in addition to the empty one
	Include []Condition  // for a row to become a record; all must hold
	Exclude []Condition  `json:",omitempty"` // for a row to be left out; one suffices
	// Include of the rows of a merged file, which was applied already
	Included    []Condition        `json:"-"`
	Excluded    []Condition        `json:"-"` // Exclude of them
	Order       herb.Order         // default order of a listing
	Coordinates Coordinates        `json:",omitzero"`  // where the records are; zero if it is recognized
	Charts      []herb.PinnedChart `json:",omitempty"` // shown with the description
	ExactWords  bool               `json:",omitempty"` // a search finds words only as they are written
	Parquet     bool               `json:",omitempty"` // the Parquet file is built before the version goes live
	// versions of the dataset to keep; zero members: as the server says
	Keep         herb.Keep          `json:",omitzero"`
	Expected     herb.Frequency     `json:",omitempty"` // how often the dataset changes
	Fetch        herb.FetchSource   `json:"-"`          // where Input is fetched from; zero: it is not fetched
	PrimaryKey   []string           // fields that together identify a record
	UniqueKeys   [][]string         `json:",omitempty"` // fields that together differ in all records
	Expectations []herb.Expectation `json:"Goldens"`    // the JSON name is part of source hashes
	ByPosition   bool               // the schema states that fields and columns are the same, in the same order
	Descriptor   json.RawMessage    // members of the descriptor about the dataset; nil if there is no descriptor
	Notes        []string           // remarks about the settings for the publisher
	Settings     herb.Settings      `json:"-"` // the settings as written, for the next publish of the dataset
	Inherited    *Inherited         `json:"-"` // not nil: the settings are those of the live version
	IsSettled    bool               `json:"-"` // the settings of the live version were applied, or do not apply
}

// Inherited is what a version whose settings apply to another file knows about columns besides its
// fields.
type Inherited struct {
	// Hidden are columns that stay hidden. Other columns that the fields do not name are new: they
	// are published.
	Hidden []string
}

// Coordinates are the fields with the coordinates of the records: two fields, or one with both.
type Coordinates struct {
	None                bool                     `json:",omitempty"` // the records have none
	Latitude, Longitude string                   `json:",omitempty"`
	Field               string                   `json:",omitempty"`
	Notation            herb.CoordinatesNotation `json:",omitempty"` // of Field
}

// Fields returns the coordinates of a version.
func (c Coordinates) Fields() herb.Coordinates {
	return herb.Coordinates{Latitude: c.Latitude, Longitude: c.Longitude, Field: c.Field, Notation: c.Notation}
}

// Condition is a condition on a row: the column has one of the values, compared byte by byte.
type Condition struct {
	Column string
	Values []string
}

// FieldSetting configures one exposed field.
type FieldSetting struct {
	Name        string       // unique, not empty
	From        string       // the column; empty means Name
	Schema      value.Schema // declared by a descriptor; zero if it is inferred
	Title       string
	Description string
	Searchable  *bool // nil means the default of the type, as with Filterable and Sortable
	Filterable  *bool
	Sortable    *bool
	Weight      int      // of words in this field in search scores, at most herb.MaxWeight; 0 means 1
	Missing     []string // replaces Source.Missing unless nil
	Optional    bool     // left out, with a note, if no column matches
	// the column of the original file, if the values come from a merged file; empty: From
	Origin      string          `json:"-"`
	Constraints Constraints     `json:",omitzero"`
	Categories  []herb.Category // the only values that the field may have; nil: any
	Ordered     bool            // Categories are in their natural order
}

// Column returns the name of the column that the field exposes.
func (f FieldSetting) Column() string { return cmp.Or(f.From, f.Name) }

// Files returns the paths of the source.
func (s Source) Files() []string { return append([]string{s.Path}, s.MoreFiles...) }

// MaxTables is the maximum number of tables of a file that are one dataset.
const MaxTables = 100

// Parts returns the number of files, or of tables of the file, whose rows follow each other.
func (s Source) Parts() int { return max(len(s.Tables), 1+len(s.MoreFiles)) }

// Name returns the name of a part of the source in messages.
func (s Source) Name(i int) string {
	if len(s.Tables) > 0 {
		return cmp.Or(s.DisplayName, s.Path) + "#" + s.Tables[i]
	}
	if i > 0 {
		return s.MoreFiles[i-1]
	}
	return cmp.Or(s.DisplayName, s.Path)
}

// fileName returns the name by whose extension the format is detected; empty if there is none.
func (s Source) fileName() string {
	if s.Input != nil {
		return s.DisplayName
	}
	return s.Path
}

// Label returns the path, with the table if one is selected.
func (s Source) Label() string {
	if inner := s.InnerPath(); inner != "" {
		return s.Name(0) + "#" + inner
	}
	return s.Name(0)
}

// InnerPath returns the name of the selected table within the file, which may be in a file of an
// archive; empty: none is selected.
func (s Source) InnerPath() string {
	if s.Entry == "" || s.Dialect.Table == "" {
		return s.Entry + s.Dialect.Table
	}
	return s.Entry + "#" + s.Dialect.Table
}

// SplitLabel separates the name of a table from the path of a file, such as garden.db#plants. Both
// may contain a #; the existing files decide.
func SplitLabel(label string) (path, table string) {
	exists := func(path string) bool {
		_, err := os.Lstat(path)
		return !errors.Is(err, fs.ErrNotExist)
	}
	last := strings.LastIndexByte(label[:max(len(label)-1, 0)], '#')
	if last <= 0 || exists(label) {
		return label, ""
	}
	for i := 1; i < last; i++ {
		if label[i] == '#' && exists(label[:i]) {
			return label[:i], label[i+1:]
		}
	}
	return label[:last], label[last+1:]
}

// OpenDir opens the folder that the files are confined to. The caller closes it.
func (s Source) OpenDir() (file.Dir, error) {
	if s.Root == "" {
		return file.Dir{}, nil
	}
	top, err := file.OpenDir(s.Root)
	if err != nil || s.Base == "" {
		return top, err
	}
	defer top.Close()
	return top.Sub(filepath.Join(s.Root, s.Base))
}

// Release declares that the source is not read again. The file that it shares with others is closed
// after the last one.
func (s Source) Release() { s.Shared.Release() }

// Narrows reports whether settings exclude rows or cells.
func (s Source) Narrows() bool {
	return len(s.Include)+len(s.Exclude) > 0 || len(s.Missing) > 0 ||
		slices.ContainsFunc(s.Fields, func(f FieldSetting) bool { return f.Missing != nil })
}

// Normalize returns the source with defaults filled in. It fails if a setting is invalid.
func (s Source) Normalize(formats []rows.Format) (Source, error) {
	if s.Format == "" {
		if f, ok := file.ByPath(formats, cmp.Or(s.Entry, s.fileName())); ok {
			s.Format = f.Name
		}
	} else if _, err := ParseFormat(formats, s.Format); err != nil {
		return s, err
	}
	var err error
	s.Access, err = herb.ParseAccess(string(s.Access))
	if err != nil {
		return s, err
	}
	s.Fields = slices.Clone(s.Fields)
	if len(s.Fields) == 0 {
		s.Fields = nil // both mean every column; they must have the same hash
	}
	for i := range s.Fields {
		s.Fields[i].From = s.Fields[i].Column()
	}
	return s, s.checkLimits()
}

// ValidDelimiter reports whether a character can separate values.
func ValidDelimiter(c byte) bool {
	return c != '"' && c != '\r' && c != '\n' && c != 0 && c < 0x80
}

// firstRules are the text rules of the first releases. They stay part of the hash, so that a hash
// of these releases is still that of the same source.
const firstRules = "1, Unicode 15.0.0/15.0.0, CLDR 23"

// Hash returns the hash of the content of the files and of the settings that shape the result. It
// does not depend on the name of the dataset and the paths, nor on how this program reads the
// files, nor on the rules of text: a new version of the program does not publish unchanged files
// again.
func (s Source) Hash(content [sha256.Size]byte) (string, error) {
	descriptor := string(s.Descriptor)
	s.Ref, s.Path, s.DisplayName, s.MoreFiles, s.Input, s.Notes, s.AccessSet = herb.Ref{}, "", "", nil, nil, nil, false
	s.Descriptor = nil
	b, err := json.Marshal([]any{"herbarium source 1", firstRules, content[:], descriptor,
		hashedSettings(reflect.ValueOf(s))})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// hashedSettings returns a value with objects instead of structs, without members that have their
// zero value: settings that later versions of the program add do not change the hash of a source
// that does not use them.
func hashedSettings(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return hashedSettings(v.Elem())
	case reflect.Struct:
		members := map[string]any{}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" && !v.Field(i).IsZero() {
				members[f.Name] = hashedSettings(v.Field(i))
			}
		}
		return members
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			elements := make([]any, v.Len())
			for i := range elements {
				elements[i] = hashedSettings(v.Index(i))
			}
			return elements
		}
	}
	return v.Interface()
}

// FormatNames returns the names and extensions by which users refer to formats.
func FormatNames(formats []rows.Format) []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
		for _, ext := range f.Extensions {
			if name := ext[1:]; name != f.Name {
				names = append(names, name)
			}
		}
	}
	return names
}

// ParseFormat returns the name of the format that has a name or an extension.
func ParseFormat(formats []rows.Format, name string) (string, error) {
	if f, ok := file.ByName(formats, name); ok {
		return f.Name, nil
	}
	return "", herb.Invalidf("unknown format %.60q; valid formats: %s", name, strings.Join(FormatNames(formats), ", "))
}

// Set is the result of a search for sources.
type Set struct {
	Sources []Source
	Skipped []Skipped
	Errors  []error  // one for each path that cannot be published
	Folders []string // in which changes may lead to another result, besides those of the sources; may repeat
	Named   []string // paths at which files that descriptors name may be: of records and schemas
}

// Skipped is a file or resource that is not published, because it is not a table or because the
// descriptor of its folder does not list it.
type Skipped struct {
	Path, Reason string
	// Ref is the dataset that the file would be published as; zero if it is not a table.
	Ref herb.Ref
}

func (s Skipped) String() string { return s.Path + ": " + s.Reason }

func (s Set) Err() error { return errors.Join(s.Errors...) }

// Skip adds a path that is not a table.
func (s *Set) Skip(path, reason string) {
	s.Skipped = append(s.Skipped, Skipped{Path: path, Reason: reason})
}

// Fail adds an error, unless it is nil.
func (s *Set) Fail(err error) {
	if err != nil {
		s.Errors = append(s.Errors, err)
	}
}

// UniqueNames returns names for columns: column_3 if the third has none, name_2, name_3 … if a name
// occurs again. A name that occurs is not given to another column.
func UniqueNames(names []string) []string {
	used := make(map[string]bool, len(names))
	for _, n := range names {
		used[n] = true
	}
	out := make([]string, len(names))
	seen := make(map[string]bool, len(names))
	next := map[string]int{} // number to try for a repeated name
	for i, name := range names {
		base := cmp.Or(name, "column_"+strconv.Itoa(i+1))
		out[i] = base
		isFirst := name != "" && !seen[name]
		for n := max(next[base], 2); !isFirst && used[out[i]]; n++ {
			out[i] = base + "_" + strconv.Itoa(n)
			next[base] = n + 1
		}
		seen[name], used[out[i]] = true, true
	}
	return out
}

// Located adds the path of a file to an error, unless the message begins with it.
func Located(path string, err error) error {
	if _, ok := errors.AsType[*herb.Error](err); !ok {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return herb.At(path, err)
}
