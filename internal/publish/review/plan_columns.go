package review

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/text"
)

// listsFields reports whether the descriptor lists the fields of the dataset.
func (p *plan) listsFields() bool {
	schema, _ := p.Resource["schema"].(object)
	fields, _ := schema["fields"].([]any)
	return len(fields) > 0
}

// newFields returns the fields of columns that the live version does not know, which are published.
// Columns without a name stay hidden. contents are those of fitColumns.
func (p *plan) newFields(f *contents, fieldOf map[int]int) (list []any) {
	if p.hidden == nil {
		return nil
	}
	for _, field := range f.Fields {
		_, isListed := fieldOf[field.Column]
		if isListed || field.Column >= len(f.Columns) {
			continue
		}
		if name := f.Columns[field.Column]; !p.hidden[herb.FoldColumn(name)] &&
			name != fmt.Sprintf("column_%d", field.Column+1) {
			list = append(list, object{"name": field.Name})
		}
	}
	return list
}

// editColumns applies the edits of columns. Fields expose columns, so all of them are listed as
// soon as one is edited; only those that are edited have a type. contents are those of an
// inspection without these edits.
func (p *plan) editColumns(e Edits, f *contents) error {
	if len(e.Columns) == 0 {
		return nil
	}
	schema := member(p.Resource, "schema")
	list, fieldOf := listFields(schema, f)
	hidden := map[int]bool{} // positions in list
	p.renamed = map[string]string{}
	for _, position := range slices.Sorted(maps.Keys(e.Columns)) {
		if position >= len(f.Columns) {
			return herb.Invalidf("the file has %d columns, so there is no column %d; undo its changes",
				len(f.Columns), position+1)
		}
		edit, at := e.Columns[position], -1
		if i, ok := fieldOf[position]; ok {
			at = i
		}
		if edit.Hidden {
			hidden[at] = true
			continue
		}
		if at < 0 {
			at = len(list)
			list = append(list, object{"name": f.Columns[position]})
		}
		field, ok := list[at].(object)
		if !ok {
			field = object{}
			list[at] = field
		}
		if name := nameOf(field); edit.Name != "" && edit.Name != name {
			settings := member(field, own)
			if _, ok := settings["from"]; !ok {
				settings["from"] = f.Columns[position]
			}
			delete(field, "id")
			field["name"], p.renamed[name] = edit.Name, edit.Name
		}
		if edit.Title != nil {
			setText(field, "title", *edit.Title)
			delete(field, "label") // as early editions call the title
		}
		if edit.Format != "" {
			if _, err := text.ParseDateFormat(edit.Type, edit.Format); err != nil {
				return herb.AtField(nameOf(field), err)
			}
		}
		f.declare(field, schema, position, edit)
	}
	var kept []any
	for i, field := range list {
		if !hidden[i] {
			kept = append(kept, field)
		}
	}
	if len(kept) == 0 {
		return herb.Invalidf("every column is hidden; publish at least one")
	}
	schema["fields"] = kept
	p.rename(schema, p.renamed)
	p.renameConditions(f)
	return p.checkNames(kept)
}

// checkNames fails if a field was renamed to the name of another one.
func (p *plan) checkNames(fields []any) error {
	count := map[string]int{}
	for _, item := range fields {
		field, _ := item.(object)
		count[nameOf(field)]++
	}
	for _, original := range slices.Sorted(maps.Keys(p.renamed)) {
		if name := p.renamed[original]; count[name] > 1 {
			return herb.AtField(name,
				herb.Invalidf("another column has the name %q; give each column a name of its own", rows.Clip(name)))
		}
	}
	return nil
}

// listFields returns the fields of a schema, or one for each column if it lists none, and the
// position of the field of each column.
func listFields(schema object, f *contents) (list []any, fieldOf map[int]int) {
	fieldOf = map[int]int{}
	list, _ = schema["fields"].([]any)
	if len(list) == 0 {
		list = make([]any, len(f.Columns))
		for i, name := range f.Columns {
			list[i], fieldOf[i] = object{"name": name}, i
		}
		return list, fieldOf
	}
	names := make([]string, len(list))
	for i, item := range list {
		field, _ := item.(object)
		names[i] = nameOf(field)
	}
	for i, name := range descriptor.UniqueNames(names) { // as the reader of descriptors names them
		field, _ := list[i].(object)
		settings, _ := field[own].(object)
		from, _ := settings["from"].(string)
		column, ok := f.columnOf(from, fieldOf)
		if !ok {
			k := slices.IndexFunc(f.Fields, func(f columnField) bool { return f.Name == name })
			ok = k >= 0
			if ok {
				column = f.Fields[k].Column
			} else if from == "" { // the inspection was one without the schema
				column, ok = f.columnOf(name, fieldOf)
			}
		}
		if _, isTaken := fieldOf[column]; ok && !isTaken {
			fieldOf[column] = i
		}
	}
	return slices.Clone(list), fieldOf
}

