// Package herb defines the domain types: plants, datasets and their fields, keys and their scopes,
// and the error type. It is independent of files, databases and protocols and imports only the
// standard library.
package herb

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Ref names a dataset by the two path segments of its URL.
type Ref struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String returns "namespace/name".
func (r Ref) String() string { return r.Namespace + "/" + r.Name }

// Compare orders refs by namespace, then by name.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(strings.Compare(r.Namespace, o.Namespace), strings.Compare(r.Name, o.Name))
}

// MaxName is the maximum length of a namespace or dataset name in bytes.
const MaxName = 100

// ParseRef parses "namespace/name". It rejects names that would need escaping in a URL.
func ParseRef(s string) (Ref, error) {
	ns, name, ok := strings.Cut(s, "/")
	if !ok || !ValidName(ns) || !ValidName(name) {
		return Ref{}, Invalidf("%q does not name a dataset; write namespace/dataset, each of up to %d "+
			"lower-case letters, digits, '-', '_' and '.', starting with a letter or digit", s, MaxName)
	}
	return Ref{Namespace: ns, Name: name}, nil
}

var validName = regexp.MustCompile(fmt.Sprintf(`^[a-z0-9][a-z0-9._\-]{0,%d}$`, MaxName-1))

// ValidName reports whether s is a valid namespace or dataset name.
func ValidName(s string) bool { return validName.MatchString(s) }

// Access determines who may read a version. That of a description is never empty; elsewhere it is
// empty if it is unknown.
type Access string

// NeedsKey reports whether a key is required to read a version. An unknown access requires one.
func (a Access) NeedsKey() bool { return a != AccessOpen }

// Access levels. Datasets are open unless declared otherwise.
const (
	AccessOpen Access = "open"
	AccessKey  Access = "key"
)

// ParseAccess parses an Access; an empty string is AccessOpen.
func ParseAccess(s string) (Access, error) {
	switch a := Access(s); a {
	case "":
		return AccessOpen, nil
	case AccessOpen, AccessKey:
		return a, nil
	default:
		return "", Invalidf("unknown access %q; choose open or key", s)
	}
}

// Dataset describes one version of a dataset.
type Dataset struct {
	Ref
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Access      Access    `json:"access"`
	Fields      []Field   `json:"fields"`
	Version     string    `json:"version"`   // changes whenever a result may change
	Records     int       `json:"records"`   // number of records in this version
	Published   time.Time `json:"published"` // creation time of this version
	SourceHash  string    `json:"source"`    // hash of source and settings
	// cannot be listed at the moment; the other fields are the last known values
	Unavailable bool `json:"unavailable,omitempty"`
	// Labels are the names that publishers have given to the version, sorted. Only the history of a
	// dataset has them: they change, and descriptions of versions do not.
	Labels []string `json:"labels,omitempty"`
	Details
	// Expected is the declared frequency in lists, whose descriptions may have no descriptor.
	Expected Frequency `json:"-"`
	// Coordinates are where the records are, the first one unless a request names another. They are
	// read from the segment of an open version, not from the catalogue.
	Coordinates []Coordinates `json:"-"`
}

// WithoutValues returns the description of a dataset without what may quote values of its records:
// the descriptor, the report, the message, the coordinates, the categories of fields, and their
// notation, which contains their words for true, false and missing. It is what readers without a
// key see of a dataset that requires one.
func (d Dataset) WithoutValues() Dataset {
	d.Expected = d.frequency()
	d.Descriptor, d.Report, d.Compared, d.Coordinates = nil, nil, nil, nil
	d.Message, d.Labels = "", nil
	d.Fields = slices.Clone(d.Fields)
	for i := range d.Fields {
		d.Fields[i].Notation, d.Fields[i].Categories, d.Fields[i].Ordered = Notation{}, nil, false
	}
	return d
}

// ForReaders returns the description of a dataset with the report and the descriptor for readers.
func (d Dataset) ForReaders() Dataset {
	d.Report, d.Descriptor = d.Report.ForReaders(), d.Descriptor.ForReaders()
	return d
}

