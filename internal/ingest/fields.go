package ingest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/profile"
	"herbarium/internal/ingest/rows"
)

// exposure assigns the columns of a file to the fields of a dataset.
type exposure struct {
	columns  []string // unique names
	settings []FieldSetting
	pick     []int // the column of each field; math.MaxInt: none
	profiles []*profile.Field
	notes    []string
}

// newExposure resolves the field settings of a source, or exposes every column. A field whose type is declared is checked
// by the survey from then on.
func newExposure(src Source, columns []string, keyed bool, s *profile.Survey) (*exposure, error) {
	e := &exposure{columns: columns, notes: slices.Clone(src.Notes)}
	if len(src.Fields) == 0 {
		for i, name := range columns {
			e.settings, e.pick = append(e.settings, FieldSetting{Name: name, From: name}), append(e.pick, i)
		}
	} else {
		pick, notes, err := match(src, columns, keyed)
		if err != nil {
			return nil, err
		}
		e.notes = append(e.notes, notes...)
		for k, f := range src.Fields {
			switch {
			case pick[k] >= 0:
				e.settings, e.pick = append(e.settings, f), append(e.pick, pick[k])
			case len(columns) == 0: // without records nothing says what the columns are
				e.settings, e.pick = append(e.settings, f), append(e.pick, math.MaxInt)
			}
		}
	}
	for k, f := range e.settings {
		p, err := s.Field(min(e.pick[k], len(columns)+k), f.Schema)
		if err != nil {
			return nil, fieldError(f.Name, err)
		}
		e.profiles = append(e.profiles, p)
	}
	return e, nil
}

// fieldError adds the name of a field to an error.
func fieldError(name string, err error) error {
	if e, ok := errors.AsType[*herb.Error](err); ok {
		return herb.Wrap(e.Code, e.Err, "field %q: %s", name, e.Message)
	}
	return fmt.Errorf("field %q: %w", name, err)
}

// fields returns the fields and the reports of their columns, after the last row. columns are those of the files.
func (e *exposure) fields(columns []rows.Column) (fields []herb.Field, reports []herb.ColumnReport, err error) {
	for k, s := range e.settings {
		column, stated := s.Column(), rows.Column{}
		if at := e.pick[k]; at < len(e.columns) {
			column, stated = e.columns[at], columns[at]
		}
		r, err := e.profiles[k].Result(column, stated.Type)
		if err != nil {
			return nil, nil, fieldError(s.Name, err)
		}
		f := herb.Field{
			Name: s.Name, Type: r.Type, Notation: r.Notation, Title: s.Title, Description: s.Description,
			Searchable: r.Searchable, Filterable: true, Sortable: true, Weight: s.Weight,
		}
		if f.Description == "" && stated.Unit != "" {
			f.Description = "Unit: " + stated.Unit
		}
		for _, flag := range []struct{ to, from *bool }{
			{&f.Searchable, s.Searchable}, {&f.Filterable, s.Filterable}, {&f.Sortable, s.Sortable},
		} {
			if flag.from != nil {
				*flag.to = *flag.from
			}
		}
		if f.Weight > 0 && !f.Searchable {
			e.notes = append(e.notes, fmt.Sprintf("field %q has a weight that has no effect, because it is not searchable", f.Name))
		}
		r.Report.Field, r.Report.Column = f.Name, column
		fields, reports = append(fields, f), append(reports, r.Report)
	}
	return fields, reports, nil
}

// account assigns the non-empty cells of the source to what became of them, and returns the columns that no field exposes.
func (e *exposure) account(source, listed []herb.ColumnCells, n *narrower) (a herb.SourceCells, hidden []string) {
	for _, c := range source {
		a.Total += c.Filled
	}
	if n != nil {
		a.Excluded, a.Missing = n.excludedCells, n.missingCells
	}
	fields := make([]int, len(e.columns)) // number of fields that expose each column
	for _, at := range e.pick {
		if at < len(fields) {
			fields[at]++
		}
	}
	for i, n := range fields {
		if n == 0 {
			a.Hidden += listed[i].Filled
			hidden = append(hidden, e.columns[i])
		} else {
			a.Repeated += (n - 1) * listed[i].Filled
		}
	}
	return a, hidden
}
