package descriptor

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/value"
)

// Resource is what a descriptor says about a dataset.
type Resource struct {
	Name       string
	Title      string
	Paths      []string     // of the files, relative to the descriptor; nil: the records are in Data
	Data       string       // records
	Format     string       // of the files, or of Data
	Source     Source       // how the files are read, and the settings
	Fields     []herb.Field // of the records
	PrimaryKey []string
	Samples    [][]string // some values of each field
}

// members are the members of an object that is written, in their order.
type members []member

type member struct {
	name  string
	value any // text, a number, a boolean, a list of text or numbers, an object, or a list of objects
}

// commented is a value with comments, which only YAML has: lines above its member, and text after
// the value. Only the first member of an object may have lines above it, which are above the
// object.
type commented struct {
	value        any
	above, after string
}

// withValues returns the members that have a value: one that is not zero, or a pointer to any
// value.
func (m members) withValues() members {
	return slices.DeleteFunc(m, func(m member) bool { return !hasValue(m.value) })
}

func hasValue(value any) bool {
	if c, ok := value.(commented); ok {
		value = c.value
	}
	v := reflect.ValueOf(value)
	return v.IsValid() && !v.IsZero() && (v.Kind() != reflect.Slice || v.Len() > 0)
}

func (r Resource) members() members {
	s := r.Source
	var path any = r.Paths
	if len(r.Paths) == 1 {
		path = r.Paths[0]
	}
	return members{
		{"name", r.Name}, {"type", "table"}, {"title", r.Title}, {"description", s.Description},
		{"path", path}, {"innerpath", innerPath(&s).write()}, {"data", r.Data}, {"format", r.Format},
		{"encoding", s.Dialect.Encoding},
		{"dialect", written(dialectMembers(&s.Dialect, s.Format))}, {"schema", r.schema()}, {Own, settings(s)},
	}.withValues()
}

// withEmpty adds the empty value, which is always missing, to other missing values.
func withEmpty(missing []string) []string {
	if missing == nil {
		return nil
	}
	return append([]string{""}, missing...)
}

// schema returns the fields with all their settings. Markers of missing values are recognized
// without a setting.
func (r Resource) schema() members {
	settings := map[string]FieldSetting{}
	for _, s := range r.Source.Fields {
		settings[s.Name] = s
	}
	fields := make([]members, 0, len(r.Fields))
	for i, f := range r.Fields {
		s, example, comment := settings[f.Name], "", ""
		if s.From == s.Name {
			s.From = ""
		}
		if slices.ContainsFunc(f.Notation.Missing, func(m string) bool { return !value.IsMissing([]byte(m)) }) {
			f.Type, f.Notation = "any", herb.Notation{} // words such as "no date" do not fit a declared type
		}
		if len(r.Samples[i]) > 0 {
			example = r.Samples[i][0]
			comment = "such as " + singleLine(strings.Join(r.Samples[i], " | "))
		}
		s.Searchable, s.Filterable, s.Sortable, s.Weight = &f.Searchable, &f.Filterable, &f.Sortable, f.Weight
		fields = append(fields, slices.Concat(
			members{{"name", commented{f.Name, comment, ""}}, {"title", f.Title}, {"description", f.Description}},
			declareType(f.Type, f.Notation),
			members{
				{"example", example}, {"missingValues", withEmpty(s.Missing)},
				{"constraints", written(constraintMembers(&s.Constraints, nil))},
			},
			written(categoryMembers(&s)),
			members{
				{Own, written(fieldMembers(&s))},
			},
		).withValues())
	}
	const comment = "Only these fields are listed, in this order. Remove one to hide it, rename one with\n" +
		"herbarium: {from: its column}. Types: string, number, date, datetime, boolean, list."
	return members{
		{"fields", commented{fields, comment, ""}}, {"missingValues", withEmpty(r.Source.Missing)},
		{"primaryKey", r.PrimaryKey},
		{"uniqueKeys", r.Source.UniqueKeys},
	}.withValues()
}

// declareType returns the members of a field that declare its type and how its values are written.
func declareType(t herb.Type, n herb.Notation) members {
	d := value.Schema{
		Type: string(t), Format: n.DateFormat, DecimalChar: n.Decimal, GroupChar: n.Group, NotBare: n.Affix != "",
		TrueValues: n.True, FalseValues: n.False,
	}
	switch {
	case t == herb.TypeText:
		d.Type = "string"
	case n.JSON:
		d.Type = "array"
	}
	return written(typeMembers(&d))
}

// DeclareType returns the members of a field in a schema that declare its type and how its values
// are written.
func DeclareType(t herb.Type, n herb.Notation) map[string]any {
	declared := map[string]any{}
	for _, m := range declareType(t, n) {
		declared[m.name] = m.value
	}
	return declared
}

// settings returns how a dataset is listed. Comments show settings that it does not have.
func settings(s Source) members {
	all, comment := written(settingMembers(&s)), ""
	for _, example := range []string{
		`order: -date  # of a listing without sort: latest first`,
		`include: {status: [published]}  # rows with other values are left out`,
		`exclude: {name: [Total]}  # rows with these values are left out`,
		`expectations: [{query: "category=tree", total: 12}]  # must hold before a new version goes live`,
	} {
		name, _, _ := strings.Cut(example, ":")
		if !slices.ContainsFunc(all, func(m member) bool { return m.name == name }) {
			comment = cmp.Or(comment, "More settings:") + "\n" + example
		}
	}
	for i, m := range all {
		if m.name == "access" {
			all[i].value = commented{m.value, comment, "or key: listing the records requires a key"}
		}
	}
	return all
}

// singleLine replaces characters that cannot be in a comment.
func singleLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}
