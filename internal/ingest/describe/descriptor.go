package describe

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/kind"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// object is an object of a descriptor, with its members in their order.
type object []member

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

// newObject returns an object with the members that have a value: one that is not zero, or a
// pointer to any value.
func newObject(members []member) object {
	return slices.DeleteFunc(members, func(m member) bool { return !hasValue(m.value) })
}

func hasValue(value any) bool {
	if c, ok := value.(commented); ok {
		value = c.value
	}
	v := reflect.ValueOf(value)
	return v.IsValid() && !v.IsZero() && (v.Kind() != reflect.Slice || v.Len() > 0)
}

// dialectOf describes how a file is written, without the defaults.
func dialectOf(s source.Source) object {
	o := s.Dialect
	var quote *string
	if o.Quote != 0 || o.NoQuote {
		quote = new(char(o.Quote))
	}
	table := map[string]string{"json": "property", "xlsx": "sheetName"}[s.Format]
	return newObject([]member{
		{"delimiter", char(o.Delimiter)}, {"quoteChar", quote}, {"escapeChar", char(o.Escape)}, {"doubleQuote", falseIf(o.NoDoubleQuote)},
		{"skipInitialSpace", o.SkipInitialSpace}, {"header", falseIf(o.Header == rows.HeaderNone)}, {"headerRows", o.HeaderRows},
		{"headerJoin", o.HeaderJoin}, {"commentChar", o.Comment}, {"commentRows", o.CommentRows}, {"skipRows", o.Skip},
		{"nullSequence", o.Null}, {"itemKeys", o.ItemKeys}, {"sheetNumber", o.TableNo}, {cmp.Or(table, "table"), o.Table},
	})
}

// char returns a character as text, "" for 0.
func char(c byte) string { return strings.TrimRight(string(rune(c)), "\x00") }

// falseIf returns the value of a member that is false or left out.
func falseIf(set bool) *bool {
	if !set {
		return nil
	}
	return new(false)
}

// withEmpty adds the empty value, which is always missing, to other missing values.
func withEmpty(missing []string) []string {
	if missing == nil {
		return nil
	}
	return append([]string{""}, missing...)
}

// schemaOf describes the fields with all their settings. Markers of missing values are recognized
// without a setting.
func schemaOf(t *ingest.Table, samples [][]string) object {
	settings := map[string]source.FieldSetting{}
	for _, s := range t.Source.Fields {
		settings[s.Name] = s
	}
	exposed := t.Dataset.Fields
	fields := make([]object, 0, len(exposed))
	for i, f := range exposed {
		s, n, title, example, comment := settings[f.Name], f.Notation, titleOf(f.Name), "", ""
		if title == f.Name {
			title = ""
		}
		if s.From == s.Name {
			s.From = ""
		}
		if slices.ContainsFunc(n.Missing, func(m string) bool { return !kind.IsMissing([]byte(m)) }) {
			f.Type, f.Notation = "any", herb.Notation{} // words such as "no date" do not fit a declared type
		}
		if len(samples[i]) > 0 {
			example = samples[i][0]
			comment = "such as " + singleLine(strings.Join(samples[i], " | "))
		}
		own := newObject([]member{
			{"from", s.From}, {"searchable", new(f.Searchable)}, {"filterable", new(f.Filterable)}, {"sortable", new(f.Sortable)}, {"weight", f.Weight},
		})
		fields = append(fields, newObject(slices.Concat(
			[]member{{"name", commented{f.Name, comment, ""}}, {"title", cmp.Or(f.Title, title)}, {"description", f.Description}},
			typeMembers(f.Type, f.Notation),
			[]member{{"example", example}, {"missingValues", withEmpty(s.Missing)}, {"herbarium", own}},
		)))
	}
	const comment = "Only these fields are listed, in this order. Remove one to hide it, rename one with\n" +
		"herbarium: {from: its column}. Types: string, number, date, datetime, boolean, list."
	return newObject([]member{
		{"fields", commented{fields, comment, ""}}, {"missingValues", withEmpty(t.Source.Missing)}, {"primaryKey", t.Dataset.PrimaryKey},
	})
}

// typeMembers declares the type of a field and how its values are written.
func typeMembers(t herb.Type, n herb.Notation) []member {
	switch {
	case t == herb.TypeText:
		t = "string"
	case n.JSON:
		t = "array"
	}
	return []member{
		{"type", string(t)}, {"format", n.Layout}, {"decimalChar", n.Decimal}, {"groupChar", n.Group}, {"bareNumber", falseIf(n.Affix != "")},
		{"trueValues", n.True}, {"falseValues", n.False},
	}
}

// DeclareType returns the members of a field in a schema that declare its type and how its values
// are written.
func DeclareType(t herb.Type, n herb.Notation) map[string]any {
	declared := map[string]any{}
	for _, m := range newObject(typeMembers(t, n)) {
		declared[m.name] = m.value
	}
	return declared
}

// settingsOf describes how a dataset is listed. Comments show settings that it does not have.
func settingsOf(s source.Source) object {
	var direction string
	if s.Order.Desc {
		direction = "desc"
	}
	var include object
	for _, i := range s.Include {
		include = append(include, member{i.Column, i.Values})
	}
	var expectations []object
	for _, e := range s.Expectations {
		var first object
		for _, name := range slices.Sorted(maps.Keys(e.First)) {
			first = append(first, member{name, e.First[name]})
		}
		expectations = append(expectations, newObject([]member{{"query", &e.Query}, {"total", e.Total}, {"min", e.Min}, {"max", e.Max}, {"first", first}}))
	}
	var charts []object
	for _, c := range s.Charts {
		charts = append(charts, newObject([]member{{"by", c.By}, {"measure", c.Measure}}))
	}
	settings := []member{
		{"access", ""}, {"order", newObject([]member{{"field", s.Order.Field}, {"order", direction}})},
		{"include", include}, {"expectations", expectations}, {"map", newObject([]member{{"latitude", s.Map.Latitude}, {"longitude", s.Map.Longitude}})},
		{"charts", charts},
	}
	comment := ""
	for i, example := range []string{
		`order: -date  # of a listing without sort: latest first`,
		`include: {status: [published]}  # rows with other values are excluded`,
		`expectations: [{query: "category=tree", total: 12}]  # must hold before a new version goes live`,
	} {
		if !hasValue(settings[i+1].value) {
			comment = cmp.Or(comment, "More settings:") + "\n" + example
		}
	}
	settings[0].value = commented{string(s.Access), comment, "or key: listing the records requires a key"}
	return newObject(settings)
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
