package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/ingest/profile"
	"herbarium/internal/ingest/rows"
)

// schema reads the fields of a resource. A schema without fields exposes every column.
func (p *packageReader) schema(s *Source, n node) error {
	m := n.member("schema")
	if address, ok := m.value.(string); ok && strings.Contains(address, "://") {
		// Standards publish the schemas of their tables in one place. Nothing is fetched from there.
		s.Notes = append(s.Notes, fmt.Sprintf("the schema at %s is not fetched: every column is exposed, with the type of its values; "+
			"to have it followed, download it beside the descriptor", whole(address)))
		return nil
	}
	schema, err := p.referenced(m)
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
	if items := match.items(); len(items) == 1 { // a list of one, as an early edition had it
		match = items[0]
	}
	s.ByPosition = match.value == nil || match.value == "exact"
	list, err := schema.list("fields")
	if err != nil {
		return err
	}
	if len(list) > MaxColumns {
		return schema.member("fields").wrong("lists %d fields; at most %d are possible", len(list), MaxColumns)
	}
	for _, m := range append([]node{schema}, list...) {
		if err := errors.Join(m.misplaced(n.where+".herbarium"), m.member("herbarium").misplaced(n.where+".herbarium")); err != nil {
			return err
		}
	}
	return s.readFields(list)
}

func (s *Source) readFields(list []node) error {
	names := make([]string, len(list))
	position := map[string]int{}
	for i, n := range list {
		f, err := s.readField(n)
		if err != nil {
			return err
		}
		first, twice := position[f.Name]
		if twice && (!f.Optional || !s.Fields[first].Optional) {
			return n.wrong("has the name %q of another field; give each a name of its own and use herbarium.from for the column", rows.Clip(f.Name))
		}
		if !twice {
			position[f.Name] = i
		}
		names[i] = f.Name
		s.Fields = append(s.Fields, f)
	}
	// A name that was given to several fields, or to none, is told apart as it is in the header of a file.
	for i, name := range nameColumns(names) {
		s.Fields[i].Name = name
	}
	return nil
}

func (s *Source) readField(n node) (f FieldSetting, err error) {
	if err := n.isObject(); err != nil {
		return f, err
	}
	own, err := n.settings(fieldOwnSettings())
	if err != nil {
		return f, err
	}
	name := n.member("name")
	if name.value == nil { // its name before it was called so
		name = n.member("id")
	}
	var ok bool
	if f.Name, ok = name.scalar(); !ok {
		return f, n.wrong("has no name; give it one")
	}
	if f.Title = n.prose("title"); f.Title == "" {
		f.Title = n.prose("label")
	}
	f.Description = n.prose("description")
	if f.From, err = own.text("from"); err != nil {
		return f, err
	}
	for _, b := range []struct {
		name string
		to   **bool
	}{
		{"searchable", &f.Searchable}, {"filterable", &f.Filterable}, {"sortable", &f.Sortable},
	} {
		if *b.to, err = own.flag(b.name); err != nil {
			return f, err
		}
	}
	if f.Weight, err = weightOf(own); err != nil {
		return f, err
	}
	if f.Missing, err = missingValues(n.member("missingValues")); err != nil {
		return f, err
	}
	f.Optional = own.value == nil
	written, _ := n.member("type").value.(string)
	f.Type = profile.Type(written)
	f.Schema, err = schemaOf(n)
	return f, err
}

// missingValues reads a list of values, each alone or with a label. The empty one stands for itself.
func missingValues(n node) ([]string, error) {
	if n.value == nil {
		return nil, nil
	}
	out := []string{} // of a field, in place of those of the schema
	for _, item := range n.items() {
		value, ok := item.scalar()
		if !ok {
			value, ok = item.member("value").scalar()
		}
		if !ok {
			return nil, item.wrong("must be text; put it in quotes")
		}
		if value != "" && !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	return out, nil
}

// schemaOf reads how a field declares its values to be written. What is not supported is rejected when the field is exposed.
func schemaOf(n node) (s profile.Schema, err error) {
	for _, o := range []struct {
		name string
		to   *string
	}{
		{"format", &s.Format}, {"decimalChar", &s.DecimalChar}, {"groupChar", &s.GroupChar}, {"delimiter", &s.Delimiter},
	} {
		*o.to, _ = n.member(o.name).value.(string)
	}
	s.NotBare = n.member("bareNumber").value == false
	if s.TrueValues, err = n.member("trueValues").texts(); err != nil {
		return s, err
	}
	s.FalseValues, err = n.member("falseValues").texts()
	return s, err
}
