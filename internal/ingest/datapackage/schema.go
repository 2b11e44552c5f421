package datapackage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/profile"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// readSchema reads the fields of a resource. A schema without fields exposes every column.
func (p *descriptor) readSchema(s *source.Source, n node) {
	m := n.member("schema")
	if address, ok := m.value.(string); ok && strings.Contains(address, "://") {
		s.Notes = append(s.Notes, fmt.Sprintf("the schema at %.500s is not fetched: every column is exposed, with its inferred type; "+
			"to apply it, download it next to the descriptor", address))
		return
	}
	schema := p.dereference(m)
	if schema.value == nil {
		return
	}
	s.Notes = append(s.Notes, schema.typos("schema")...)
	if s.Missing = missingValues(schema.member("missingValues")); len(s.Missing) == 0 {
		s.Missing = nil
	}
	s.PrimaryKey = schema.member("primaryKey").texts()
	match := schema.member("fieldsMatch")
	if items := match.items(); len(items) == 1 { // a list of one in early editions
		match = items[0]
	}
	s.ByPosition = match.value == nil || match.value == "exact"
	fields := schema.member("fields")
	list := fields.list()
	if len(list) > rows.MaxColumns {
		fields.fail("lists %d fields; at most %d are possible", len(list), rows.MaxColumns)
		return
	}
	right := n.where + ".herbarium"
	for _, m := range append([]node{schema}, list...) {
		m.checkPlacement(right)
		m.member(own).checkPlacement(right)
	}
	readFields(s, list)
}

func readFields(s *source.Source, list []node) {
	names := make([]string, len(list))
	first := map[string]int{} // position of the first field of each name
	for i, n := range list {
		f := readField(s, n)
		if at, ok := first[f.Name]; !ok {
			first[f.Name] = i
		} else if !f.Optional || !s.Fields[at].Optional {
			n.fail("has the name %q of another field; give each a name of its own and use herbarium.from for the column", rows.Clip(f.Name))
		}
		names[i] = f.Name
		s.Fields = append(s.Fields, f)
	}
	for i, name := range source.UniqueNames(names) { // as the columns of a file are named
		s.Fields[i].Name = name
	}
}

func readField(s *source.Source, n node) (f source.FieldSetting) {
	n.isObject()
	s.Notes = append(s.Notes, n.typos("field")...)
	settings := n.member(own)
	settings.bindAll([]binding{
		{"from", &f.From}, {"searchable", &f.Searchable}, {"filterable", &f.Filterable}, {"sortable", &f.Sortable},
		{"weight", func(n node) { f.Weight = n.integer(1, herb.MaxWeight) }},
	})
	f.Optional = settings.value == nil
	name := n.member("name")
	if name.value == nil { // its name in early editions
		name = n.member("id")
	}
	var ok bool
	if f.Name, ok = name.scalar(); !ok {
		n.fail("has no name; set one%s", n.misspelled("name"))
	}
	f.Title = cmp.Or(n.annotation("title"), n.annotation("label"))
	f.Description = n.annotation("description")
	f.Missing = missingValues(n.member("missingValues"))
	f.Schema = readType(s, n, f.Name)
	return f
}

// missingValues reads a list of values, each alone or with a label. The empty value is always missing.
func missingValues(n node) []string {
	if n.value == nil || !n.isShort() {
		return nil
	}
	out := []string{} // of a field: replaces those of the schema
	for _, item := range n.items() {
		if labeled := item.member("value"); labeled.value != nil {
			item.value = labeled.value
		}
		if value := item.text(); value != "" && !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	return out
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
func readType(s *source.Source, n node, name string) (d profile.Schema) {
	format, bare := "", true
	bind(n.member, []binding{
		{"type", &d.Type}, {"format", &format}, {"decimalChar", &d.DecimalChar}, {"groupChar", &d.GroupChar}, {"bareNumber", &bare},
		{"delimiter", &d.Delimiter}, {"trueValues", &d.TrueValues}, {"falseValues", &d.FalseValues},
	})
	if d.Type = strings.ToLower(d.Type); d.Type != "" && !slices.Contains(types(), d.Type) {
		n.member("type").fail("is unknown: %s", suggestion(d.Type, "types", types()))
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
			n.member(m.name).fail("applies only to the type %s; set the type, or remove %s", m.of, m.name)
		}
	}
	readFormat(s, n.member("format"), format, name, &d)
	return d
}

// readFormat reads the format of a field: the notation of dates and datetimes. It says nothing else about how values
// compare.
func readFormat(s *source.Source, n node, format, name string, d *profile.Schema) {
	t := profile.Type(d.Type)
	switch {
	case t == herb.TypeDate || t == herb.TypeDateTime:
		d.Format = format
	case format == "" || format == "default" || t == "" && format == "any":
	case t == herb.TypeNumber && format == "currency": // an early edition
		d.NotBare = true
	case t != herb.TypeText:
		n.fail("is %q, which does not apply to the type %s; set the type date or datetime, or remove the format",
			rows.Clip(format), cmp.Or(d.Type, "any"))
	case !slices.Contains([]string{"email", "uri", "url", "uuid", "binary", "array", "object", "topojson", "any"}, format):
		s.Notes = append(s.Notes, fmt.Sprintf("field %q: the format %q has no effect on values that compare as text", rows.Clip(name), rows.Clip(format)))
	}
}
