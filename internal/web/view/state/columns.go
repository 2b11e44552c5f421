package state

import (
	"slices"
	"strings"

	"herbarium/internal/query"
	"herbarium/internal/text"
	"herbarium/internal/web/view/columns"
)

// The limits of a page; a dataset may have ten thousand fields.
const (
	maxDefaultColumns = 30  // shown if none are selected
	maxColumns        = 100 // shown at most
	MaxOffered        = 100 // offered by a menu; a search finds the others
)

// ColumnParams returns the parameters that select the columns: none for the default ones, else one,
// unless a name contains a comma, which separates the names of query.ParamFields.
func (s *State) ColumnParams() query.Params {
	if len(s.Columns) == 0 {
		return nil
	}
	var names []string
	var ps query.Params
	for _, i := range s.Columns {
		names, ps = append(names, s.Fields[i].Name), append(ps, query.Param{Name: ParamColumn, Value: s.Fields[i].Name})
	}
	joined := strings.Join(names, ",")
	if len(names) > 1 && strings.Count(joined, ",") >= len(names) {
		return ps
	}
	return query.Params{{Name: query.ParamFields, Value: joined}}
}

// ShownColumns returns the positions of the columns to show, the one that stays in view first.
func (s *State) ShownColumns() []int {
	columns := s.Columns
	if columns == nil {
		columns = defaultColumns(s.Dataset)
	}
	if s.Pin < 0 {
		return columns
	}
	others := slices.DeleteFunc(slices.Clone(columns), func(i int) bool { return i == s.Pin })
	return append([]int{s.Pin}, others...)
}

// defaultColumns returns the first columns of the file, in its order, with the one that names the
// records.
func defaultColumns(d *columns.Dataset) []int {
	var columns []int
	for i := range d.Fields[:min(len(d.Fields), maxDefaultColumns)] {
		columns = append(columns, i)
	}
	if d.Naming >= maxDefaultColumns {
		columns[maxDefaultColumns-1] = d.Naming
	}
	return columns
}

// Finds reports whether the name of a field contains the text to find.
func (s *State) Finds(field int) bool {
	f := s.Fields[field]
	return s.Find == "" || strings.Contains(text.Fold(f.Name+" "+f.Title), text.Fold(s.Find))
}
