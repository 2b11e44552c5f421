package view

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// The limits of a page; a dataset may have ten thousand fields.
const (
	maxDefaultColumns = 30  // shown if none are selected
	maxColumns        = 100 // shown at most
	maxOffered        = 100 // offered by a menu; a search finds the others
)

// columnParams returns the parameters that select the columns: none for the default ones, else one, unless a name
// contains a comma, which separates the names of query.ParamFields.
func (s *State) columnParams() query.Params {
	if len(s.Columns) == 0 {
		return nil
	}
	var names []string
	separate := false
	for _, i := range s.Columns {
		names = append(names, s.fields[i].Name)
		separate = separate || len(s.Columns) > 1 && strings.Contains(s.fields[i].Name, ",")
	}
	if !separate {
		return query.Params{{Name: query.ParamFields, Value: strings.Join(names, ",")}}
	}
	var ps query.Params
	for _, n := range names {
		ps = append(ps, query.Param{Name: ParamColumn, Value: n})
	}
	return ps
}

// changeColumns applies a parameter that hides or moves a column.
func (s *State) changeColumns(p query.Param) {
	steps := map[string]int{ParamHide: 0, ParamLeft: -1, ParamRight: 1}
	step, ok := steps[p.Name]
	if !ok {
		return
	}
	columns := slices.Clone(s.ShownColumns())
	from := slices.Index(columns, herb.FieldIndex(s.fields, p.Value))
	if from < 0 || len(columns) == 1 {
		return
	}
	field := columns[from]
	columns = slices.Delete(columns, from, from+1)
	if step != 0 {
		columns = slices.Insert(columns, max(0, min(from+step, len(columns))), field)
	} else if s.Pin == field {
		s.Pin = -1
	}
	s.Columns = columns
}

// ShownColumns returns the positions of the columns to show, the one that stays in view first.
func (s *State) ShownColumns() []int {
	columns := s.Columns
	if columns == nil {
		columns = defaultColumns(s.dataset)
	}
	if s.Pin < 0 {
		return columns
	}
	others := slices.DeleteFunc(slices.Clone(columns), func(i int) bool { return i == s.Pin })
	return append([]int{s.Pin}, others...)
}

// defaultColumns returns the column that names the records, and the first ones of the others.
func defaultColumns(d *herb.Dataset) []int {
	if len(d.Fields) == 0 {
		return nil
	}
	columns := []int{NamingColumn(d)}
	for i := 0; i < len(d.Fields) && len(columns) < maxDefaultColumns; i++ {
		if i != columns[0] {
			columns = append(columns, i)
		}
	}
	return columns
}

// NamingColumn returns the position of the field whose values name the records for a reader: a title or name, else the
// primary key, else the first field.
func NamingColumn(d *herb.Dataset) int {
	best, bestScore := -1, 0
	for i, f := range d.Fields {
		if score := namingScore(d, i, f); score > bestScore {
			best, bestScore = i, score
		}
	}
	if best < 0 && len(d.PrimaryKey) > 0 {
		best = herb.FieldIndex(d.Fields, d.PrimaryKey[0])
	}
	return max(best, 0)
}

// namingScore rates a field as the name of a record; 0 if it is none.
func namingScore(d *herb.Dataset, i int, f herb.Field) int {
	if KindOf(d, i) != KindText || f.Type != herb.TypeText {
		return 0
	}
	if c := ColumnReport(d, i); c != nil && d.Records > 0 && (10*c.Filled < 9*d.Records || 2*c.Distinct < c.Filled) {
		return 0 // often empty, or shared by many records
	}
	switch lower := strings.ToLower(f.Name); {
	case lower == "title" || lower == "name" || lower == "label":
		return 4
	case !hasWord(f.Name, "title", "name", "label"):
		return 0
	case hasWord(f.Name, "display", "full", "common"):
		return 3
	case hasWord(f.Name, "en", "english"):
		return 2
	}
	return 1
}

// FieldMenu is a searchable list of fields.
type FieldMenu struct {
	Items    []FieldItem
	Shown    int  // columns of the table
	Total    int  // fields of the dataset
	Complete bool // the list contains all of them
	Open     bool
	Find     string
	Hidden   query.Params // carried along by the form
	Reset    string       // link to the default columns; empty: they are shown
}

// FieldItem is a field to choose.
type FieldItem struct {
	Name, Heading string
	Type          herb.Type
	Shown         bool
}

// NewColumnMenu returns the menu that selects columns. It lists the shown ones first. The form carries along those that do
// not contain the text to find.
func NewColumnMenu(s *State) FieldMenu {
	other, shown := *s, s.ShownColumns()
	other.Columns = nil
	m := FieldMenu{Find: s.Find, Open: s.Menu == MenuColumns, Hidden: other.Hidden(), Shown: len(shown)}
	if s.Columns != nil {
		m.Reset = other.Href(s.Listing)
	}
	for _, i := range shown {
		if !s.isFound(i) {
			m.Hidden = m.Hidden.WithValue(ParamColumn, s.fields[i].Name)
		}
	}
	var rest []int
	for i := range s.fields {
		if !slices.Contains(shown, i) {
			rest = append(rest, i)
		}
	}
	m.add(s, shown, true)
	m.add(s, rest, false)
	return m
}

// NewFilterMenu returns the menu that adds a filter.
func NewFilterMenu(s *State) FieldMenu {
	m := FieldMenu{Find: s.Find, Open: s.Menu == MenuFilters, Hidden: s.Hidden()}
	var fields []int
	for i, f := range s.fields {
		if f.Filterable {
			fields = append(fields, i)
		}
	}
	m.add(s, fields, false)
	return m
}

// add adds those of the fields that contain the text to find. Shown ones are not limited, because their checkboxes keep them
// shown.
func (m *FieldMenu) add(s *State, fields []int, shown bool) {
	m.Complete = m.Total == 0 || m.Complete
	m.Total = len(s.fields)
	for _, i := range fields {
		if !s.isFound(i) || !shown && len(m.Items) >= maxOffered {
			m.Complete = false
			continue
		}
		f := s.fields[i]
		m.Items = append(m.Items, FieldItem{Name: f.Name, Heading: Heading(f), Type: f.Type, Shown: shown})
	}
}

// isFound reports whether the name of a field contains the text to find.
func (s *State) isFound(field int) bool {
	return strings.Contains(text.Fold(s.fields[field].Name+" "+s.fields[field].Title), text.Fold(s.Find))
}