// columnOf returns the first column with a title that has no field yet.
func (f *contents) columnOf(title string, fieldOf map[int]int) (column int, ok bool) {
	for column, of := range f.Columns {
		if _, isTaken := fieldOf[column]; title != "" && !isTaken &&
			strings.EqualFold(strings.TrimSpace(of), strings.TrimSpace(title)) {
			return column, true
		}
	}
	return 0, false
}

// nameColumns names the columns of a file as the plan does. f are the contents of an inspection
// without a schema.
func (p *plan) nameColumns(f *contents) {
	schema, _ := p.Resource["schema"].(object)
	if fields, _ := schema["fields"].([]any); len(fields) == 0 {
		return
	}
	list, fieldOf := listFields(schema, f)
	for i := range f.columns {
		c := &f.columns[i]
		at, isPublished := fieldOf[c.Position]
		if !isPublished {
			c.Field = ""
			continue
		}
		field, _ := list[at].(object)
		c.Field = nameOf(field)
		if title, ok := field["title"].(string); ok {
			c.Title = title
		}
	}
}

// nameOf returns the name of a field of a schema.
func nameOf(field object) string {
	for _, member := range []string{"name", "id"} {
		if name, ok := field[member].(string); ok {
			return name
		}
	}
	return ""
}

// declare states the type of a field, in the notation of its values, and what means missing.
func (f *contents) declare(field, schema object, position int, edit ColumnEdit) {
	if edit.Type != "" {
		for _, name := range []string{"type", "format", "decimalChar", "groupChar", "bareNumber", "trueValues",
			"falseValues", "delimiter"} {
			delete(field, name)
		}
		maps.Copy(field, descriptor.DeclareType(edit.Type, f.notation(position, edit)))
	}
	if len(edit.Missing) == 0 {
		return
	}
	values, ok := field["missingValues"].([]any)
	if !ok {
		values, _ = schema["missingValues"].([]any) // which those of the field replace
	}
	values = slices.Clone(values)
	if len(values) == 0 {
		values = []any{""}
	}
	for _, m := range edit.Missing {
		if !slices.ContainsFunc(values, func(v any) bool { return v == any(m) }) {
			values = append(values, m)
		}
	}
	field["missingValues"] = values
}

// notation returns how the values of a column are written that have the edited type.
func (f *contents) notation(position int, edit ColumnEdit) herb.Notation {
	if edit.Format != "" {
		return herb.Notation{DateFormat: edit.Format}
	}
	for _, field := range f.Fields {
		if field.Column == position && field.Type == edit.Type {
			return field.Notation
		}
	}
	return herb.Notation{}
}

// rename changes the names of fields in settings that refer to them.
func (p *plan) rename(schema object, renamed map[string]string) {
	if len(renamed) == 0 {
		return
	}
	newName := func(v any) any {
		if name, ok := v.(string); ok && renamed[name] != "" {
			return renamed[name]
		}
		return v
	}
	switch key := schema["primaryKey"].(type) {
	case string:
		schema["primaryKey"] = newName(key)
	case []any:
		for i := range key {
			key[i] = newName(key[i])
		}
	}
	settings, _ := p.Resource[own].(object)
	switch order := settings["order"].(type) {
	case string:
		name, isDescending := strings.CutPrefix(order, "-")
		name, _ = newName(name).(string)
		if isDescending {
			name = "-" + name
		}
		settings["order"] = name
	case object:
		order["field"] = newName(order["field"])
	}
	for _, setting := range []string{"coordinates", "map"} { // map is the name that earlier releases gave it
		coordinates, _ := settings[setting].(object)
		for _, member := range []string{"latitude", "longitude", "field"} {
			if coordinates[member] != nil {
				coordinates[member] = newName(coordinates[member])
			}
		}
	}
}

// renameConditions changes the names of fields in conditions about rows, which may also name
// columns.
func (p *plan) renameConditions(f *contents) {
	settings, _ := p.Resource[own].(object)
	for _, setting := range []string{"include", "exclude"} {
		conditions, _ := settings[setting].(object)
		for _, name := range slices.Sorted(maps.Keys(conditions)) {
			if to := p.renamed[name]; to != "" && !slices.Contains(f.Columns, name) {
				conditions[to] = conditions[name]
				delete(conditions, name)
			}
		}
	}
}
