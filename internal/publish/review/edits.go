package review

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/rows"
)

// Limits of edits.
const (
	maxEdits      = 512 << 10 // bytes of all edits as JSON
	maxRowEdits   = 1_000     // rows that are kept, dropped or name the columns
	maxHeaderRows = 10
)

// check fails with herb.CodeInvalid if edits are not valid, whatever the file contains.
func (e Edits) check() error {
	if content, err := json.Marshal(e); err != nil || len(content) > maxEdits {
		return herb.Invalidf("the changes are larger than %s; make fewer or shorter ones", herb.FormatBytes(maxEdits))
	}
	for _, t := range []struct {
		name  string
		value *string
		limit int
	}{{"title", e.Title, herb.MaxTitle}, {"license", e.License, herb.MaxTitle},
		{"description", e.Description, herb.MaxDescription}, {"table", &e.Table, herb.MaxTitle},
		{"encoding", &e.Encoding, herb.MaxTitle}} {
		if t.value != nil && (!utf8.ValidString(*t.value) || utf8.RuneCountInString(*t.value) > t.limit) {
			return herb.Invalidf("the %s must be text of at most %d characters", t.name, t.limit)
		}
	}
	if _, err := herb.ParseMessage(e.Message); err != nil {
		return err
	}
	if e.Access != "" {
		if _, err := herb.ParseAccess(string(e.Access)); err != nil {
			return err
		}
	}
	if e.Tables != nil && len(*e.Tables) > descriptor.MaxTables {
		return herb.Invalidf("%d tables are selected; at most %d are one dataset", len(*e.Tables), descriptor.MaxTables)
	}
	if e.Expected != nil && *e.Expected != "" {
		if _, ok := herb.ParseFrequency(*e.Expected); !ok {
			return herb.Invalidf("unknown interval of editions %q; choose one of the list", rows.Clip(*e.Expected))
		}
	}
	if e.PrimaryKey != nil && (len(*e.PrimaryKey) > herb.MaxKeyFields || slices.Contains(*e.PrimaryKey, "")) {
		return herb.Invalidf("the primary key must be one to %d fields, or none", herb.MaxKeyFields)
	}
	if err := e.checkRows(); err != nil {
		return err
	}
	return e.checkColumns()
}

func (e Edits) checkRows() error {
	var header []int
	if e.HeaderRows != nil {
		header = *e.HeaderRows
	}
	if len(header) > maxHeaderRows || len(e.Keep)+len(e.Drop) > maxRowEdits {
		return herb.Invalidf("at most %d rows can name the columns, and %d can be kept or dropped", maxHeaderRows,
			maxRowEdits)
	}
	for _, n := range slices.Concat(header, e.Keep, e.Drop) {
		if n < 1 {
			return herb.Invalidf("%d is not the number of a row; rows are counted from 1", n)
		}
	}
	if len(e.Exclude) > maxRowEdits {
		return herb.Invalidf("at most %d values can leave out rows", maxRowEdits)
	}
	for _, x := range e.Exclude {
		if x.Column < 0 || x.Column >= rows.MaxColumns || !utf8.ValidString(x.Value) {
			return herb.Invalidf("there is no column %d with this value", x.Column+1)
		}
	}
	for _, n := range e.Drop {
		if slices.Contains(header, n) || slices.Contains(e.Keep, n) {
			return herb.Invalidf("row %d cannot be dropped and kept; choose one", n)
		}
	}
	return nil
}

