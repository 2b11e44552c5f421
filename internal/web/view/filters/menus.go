// Package filters builds the forms that edit the filters of a listing, and the menus of columns.
package filters

import (
	"slices"

	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

// FieldMenu is a searchable list of fields.
type FieldMenu struct {
	Items    []FieldItem
	Shown    int          // columns of the table
	Total    int          // fields of the dataset
	Complete bool         // the list contains all of them
	Hidden   query.Params // carried along by the form
	Reset    string       // link to the default columns; empty: they are shown
}

// FieldItem is a field to choose.
type FieldItem struct {
	columns.Column
	Shown bool
}

// NewColumnMenu returns the menu that selects columns. It lists the shown ones first. The form
// carries along those that do not contain the text to find.
func NewColumnMenu(s *state.State) FieldMenu {
	other, shown := *s, s.ShownColumns()
	other.Columns = nil
	m := FieldMenu{Hidden: other.Hidden(), Shown: len(shown), Total: len(s.Fields), Complete: true}
	if s.Columns != nil {
		m.Reset = other.Href(s.Listing)
	}
	for _, i := range shown {
		if !m.add(s, i, true) {
			m.Hidden = m.Hidden.WithValue(state.ParamColumn, s.Fields[i].Name)
		}
	}
	for i := range s.Fields {
		if !slices.Contains(shown, i) {
			m.add(s, i, false)
		}
	}
	return m
}

// NewFilterMenu returns the menu that adds a filter.
func NewFilterMenu(s *state.State) FieldMenu {
	m := FieldMenu{Hidden: s.Hidden(), Total: len(s.Fields), Complete: true}
	for i, f := range s.Fields {
		if f.Filterable {
			m.add(s, i, false)
		}
	}
	return m
}

// add adds a field if its name contains the text to find. Shown ones are not limited, because their
// checkboxes keep them shown.
func (m *FieldMenu) add(s *state.State, field int, shown bool) bool {
	if !s.Finds(field) || !shown && len(m.Items) >= state.MaxOffered {
		m.Complete = false
		return false
	}
	m.Items = append(m.Items, FieldItem{columns.NewColumn(s.Dataset, field), shown})
	return true
}
