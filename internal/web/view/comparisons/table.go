// Package comparisons builds the view models of what changed: between two versions, in the versions
// of a dataset, and in the history of a record.
package comparisons

import (
	"cmp"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

// Table is rows with their changed cells: the changes between two versions, or the history of a
// record.
type Table struct {
	Headers []Header
	Rows    []Row
}

// Header is the head of a column.
type Header struct {
	columns.Column
	Changed int  // changed records in which the field differs
	Share   int  // of these among all changed records, in percent; at least 1 if there are any
	New     bool // the earlier version has no such field
}

// Row is a row of a table.
type Row struct {
	Op      query.ChangeOp // empty: the row is the same in both versions
	Href    string         // link to the history of the record; empty: it has none
	Version *Version       // of the history of a record; nil: the row is a change
	Note    string         // why the row has no cells; empty: it has
	Detail  string         // what else is to be said of the row, such as "no change"
	Cells   []Cell
}

// Sign returns the sign of the change of a row.
func (r Row) Sign() string { return Sign(r.Op) }

// Sign returns the sign of a change, which tells it from the others without a color.
func Sign(op query.ChangeOp) string {
	switch op {
	case query.OpAdded:
		return "+"
	case query.OpRemoved:
		return "−"
	case query.OpChanged:
		return "~"
	}
	return ""
}

// Cell is a value of a row: the only one, or the old and the new one.
type Cell struct {
	Heading  string // of the column, for cards
	Old, New Text
	Changed  bool
	Note     string // why values that differ look the same; empty: they do not
}

// IsLong reports whether a changed value needs several lines.
func (c Cell) IsLong() bool {
	const oneLine = 48 // characters
	return c.Old.length()+c.New.length() > oneLine
}

// The limits of a value in characters that are shown.
const (
	maxSame    = 80  // of one that did not change
	maxChanged = 160 // of one that did
	lead       = 40  // of these before the first difference
)

// MaxSame is how many bytes of a value that did not change a table needs. Of one that did it needs
// all, because the difference may be anywhere.
const MaxSame = 4 * (maxSame + 1)

// maxColumns is the number of columns of a table: those that the grid shows, and further ones with
// changes.
const maxColumns = 40

// NewTable returns a table without rows. Unless columns are selected, those that name the records
// come first, then those with changes. earlier is the fields of the earlier version; changed is
// the number of changed records in which each field differs, of all of them. Both are nil for the
// history of a record.
func NewTable(s *state.State, earlier []herb.Field, changed []int, all int) *Table {
	shown := slices.Clone(s.ShownColumns())
	if s.Columns == nil && changed != nil {
		var first []int
		add := func(i int) {
			if i >= 0 && len(first) < maxColumns && !slices.Contains(first, i) {
				first = append(first, i)
			}
		}
		for _, name := range s.Dataset.PrimaryKey {
			add(herb.FieldIndex(s.Fields, name))
		}
		if len(s.Fields) > 0 {
			add(s.Dataset.Naming)
		}
		for i, n := range changed {
			if n > 0 {
				add(i)
			}
		}
		for _, i := range shown {
			add(i)
		}
		shown = first
	}
	t := &Table{}
	for _, i := range shown {
		h := Header{Column: columns.NewColumn(s.Dataset, i), New: earlier != nil &&
			herb.FieldIndex(earlier, s.Fields[i].Name) < 0}
		if changed != nil && changed[i] > 0 {
			h.Changed, h.Share = changed[i], max(1, changed[i]*100/max(1, all))
		}
		t.Headers = append(t.Headers, h)
	}
	return t
}

// Pair is a change of a record, with its values by field of the later version. isChanged reports
// whether a field differs; the values that a table shows may be only the start of others.
type Pair struct {
	Op        query.ChangeOp // empty: nothing differs
	Old, New  herb.Record    // nil: that version has no such record
	IsChanged func(field int) bool
}

// Add adds a row for a pair.
func (t *Table) Add(row Row, p Pair) {
	row.Op = p.Op
	isShown := p.Op != query.OpChanged
	for i := range t.Headers {
		row.Cells = append(row.Cells, newCell(&t.Headers[i], p))
		isShown = isShown || row.Cells[i].Changed
	}
	if !isShown {
		row.Detail = "in columns that are not shown"
	}
	t.Rows = append(t.Rows, row)
}

func newCell(h *Header, p Pair) Cell {
	c := Cell{Heading: h.Heading}
	switch {
	case p.Op == query.OpRemoved:
		c.Old = plainText(h.shown(p.Old))
	case p.Op == query.OpChanged && p.IsChanged(h.Index):
		c.Changed = true
		old, now := h.shown(p.Old), h.shown(p.New)
		if old == now { // the label of one value is the other one
			old, now = p.Old[h.Index], p.New[h.Index]
		}
		c.Old, c.New, c.Note = compareTexts(old, now)
	default:
		c.New = plainText(h.shown(p.New))
	}
	return c
}

// shown returns the value of a record as a reader reads it.
func (h *Header) shown(r herb.Record) string { return cmp.Or(h.Label(r[h.Index]), r[h.Index]) }
