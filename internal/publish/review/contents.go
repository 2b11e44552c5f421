package review

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
)

// contents are what an inspection has read in the file: what edits refer to, and below that what
// the review shows besides.
type contents struct {
	Columns  []string
	Fields   []columnField
	Unit     string // of rows that can be kept or dropped; empty: none can
	Header   []int
	Left     []leftRow
	Comments []int       // lines that are no records, by their number
	Spans    map[int]int // last lines of rows that are shown and have several
	Entry    string      // file of an archive

	dataset  herb.Dataset
	format   string
	shown    []Row
	columns  []Column
	warnings []string
}

// columnField describes the field of a column.
type columnField struct {
	Name     string
	Column   int
	Type     herb.Type
	Notation herb.Notation
}

// leftRow is a row that is left out although it has values.
type leftRow struct {
	Row    int
	Reason string
}

// reasonRepeated is why rows are left out that no setting but "no header" can keep.
const reasonRepeated = "repeats the header"

func newContents(t *ingest.Table) *contents {
	l := t.Dataset.Report.Layout
	f := &contents{
		Columns: t.Columns(), Comments: t.Source.Dialect.CommentRows, Header: l.Header, Entry: t.Source.Entry,
		Spans:   map[int]int{},
		dataset: t.Dataset, format: formatOf(t), columns: newColumns(t),
	}
	// arrays have no settings for rows, and rows of several parts have the same numbers
	if (l.Unit == "line" || l.Unit == "row") && t.Source.Parts() == 1 {
		f.Unit = l.Unit
	}
	for _, r := range l.Rows {
		if r.Text != "" {
			f.Left = append(f.Left, leftRow{r.Row, r.Reason})
		}
	}
	columns := t.FieldColumns()
	for i, field := range t.Dataset.Fields {
		notation := withoutExceptions(field.Notation, t.Dataset.Report.Columns[i].Exceptions)
		f.Fields = append(f.Fields, columnField{Name: field.Name, Column: columns[i], Type: field.Type,
			Notation: notation})
	}
	return f
}

// leftOut returns why rows with values are left out, by their number.
func (f *contents) leftOut() map[int]string {
	left := make(map[int]string, len(f.Left))
	for _, r := range f.Left {
		left[r.Row] = r.Reason
	}
	return left
}

// withoutExceptions returns a notation in which exceptions are not missing values.
func withoutExceptions(n herb.Notation, exceptions []herb.ValueCount) herb.Notation {
	n.Missing = slices.DeleteFunc(slices.Clone(n.Missing), func(marker string) bool {
		return slices.ContainsFunc(exceptions, func(e herb.ValueCount) bool { return e.Value == marker })
	})
	return n
}
