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
	return d, requireField(fields, src.Order.Field, "order", "sortable", func(f herb.Field) bool { return f.Sortable })
}

// requireField fails if there is no field of a name and a kind. setting names it.
func requireField(fields []herb.Field, name, setting, kind string, isKind func(herb.Field) bool) error {
	var names []string
	for _, f := range fields {
		if isKind(f) {
			names = append(names, f.Name)
		}
	}
	if slices.Contains(names, name) {
		return nil
	}
	name = rows.Clip(name)
	return herb.Invalidf("%s: there is no %s field %q%s %s fields: %s", setting, kind, name, text.Suggestion(name, names), kind, rows.JoinNames(names))
}

// checkMap checks that the map has coordinates.
func checkMap(src Source, fields []herb.Field) error {
	if src.Map == (source.MapFields{}) {
		return nil
	}
	isNumber := func(f herb.Field) bool { return f.Type == herb.TypeNumber && f.Filterable }
	for _, name := range []string{src.Map.Latitude, src.Map.Longitude} {
		if err := requireField(fields, name, "map", "filterable number", isNumber); err != nil {
			return err
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
