package ingest

import (
	"fmt"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
	"herbarium/internal/text"
)

// details checks what is said of a dataset against the fields that it has. A primary key that names others is dropped
// with a note, because descriptors that were written for other programs have such; an order is ours, so it is refused.
func details(src Source, e *exposure, fields []herb.Field) (herb.Details, error) {
	d := herb.Details{Order: src.Order, Descriptor: src.Descriptor}
	for _, name := range src.PrimaryKey {
		i := fieldOf(src, fields, name)
		if i < 0 {
			e.notes = append(e.notes, fmt.Sprintf("the primary key is not used, because there is no field %q", rows.Clip(name)))
			d.PrimaryKey = nil
			break
		}
		d.PrimaryKey = append(d.PrimaryKey, fields[i].Name)
	}
	if err := checkMap(src, fields); err != nil {
		return d, err
	}
	if src.Order.Field == "" {
		return d, nil
	}
	sortable := []string{}
	for _, f := range fields {
		if f.Sortable {
			sortable = append(sortable, f.Name)
		}
	}
	if !slices.Contains(sortable, src.Order.Field) {
		name := rows.Clip(src.Order.Field)
		return d, herb.Invalidf("order: there is no sortable field %q%s sortable fields: %s", name, text.Suggestion(name, sortable), rows.JoinNames(sortable))
	}
	return d, nil
}

// checkMap checks that the map has coordinates.
func checkMap(src Source, fields []herb.Field) error {
	if src.Map == (source.MapFields{}) {
		return nil
	}
	numbers := []string{}
	for _, f := range fields {
		if f.Type == herb.TypeNumber && f.Filterable {
			numbers = append(numbers, f.Name)
		}
	}
	for _, name := range []string{src.Map.Latitude, src.Map.Longitude} {
		if !slices.Contains(numbers, name) {
			name = rows.Clip(name)
			return herb.Invalidf("map: there is no filterable number field %q%s number fields: %s", name, text.Suggestion(name, numbers), rows.JoinNames(numbers))
		}
	}
	return nil
}

// fieldOf returns the position of an exposed field that a schema may call by the name of its column, -1 if there is none.
func fieldOf(src Source, fields []herb.Field, name string) int {
	if i := herb.FieldIndex(fields, name); i >= 0 {
		return i
	}
	for _, f := range src.Fields {
		if f.Column() == name {
			return herb.FieldIndex(fields, f.Name)
		}
	}
	return -1
}
