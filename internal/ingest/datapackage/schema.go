package datapackage

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/profile"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// readSchema reads the fields of a resource. A schema without fields exposes every column.
func (p *reader) readSchema(s *source.Source, n node) error {
	m := n.member("schema")
	if address, ok := m.value.(string); ok && strings.Contains(address, "://") {
		s.Notes = append(s.Notes, fmt.Sprintf("the schema at %.500s is not fetched: every column is exposed, with its inferred type; "+
			"to apply it, download it next to the descriptor", address))
		return nil
	}
	schema, err := p.dereference(m)
	if err != nil || schema.value == nil {
		return err
	}
	if s.Missing, err = missingValues(schema.member("missingValues")); err != nil {
		return err
	}
	if len(s.Missing) == 0 {
		s.Missing = nil
	}
	if s.PrimaryKey, err = schema.member("primaryKey").texts(); err != nil {
		return err
	}
	match := schema.member("fieldsMatch")
	if items := match.items(); len(items) == 1 { // a list of one in early editions
		match = items[0]
	}
	s.ByPosition = match.value == nil || match.value == "exact"
	list, err := schema.list("fields")
	if err != nil {
		return err
	}
	if len(list) > rows.MaxColumns {
		return schema.member("fields").errorf("lists %d fields; at most %d are possible", len(list), rows.MaxColumns)
	}
	right := n.where + ".herbarium"
	for _, m := range append([]node{schema}, list...) {
		if err := errors.Join(m.checkPlacement(right), m.member("herbarium").checkPlacement(right)); err != nil {
			return err
		}
	}
	return readFields(s, list)
}

func readFields(s *source.Source, list []node) error {
	names := make([]string, len(list))
	first := map[string]int{} // position of the first field of each name
	for i, n := range list {
		f, err := readField(s, n)
		if err != nil {
			return err
		}
		if at, ok := first[f.Name]; !ok {
			first[f.Name] = i
		} else if !f.Optional || !s.Fields[at].Optional {
			return n.errorf("has the name %q of another field; give each a name of its own and use herbarium.from for the column", rows.Clip(f.Name))
		}
		names[i] = f.Name
		s.Fields = append(s.Fields, f)
	}
	for i, name := range source.UniqueNames(names) { // as the columns of a file are named
		s.Fields[i].Name = name
	}
	return nil
}

func readField(s *source.Source, n node) (f source.FieldSetting, err error) {
	if err := n.checkObject(); err != nil {
		return f, err
	}
	own, err := n.settings(fieldSettings())
	if err != nil {
		return f, err
	}
	name := n.member("name")
	if name.value == nil { // its name in early editions
		name = n.member("id")
	}
	var ok bool
	if f.Name, ok = name.scalar(); !ok {
		return f, n.errorf("has no name; set one")
	}
	f.Title = cmp.Or(n.annotation("title"), n.annotation("label"))
	f.Description = n.annotation("description")
	if err := bind(own.member, binding{"from", &f.From}, binding{"searchable", &f.Searchable}, binding{"filterable", &f.Filterable},
		binding{"sortable", &f.Sortable}); err != nil {
		return f, err
	}
	weight, err := own.integer("weight", 1, herb.MaxWeight)
	if err != nil {
		return f, err
	}
	if weight != nil {
		f.Weight = *weight
	}
	if f.Missing, err = missingValues(n.member("missingValues")); err != nil {
		return f, err
	}
	f.Optional = own.value == nil
	f.Schema, err = readType(s, n, f.Name)
	return f, err
}

// missingValues reads a list of values, each alone or with a label. The empty value is always missing.
func missingValues(n node) ([]string, error) {
	if n.value == nil {
		return nil, nil
	}
	out := []string{} // of a field: replaces those of the schema
	for _, item := range n.items() {
		value, ok := item.scalar()
		if !ok {
			value, ok = item.member("value").scalar()
		}
		if !ok {
			return nil, item.errorf("must be text; put it in quotes")
		}
		if value != "" && !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	return out, nil
}

// types returns the types of Table Schema, and further names that early editions and other programs use.
func types() []string {
	return []string{
		"string", "number", "integer", "boolean", "date", "datetime", "time", "year", "yearmonth", "duration", "list", "array", "object",
		"geopoint", "geojson", "any", "text", "int", "float", "double", "decimal", "numeric", "bool", "timestamp",
	}
}

// readType reads the type of a field and the members that describe its notation. A member that does not apply to the type
// is an error, because it would be ignored.
func readType(s *source.Source, n node, name string) (d profile.Schema, err error) {
	format, bare := "", true
	if err := bind(n.member, binding{"type", &d.Type}, binding{"format", &format}, binding{"decimalChar", &d.DecimalChar},
		binding{"groupChar", &d.GroupChar}, binding{"bareNumber", &bare}, binding{"delimiter", &d.Delimiter}, binding{"trueValues", &d.TrueValues},
		binding{"falseValues", &d.FalseValues}); err != nil {
		return d, err
	}
	if d.Type = strings.ToLower(d.Type); d.Type != "" && !slices.Contains(types(), d.Type) {
		return d, n.member("type").errorf("is unknown: %s", suggestion(d.Type, types()))
	}
	d.NotBare = !bare
	t := profile.Type(d.Type)
	for _, m := range []struct {
		name string
		set  bool
		of   herb.Type
	}{
		{"decimalChar", d.DecimalChar != "", herb.TypeNumber}, {"groupChar", d.GroupChar != "", herb.TypeNumber}, {"bareNumber", d.NotBare, herb.TypeNumber},
		{"delimiter", d.Delimiter != "", herb.TypeList}, {"trueValues", d.TrueValues != nil, herb.TypeBoolean},
		{"falseValues", d.FalseValues != nil, herb.TypeBoolean},
	} {
		if m.set && t != m.of {
			return d, n.member(m.name).errorf("applies only to the type %s; set the type, or remove %s", m.of, m.name)
		}
	}
	err = readFormat(s, n.member("format"), format, name, &d)
	return d, err
}

// readFormat reads the format of a field: the notation of dates and datetimes. It says nothing else about how values
// compare.
func readFormat(s *source.Source, n node, format, name string, d *profile.Schema) error {
	t := profile.Type(d.Type)
	switch {
	case format == "" || format == "default" || t == "" && format == "any":
	case t == herb.TypeDate || t == herb.TypeDateTime:
		d.Format = format
	case t == herb.TypeNumber && format == "currency": // an early edition
		d.NotBare = true
	case t != herb.TypeText:
		return n.errorf("is %q, which does not apply to the type %s; set the type date or datetime, or remove the format",
			rows.Clip(format), cmp.Or(d.Type, "any"))
	case !slices.Contains([]string{"email", "uri", "url", "uuid", "binary", "array", "object", "topojson", "any"}, format):
		s.Notes = append(s.Notes, fmt.Sprintf("field %q: the format %q has no effect on values that compare as text", rows.Clip(name), rows.Clip(format)))
	}
	return nil
}