// Details is the part of a version's description that listings do not need.
//
// The order of its members is that of their encoding: DecodeMetadata reads the first ones and stops
// at the report.
type Details struct {
	Order      Order       `json:"order,omitzero"`        // default order of listings; zero means source order
	PrimaryKey []string    `json:"primary_key,omitempty"` // fields whose combined values are unique
	Descriptor *Descriptor `json:"descriptor,omitempty"`  // nil: the publisher has stated none
	Message    string      `json:"message,omitempty"`     // what the publisher says about the version
	Report     *Report     `json:"report,omitempty"`      // import report; nil if there is none
	// The publisher has declared no primary key; it is a field of which the values of the version
	// differ.
	InferredKey bool `json:"primary_key_inferred,omitempty"`
	// identifies the segment file on other nodes; nil if it is on one machine only
	File     *File     `json:"file,omitempty"`
	Origins  []Origin  `json:"origins,omitempty"`  // sources of a protected version; never shown to readers
	Settings *Settings `json:"settings,omitempty"` // for the next publish; never shown to readers
	// with the version that it replaced; nil if there was none or it is unknown
	Compared *RecordChanges `json:"compared,omitempty"`
	// Predecessors are the versions that were live before it, the last one first, as far as they
	// were kept when it was published. nil if an earlier release has published it; see
	// PredecessorsOf. They are never shown to readers.
	Predecessors []string `json:"predecessors,omitzero"`
}

// DecodeMetadata decodes what lists of datasets show: order, primary key, descriptor and message.
// It does not read the report, which is by far the largest member.
func (d *Details) DecodeMetadata(content []byte) error {
	members := map[json.Token]any{"order": &d.Order, "primary_key": &d.PrimaryKey, "descriptor": &d.Descriptor,
		"message": &d.Message}
	decoder := json.NewDecoder(bytes.NewReader(content))
	_, err := decoder.Token() // {
	for err == nil && decoder.More() {
		var name json.Token
		name, err = decoder.Token()
		if err == nil {
			member, ok := members[name]
			if !ok {
				return nil
			}
			err = decoder.Decode(member)
		}
	}
	return err
}

// Settings is how a version was published. A publish without a descriptor uses those of the live
// version.
type Settings struct {
	// Descriptor is a Data Package with one resource, complete: with the files that it referred to,
	// and with the conditions and expectations that readers do not see. nil if there was none.
	Descriptor json.RawMessage `json:"descriptor,omitempty"`
	Reading    Reading         `json:"reading,omitzero"`
	Public     bool            `json:"public,omitempty"` // everybody who may read the records may read the source
	Kept       *Kept           `json:"kept,omitempty"`   // the source that is kept with the version; nil: none
	Hidden     *Hiding         `json:"hidden,omitempty"` // nil: nothing, or the version is of an earlier release
}

// Kept describes the source that is kept with a version.
type Kept struct {
	Name   string `json:"name,omitempty"` // of the file
	Size   int64  `json:"size"`           // of its original bytes, like SHA256
	SHA256 string `json:"sha256"`
	Merged bool   `json:"merged,omitempty"` // it was made from records, so that its columns are the fields
}

// LiveVersion is the live version of a dataset without its description.
type LiveVersion struct {
	Ref
	Version   string      `json:"version"` // empty in a list of changes: the dataset was removed
	Records   int         `json:"records"`
	Published time.Time   `json:"published"`
	Access    Access      `json:"access,omitempty"` // empty if it is unknown
	Expected  Frequency   `json:"expected,omitempty"`
	Fetch     FetchSource `json:"fetch,omitzero"`
}

// Origin is a source file of a dataset.
type Origin struct {
	Path string `json:"path"` // absolute, with symbolic links resolved
	// sheet, table or file of an archive, or file#sheet; empty means the whole file or its only
	// table
	InnerPath string `json:"part,omitempty"`
}

// Overlaps reports whether two origins may have records in common.
func (o Origin) Overlaps(p Origin) bool {
	contains := func(a, b string) bool { return a == b || a == "" || strings.HasPrefix(b, a+"#") }
	return o.Path == p.Path && (contains(o.InnerPath, p.InnerPath) || contains(p.InnerPath, o.InnerPath))
}

// File identifies the segment file of a version.
type File struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // hexadecimal
	// Index names the indexes of the file, as segment.CurrentIndex does; empty if the release that
	// published it did not record them.
	Index string `json:"index,omitempty"`
}

// HasContentOf reports whether both files have the same bytes.
func (f File) HasContentOf(other File) bool { return f.Size == other.Size && f.SHA256 == other.SHA256 }

// FileHash computes the File of what is written to it.
type FileHash struct {
	sum  hash.Hash
	size int64
}

// NewFileHash returns a FileHash of no bytes.
func NewFileHash() *FileHash { return &FileHash{sum: sha256.New()} }

// Write implements io.Writer.
func (h *FileHash) Write(p []byte) (int, error) {
	h.size += int64(len(p))
	return h.sum.Write(p)
}

// File returns the size and hash of the bytes written so far.
func (h *FileHash) File() File { return File{Size: h.size, SHA256: hex.EncodeToString(h.sum.Sum(nil))} }

