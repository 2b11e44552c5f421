package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/profile"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/text"
)

// The limits of a file, for messages and tests.
const (
	MaxRecord  = rows.MaxRecord
	MaxColumns = rows.MaxColumns
	MaxName    = rows.MaxName
	MaxNames   = rows.MaxNames
)

// Dialect is how a file is written, as far as it is known.
type Dialect = rows.Options

// Source is one dataset to be published from a file, with the settings that a descriptor or flags give it.
type Source struct {
	Ref          herb.Ref
	Path         string
	Root         string `json:"-"` // folder that Path and Parts must not lead out of; empty: the user named the file itself
	Base         string `json:"-"` // folder below Root that they must not lead out of either; empty: Root
	Called       string // what messages call the file at Path; empty: by its path
	Title        string
	Description  string
	Access       herb.Access     // empty: open
	AccessSet    bool            // the descriptor or the command line stated Access; false: it is the default
	Fields       []FieldSetting  // empty: every column is exposed, its type inferred
	Format       Format          // empty: by the file's extension
	Parts        []string        // files written like the one at Path whose records follow its own
	Inline       json.RawMessage // the records themselves, or a JSON string of a text in Format; Path then names the descriptor that has them
	Encoding     string          // of text, by the name it has in web standards; empty: found out
	Dialect      Dialect
	Missing      []string           // values that stand for a missing one, beside the empty one
	Include      []Include          // what a row must hold to become a record; empty: every row does
	Order        herb.Order         // of a listing that asks for none
	PrimaryKey   []string           // fields whose values together tell the records apart
	Expectations []herb.Expectation `json:"Goldens"` // queries whose answers are known; the JSON name is part of source hashes
	ByPosition   bool               // fields stand in the order of the columns, so that the place tells the column if the name does not
	Descriptor   json.RawMessage    // what a descriptor says of the dataset, as it was written; nil: there is none
	Notes        []string           // what the publisher should know of the settings

	Input *Input `json:"-"` // content without a path; nil: Path is read
}

// Include is a condition for a row to become a record: the column has one of the values.
type Include struct {
	Column string
	Values []string
}

// FieldSetting configures one exposed field.
type FieldSetting struct {
	Name        string
	From        string         // the column; empty: the one called Name
	Type        herb.Type      // empty: inferred
	Schema      profile.Schema // how values of the type are written; its Type is not used
	Title       string
	Description string
	Searchable  *bool // nil: as for a field that is not configured; so are the next two
	Filterable  *bool
	Sortable    *bool
	Weight      int      // how many times a word found here counts in a search; 0: once
	Missing     []string // in place of those of the source; nil: those of the source
	Optional    bool     // it is left out, with a note, where there is no such column
}

// column is the name of the column that the field shows.
func (f FieldSetting) column() string {
	if f.From != "" {
		return f.From
	}
	return f.Name
}

// Format is how a file is written.
type Format string

// The formats that are named in the code.
const (
	FormatCSV     Format = "csv"
	FormatTSV     Format = "tsv"
	FormatJSON    Format = "json"
	FormatParquet Format = "parquet"
	FormatXLSX    Format = "xlsx"
	FormatSQLite  Format = "sqlite"
)

// settled returns the source with every default filled in, or says which setting is wrong.
func (s Source) settled() (Source, error) {
	if s.Format == "" {
		if s.Inline == nil {
			s.Format, _ = formatOf(s.Path) // empty: detected by its content
		}
	} else if _, err := ParseFormat(string(s.Format)); err != nil {
		return s, err
	}
	if s.Dialect.Delimiter != 0 && !validDelimiter(s.Dialect.Delimiter) {
		return s, herb.Invalidf("%q cannot separate values; choose one ASCII character that is no quote and no line end",
			string(rune(s.Dialect.Delimiter)))
	}
	var err error
	if s.Access, err = herb.ParseAccess(string(s.Access)); err != nil {
		return s, err
	}
	s.Fields = append([]FieldSetting(nil), s.Fields...) // empty becomes nil: both mean every column, and hash alike
	seen := make(map[string]bool, len(s.Fields))
	for i := range s.Fields {
		f := &s.Fields[i]
		switch {
		case f.Name == "":
			return s, herb.Invalidf("field %d has no name; give each field a name", i+1)
		case len(f.Name) > MaxName:
			return s, herb.Invalidf("the name of field %d, %q, has %d bytes; at most %d are possible", i+1, rows.Clip(f.Name), len(f.Name), MaxName)
		case seen[f.Name]:
			return s, herb.Invalidf("field %q is configured twice; give each field a name of its own", f.Name)
		case f.Type != "":
			if _, err := herb.ParseType(string(f.Type)); err != nil {
				return s, err
			}
		}
		if f.Weight < 0 || f.Weight > herb.MaxWeight {
			return s, herb.Invalidf("field %q has the weight %d; it must be from 1 to %d", f.Name, f.Weight, herb.MaxWeight)
		}
		seen[f.Name] = true
		f.From = f.column()
	}
	return s, nil
}

func validDelimiter(c byte) bool {
	return c != '"' && c != '\r' && c != '\n' && c != 0 && c < 0x80
}

// hashFormat is part of every source hash, as are the rules of text. It changes when the same file with the same settings
// would be read in another way than before: then what is published is not what would be published now.
const hashFormat = "herbarium source 4"

// hash returns the hash of what a dataset is made from: the content of its file and the settings that shape the result.
// The name of the dataset and the place of the file do not count.
func (s Source) hash(content [sha256.Size]byte) (string, error) {
	b, err := json.Marshal(struct {
		Format  string
		Content []byte
		Source  Source
	}{
		hashFormat + ", text rules " + text.Rules(), content[:],
		s.shape(),
	})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// shape is the source without what does not shape the result.
func (s Source) shape() Source {
	s.Ref, s.Path, s.Called, s.Parts, s.Inline, s.Notes, s.AccessSet, s.Input = herb.Ref{}, "", "", nil, nil, nil, false, nil
	return s
}