func (e Edits) checkColumns() error {
	for _, position := range slices.Sorted(maps.Keys(e.Columns)) {
		c := e.Columns[position]
		switch {
		case position < 0 || position >= rows.MaxColumns:
			return herb.Invalidf("there is no column %d", position)
		case c.Type != "" && !slices.Contains(herb.Types(), c.Type):
			return herb.Invalidf("unknown type %q of column %d", rows.Clip(string(c.Type)), position+1)
		case c.Format != "" && c.Type != herb.TypeDate && c.Type != herb.TypeDateTime:
			return herb.Invalidf("the format %q of column %d is that of dates; choose the type date or datetime",
				rows.Clip(c.Format), position+1)
		case len(c.Format) > herb.MaxTitle || !utf8.ValidString(c.Format):
			return herb.Invalidf("the format of column %d is too long, or not UTF-8; it has at most %d bytes",
				position+1, herb.MaxTitle)
		case len(c.Name) > herb.MaxFieldName || !utf8.ValidString(c.Name+c.title()) ||
			utf8.RuneCountInString(c.title()) > herb.MaxTitle:
			return herb.Invalidf("the name or the title of column %d is too long, or not UTF-8; a name has at most "+
				"%d bytes, a title %d characters", position+1, herb.MaxFieldName, herb.MaxTitle)
		case len(c.Missing) > herb.MaxValues:
			return herb.Invalidf("column %d has %d values that mean missing; at most %d are possible", position+1,
				len(c.Missing), herb.MaxValues)
		}
	}
	return nil
}

// title returns the edited title; empty if it is not changed or removed.
func (c ColumnEdit) title() string {
	if c.Title == nil {
		return ""
	}
	return *c.Title
}

// Equal reports whether two edits are the same. No list and an empty one are.
func (e Edits) Equal(other Edits) bool {
	return reflect.DeepEqual(e.withoutEmpty(), other.withoutEmpty())
}

// withoutMessage returns the edits that change what is published.
func (e Edits) withoutMessage() Edits {
	e.Message = ""
	return e
}

// withoutEmpty returns edits without columns that are not changed, and with sorted rows.
func (e Edits) withoutEmpty() Edits {
	e.Columns = maps.Clone(e.Columns)
	maps.DeleteFunc(e.Columns, func(_ int, c ColumnEdit) bool { return c.isZero() })
	if len(e.Columns) == 0 {
		e.Columns = nil
	}
	sorted := func(rows []int) []int { return slices.Compact(slices.Sorted(slices.Values(rows))) }
	if e.HeaderRows != nil {
		header := append([]int{}, sorted(*e.HeaderRows)...)
		e.HeaderRows = &header
	}
	e.Keep, e.Drop = sorted(e.Keep), sorted(e.Drop)
	if len(e.Exclude) == 0 {
		e.Exclude = nil
	}
	return e
}

func (c ColumnEdit) isZero() bool {
	return reflect.ValueOf(c).IsZero() || reflect.DeepEqual(c, ColumnEdit{Missing: []string{}})
}

// editsRows reports whether the publisher has decided what rows are.
func (e Edits) editsRows() bool { return e.HeaderRows != nil || len(e.Keep)+len(e.Drop) > 0 }

// refersToFile reports whether the edits are about the encoding, rows or columns of the file.
func (e Edits) refersToFile() bool {
	return e.editsRows() || len(e.Columns) > 0 || len(e.Exclude) > 0 || e.Encoding != "" || e.Descriptor != nil ||
		e.Tables != nil
}

// needsDescriptor reports whether the edits cannot be published without a descriptor.
func (e Edits) needsDescriptor() bool {
	e.Table = ""
	e = e.withoutEmpty()
	return e.editsRows() || len(e.Columns) > 0 || len(e.Exclude) > 0 || e.Title != nil || e.Description != nil ||
		e.License != nil || e.Expected != nil || e.Access != "" || e.PrimaryKey != nil || e.Encoding != "" ||
		e.Link != "" || e.Descriptor != nil || e.Tables != nil
}

// describes reports whether there are edits of how the dataset is described, which the records do
// not depend on.
func (e Edits) describes() bool {
	return e.Title != nil || e.Description != nil || e.License != nil || e.Expected != nil
}

// ofFile returns the edits about the file: its tables, its encoding and its descriptor.
func (e Edits) ofFile() Edits {
	return Edits{Table: e.Table, Tables: e.Tables, Encoding: e.Encoding, Descriptor: e.Descriptor}
}

// ofRows returns the edits that an inspection of rows depends on: those about the file and its
// rows.
func (e Edits) ofRows() Edits {
	of := e.ofFile()
	of.HeaderRows, of.Keep, of.Drop = e.HeaderRows, e.Keep, e.Drop
	return of
}