// Order is a field to sort by and the direction.
type Order struct {
	Field string `json:"field"`
	Desc  bool   `json:"desc,omitempty"`
}

// Type determines how the values of a field compare. The values themselves are always strings,
// stored as written.
type Type string

// Field types.
const (
	TypeText     Type = "text"     // compared by Unicode collation
	TypeNumber   Type = "number"   // decimal numbers of any precision
	TypeDate     Type = "date"     // days of the calendar
	TypeDateTime Type = "datetime" // instants; a time without a zone is in UTC
	TypeTime     Type = "time"     // times of day, without a zone
	TypeDuration Type = "duration" // lengths of time, which may be negative
	TypeBoolean  Type = "boolean"  // false sorts before true
	TypeList     Type = "list"     // elements in one string, separated by commas or in a JSON array
)

// Types returns all types.
func Types() []Type {
	return []Type{TypeText, TypeNumber, TypeDate, TypeDateTime, TypeTime, TypeDuration, TypeBoolean, TypeList}
}

// IsScalar reports whether the values of a type have a canonical form by which they compare, and
// may be missing.
func (t Type) IsScalar() bool { return t != TypeText && t != TypeList }

// Notation describes how the values of a scalar field or a list are written. The zero value is the
// standard notation of the type: a decimal point, ISO 8601, the words true/false, yes/no, t/f and
// y/n, and commas between elements.
type Notation struct {
	Decimal string `json:"decimal,omitempty"` // decimal separator; empty means a point
	// thousands separator; a space includes no-break spaces, an apostrophe includes ’
	Group  string `json:"group,omitempty"`
	Affix  string `json:"affix,omitempty"`  // currency sign or percent sign before or after a number
	Padded bool   `json:"padded,omitempty"` // numbers may have leading zeros
	// of dates, datetimes and times, in strptime directives such as %d/%m/%Y; alternatives are
	// separated by |; %M:%S for durations
	DateFormat string   `json:"layout,omitempty"`
	True       []string `json:"true,omitempty"` // words for true; with False, replaces the standard words
	False      []string `json:"false,omitempty"`
	JSON       bool     `json:"json,omitempty"`    // lists are JSON arrays
	Missing    []string `json:"missing,omitempty"` // markers of missing values that occur, such as NA; sorted
}

// Field is an exposed field of a dataset. Its position in Dataset.Fields is the position of its
// value in a Record.
type Field struct {
	Name        string   `json:"name"`
	Type        Type     `json:"type"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Searchable  bool     `json:"searchable"`
	Filterable  bool     `json:"filterable"`
	Sortable    bool     `json:"sortable"`
	Weight      int      `json:"weight,omitempty"`      // weight of words in this field in search scores; 0 means 1
	ExactWords  bool     `json:"exact_words,omitempty"` // a search finds words only as they are written
	Notation    Notation `json:"notation,omitzero"`
	// Categories are the only values that the field may have; nil: any. They are not changed.
	Categories []Category `json:"categories,omitempty"`
	Ordered    bool       `json:"categories_ordered,omitempty"` // Categories are in their natural order
}

// MaxWeight is the maximum weight of a field.
const MaxWeight = 10

// FieldIndex returns the position of the field with the given name, or -1.
func FieldIndex(fields []Field, name string) int {
	for i := range fields { // slices.IndexFunc copies each field, which takes five times as long
		if fields[i].Name == name {
			return i
		}
	}
	return -1
}

// Record is the values of one record in field order. A missing value is an empty string.
type Record []string

// NewPlant is a plant to be created.
type NewPlant struct {
	ID int64
	Plant
}

// Plant is a created plant. Tag is nil if none was given, which differs from an empty tag.
type Plant struct {
	Name string  `json:"name"`
	Tag  *string `json:"tag,omitempty"`
}

// PlantsRef is the dataset that lists the created plants. The name is reserved.
var PlantsRef = Ref{Namespace: "store", Name: "plants"}

// PublishesNamespace is a reserved namespace: /api/v1/publishes/<id> is the state of a publish.
const PublishesNamespace = "publishes"

// PlantFields returns the fields of the plants listing.
func PlantFields() []Field {
	return []Field{
		{Name: "id", Type: TypeNumber, Description: "Identification number of the plant", Filterable: true,
			Sortable: true},
		{Name: "name", Type: TypeText, Description: "Name of the plant", Searchable: true, Filterable: true,
			Sortable: true},
		{Name: "tag", Type: TypeText, Description: "Tag that specifies the type", Searchable: true, Filterable: true,
			Sortable: true},
	}
}

// Blob is a file in an object store.
type Blob struct {
	Name     string
	Size     int64
	Modified time.Time // by the clock of the object store
}
