package herb

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Ref names a dataset: the two path segments of its address.
type Ref struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String returns "namespace/name".
func (r Ref) String() string { return r.Namespace + "/" + r.Name }

// Compare orders refs by namespace, then by name.
func (r Ref) Compare(o Ref) int {
	if c := strings.Compare(r.Namespace, o.Namespace); c != 0 {
		return c
	}
	return strings.Compare(r.Name, o.Name)
}

// MaxName is the longest namespace or dataset name, in bytes.
const MaxName = 100

// ParseRef reads "namespace/name" and refuses names that could not stand in an address as they are.
func ParseRef(s string) (Ref, error) {
	ns, name, ok := strings.Cut(s, "/")
	if !ok || !ValidName(ns) || !ValidName(name) {
		return Ref{}, Invalidf("%q does not name a dataset; write namespace/dataset, each of up to %d "+
			"lower-case letters, digits, '-', '_' and '.', starting with a letter or digit", s, MaxName)
	}
	return Ref{Namespace: ns, Name: name}, nil
}

// ValidName reports whether s can be a namespace or the name of a dataset.
func ValidName(s string) bool {
	if s == "" || len(s) > MaxName {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case i > 0 && (c == '-' || c == '_' || c == '.'):
		default:
			return false
		}
	}
	return true
}

// Access says who may list a dataset.
type Access string

// A dataset is open unless it is said to need a key.
const (
	AccessOpen Access = "open"
	AccessKey  Access = "key"
)

// ParseAccess reads an Access; an empty string is AccessOpen.
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
	Version     string    `json:"version"`               // changes whenever an answer may change
	Records     int       `json:"records"`               // in this version
	Published   time.Time `json:"published"`             // when this version was made
	Source      string    `json:"source"`                // hash of what it was made from, settings included
	Unavailable bool      `json:"unavailable,omitempty"` // it cannot be listed at the moment; this is what was last known of it
	Details
}

// Details are what a version has to say of itself beyond what a listing needs.
type Details struct {
	Order      Order           `json:"order,omitzero"`        // of a listing that asks for none; zero: that of the source
	PrimaryKey []string        `json:"primary_key,omitempty"` // fields whose values together tell the records apart
	Descriptor json.RawMessage `json:"descriptor,omitempty"`  // what its publisher wrote about it, members unknown to us included
	Report     *Report         `json:"report,omitempty"`      // what the publish understood; nil: it left none
	File       *File           `json:"file,omitempty"`        // how nodes know its file; nil: it is on one machine alone
	Origins    []Origin        `json:"origins,omitempty"`     // of a protected version: what it was made from; readers never see it
}

// Origin is a file that a dataset was made from.
type Origin struct {
	Path string `json:"path"`           // absolute, symbolic links resolved
	Part string `json:"part,omitempty"` // sheet or table; empty: all of the file, or the only part
}

// Overlaps reports whether two origins may have records in common.
func (o Origin) Overlaps(p Origin) bool {
	return o.Path == p.Path && (o.Part == p.Part || o.Part == "" || p.Part == "")
}

// File tells the file of a version from any other.
type File struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // in hexadecimal
}

// Order is a field to sort by and the direction.
type Order struct {
	Field string `json:"field"`
	Desc  bool   `json:"desc,omitempty"`
}

// Type says how the values of a field compare. The values themselves are always strings, kept as they were written.
type Type string

// The types of fields.
const (
	TypeText   Type = "text"   // compares as people sort text
	TypeNumber Type = "number" // plain decimal notation, of any precision
	TypeDate   Type = "date"   // YYYY-MM-DD
	TypeList   Type = "list"   // comma-separated elements in one string
)

// Types lists all types, for messages and schemas.
func Types() []Type { return []Type{TypeText, TypeNumber, TypeDate, TypeList} }

// ParseType reads a Type.
func ParseType(s string) (Type, error) {
	if t := Type(s); slices.Contains(Types(), t) {
		return t, nil
	}
	return "", Invalidf("unknown type %q; choose text, number, date or list", s)
}

// Field is an exposed field of a dataset. The position of a field in Dataset.Fields is the position of its value in a
// Record.
type Field struct {
	Name        string `json:"name"`
	Type        Type   `json:"type"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Searchable  bool   `json:"searchable"`
	Filterable  bool   `json:"filterable"`
	Sortable    bool   `json:"sortable"`
	Weight      int    `json:"weight,omitempty"` // how many times a word found here counts in a search; 0: once
}

// MaxWeight is the highest weight of a field.
const MaxWeight = 10

// FieldIndex returns the position of the field with that name, -1 if there is none.
func FieldIndex(fields []Field, name string) int {
	return slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
}

// Record holds the values of one record in the order of the fields. A missing value is an empty string.
type Record []string
