package descriptor

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/value"
)

// binding ties a member of an object to a variable, which the member is read into and written
// from: text to a *string, true or false to a *bool or **bool, one ASCII character to a *byte, text
// or a list of text to a *[]string, a line number or a list of them to a *[]int. A custom converts
// other values. A func(node) reads a member that is not written, such as one of an early edition.
type binding struct {
	name string
	to   any
}

// custom reads a value and returns it to be written. A zero value is left out.
type custom struct {
	read  func(node)
	write func() any
}

// negated is a member that is true unless a variable is set.
func negated(to *bool) custom {
	return custom{
		func(n node) {
			var isSet bool
			n.assign(&isSet)
			*to = !isSet
		},
		func() any {
			if *to {
				return new(false)
			}
			return nil
		},
	}
}

// integer is a member that is a number from low to maxLine.
func integer(to *int, low int) custom {
	return custom{func(n node) { *to = n.integer(low, maxLine) }, func() any { return *to }}
}

// count is a member that is a number, which may be zero.
func count(to **int) custom {
	return custom{func(n node) { *to = new(n.integer(0, maxLine)) }, func() any { return *to }}
}

// written returns the members that have a value.
func written(bindings []binding) members {
	var out members
	for _, b := range bindings {
		var value any
		switch to := b.to.(type) {
		case func(node):
		case custom:
			value = to.write()
		case *byte:
			value = char(*to)
		default:
			value = reflect.ValueOf(to).Elem().Interface()
		}
		out = append(out, member{b.name, value})
	}
	return out.withValues()
}

// char returns a character as text, "" for 0.
func char(c byte) string { return strings.TrimRight(string(rune(c)), "\x00") }

// dialectMembers are the members of a dialect. The format of the file decides by which member its
// table is written.
func dialectMembers(o *rows.Options, format string) []binding {
	tableMember := cmp.Or(map[string]string{"json": "property", "xlsx": "sheetName"}[format], "table")
	table := func(name string) binding {
		return binding{name, custom{func(n node) { n.assign(&o.Table) }, func() any {
			if name != tableMember {
				return nil
			}
			return o.Table
		}}}
	}
	return []binding{
		{"delimiter", custom{func(n node) {
			o.Delimiter = n.char()
			if o.Delimiter != 0 && !ValidDelimiter(o.Delimiter) {
				n.fail("is %q; it must not be a quote", string(rune(o.Delimiter)))
			}
		}, func() any { return char(o.Delimiter) }}},
		{"fixedWidth", custom{func(n node) {
			if !n.isShort(rows.MaxColumns) {
				return
			}
			n.assign(&o.Widths)
			if err := CheckWidths(o.Widths); err != nil {
				n.fail("is invalid: %s", err)
			}
		}, func() any { return o.Widths }}},
		{"quoteChar", custom{func(n node) { o.Quote, o.NoQuote = n.char(), n.value == "" }, func() any {
			if o.Quote == 0 && !o.NoQuote {
				return nil
			}
			return new(char(o.Quote))
		}}},
		{"escapeChar", &o.Escape}, {"doubleQuote", negated(&o.NoDoubleQuote)},
		{"skipInitialSpace", &o.SkipInitialSpace},
		{"header", custom{func(n node) {
			var isPresent bool
			n.assign(&isPresent)
			if isPresent {
				o.Header = rows.HeaderPresent
			} else {
				o.Header = rows.HeaderNone
			}
		}, func() any {
			if o.Header == rows.HeaderNone {
				return new(false)
			}
			return nil
		}}},
		{"headerRows", custom{func(n node) {
			if n.isShort(herb.MaxValues) {
				n.assign(&o.HeaderRows)
			}
		}, func() any { return o.HeaderRows }}},
		{"headerJoin", &o.HeaderJoin}, {"commentChar", &o.Comment}, {"commentRows", &o.CommentRows},
		{"skipRows", custom{func(n node) { readSkipped(o, n) }, func() any { return o.Skip }}},
		{"nullSequence", &o.Null},
		{"keys", func(n node) { n.assign(&o.ItemKeys) }}, {"itemKeys", &o.ItemKeys},
		{"sheetNumber", integer(&o.TableNo, 1)}, table("property"), table("sheetName"), table("table"),
		{"sheet", func(n node) { // a name or a number
			if name, ok := n.value.(string); !ok {
				o.TableNo = n.integer(1, maxLine)
			} else {
				o.Table = cmp.Or(name, o.Table)
			}
		}},
	}
}

// typeMembers are the members of a field that say how its values are written.
func typeMembers(d *value.Schema) []binding {
	return []binding{
		{"type", &d.Type}, {"format", &d.Format}, {"decimalChar", &d.DecimalChar}, {"groupChar", &d.GroupChar},
		{"bareNumber", negated(&d.NotBare)},
		{"delimiter", &d.Delimiter}, {"trueValues", &d.TrueValues}, {"falseValues", &d.FalseValues},
	}
}

// constraintMembers are the members of the constraints of a field. unique is written as a key of
// the schema.
func constraintMembers(c *Constraints, unique *bool) []binding {
	return []binding{
		{"required", &c.Required}, {"unique", func(n node) { n.assign(unique) }}, {"minimum", &c.Minimum},
		{"maximum", &c.Maximum},
		{"exclusiveMinimum", &c.ExclusiveMinimum}, {"exclusiveMaximum", &c.ExclusiveMaximum},
		{"minLength", integer(&c.MinLength, 0)}, {"maxLength", count(&c.MaxLength)}, {"pattern", &c.Pattern},
		{"enum", &c.Enum},
	}
}

// fieldMembers are Herbarium's own settings of a field.
func fieldMembers(f *FieldSetting) []binding {
	return []binding{
		{"from", &f.From}, {"searchable", &f.Searchable}, {"filterable", &f.Filterable}, {"sortable", &f.Sortable},
		{"weight", custom{func(n node) { f.Weight = n.integer(1, herb.MaxWeight) }, func() any { return f.Weight }}},
	}
}

// settingMembers are Herbarium's own settings of a resource.
func settingMembers(s *Source) []binding {
	return []binding{
		{"access", custom{func(n node) { s.Access = readAccess(n) }, func() any { return string(s.Access) }}},
		{"order", custom{func(n node) { s.Order = readOrder(n) },
			func() any { return written(orderMembers(&s.Order)) }}},
		{"words", custom{func(n node) { s.ExactWords = readWords(n) }, func() any {
			if s.ExactWords {
				return exactWords
			}
			return nil
		}}},
		{"coordinates", custom{func(n node) { s.Coordinates = readCoordinates(n) }, func() any {
			if s.Coordinates.None {
				return noCoordinates
			}
			return written(coordinatesMembers(&s.Coordinates))
		}}},
		{"charts", custom{func(n node) { s.Charts = readCharts(n) },
			func() any { return writtenList(s.Charts, chartMembers) }}},
		{"source", custom{func(n node) { s.Settings.Public = readSourceAccess(n) }, func() any {
			if s.Settings.Public {
				return "public"
			}
			return nil
		}}},
		{"parquet", &s.Parquet},
		{"keep", integer(&s.Keep.Versions, 1)},
		{"keep_for", custom{func(n node) { s.Keep.For = n.period() }, func() any {
			switch s.Keep.For {
			case 0:
				return nil
			case herb.KeepNoLonger:
				return json.Number("0")
			}
			return herb.FormatPeriod(s.Keep.For)
		}}},
		{"expected", custom{func(n node) { s.Expected = readFrequency(n) }, func() any { return string(s.Expected) }}},
		{"refresh", custom{func(n node) { readRefresh(&s.Fetch, n) }, func() any { return nil }}},
		{"include", conditions(&s.Include)},
		{"exclude", conditions(&s.Exclude)},
		{"expectations", custom{func(n node) {
			for _, item := range n.shortList(herb.MaxExpectations) {
				s.Expectations = append(s.Expectations, readExpectation(item))
			}
		}, func() any { return writtenList(s.Expectations, expectationMembers) }}},
	}
}

// refreshMembers are the members of the setting refresh, unless it is text.
func refreshMembers(f *herb.FetchSource) []binding {
	return []binding{
		{"every", func(n node) { readRefresh(f, n) }}, {"credentials", &f.Credentials},
		{"allow_breaking", func(n node) { n.assign(&f.AllowBreaking) }},
	}
}

// conditions binds a setting that has conditions on rows.
func conditions(to *[]Condition) custom {
	return custom{func(n node) { *to = readConditions(n) }, func() any {
		var all members
		for _, c := range *to {
			all = append(all, member{c.Column, c.Values})
		}
		return all
	}}
}

func writtenList[T any](items []T, bind func(*T) []binding) (list []members) {
	for i := range items {
		list = append(list, written(bind(&items[i])))
	}
	return list
}

func orderMembers(o *herb.Order) []binding {
	return []binding{{"field", &o.Field}, {"order", custom{func(n node) {
		var direction string
		n.assign(&direction)
		o.Desc = direction == "desc"
		if !o.Desc && direction != "" && direction != "asc" {
			n.fail("is %q; it must be asc or desc", rows.Clip(direction))
		}
	}, func() any {
		if o.Desc {
			return "desc"
		}
		return nil
	}}}}
}

// coordinatesMembers are those of the setting coordinates, unless it is noCoordinates.
func coordinatesMembers(c *Coordinates) []binding {
	return []binding{
		{"latitude", &c.Latitude}, {"longitude", &c.Longitude}, {"field", &c.Field},
		{"notation", custom{func(n node) { n.assign((*string)(&c.Notation)) },
			func() any { return string(c.Notation) }}},
	}
}

func chartMembers(c *herb.PinnedChart) []binding {
	return []binding{{"by", custom{func(n node) { c.By = n.texts() }, func() any { return c.By }}},
		{"measure", &c.Measure}}
}

func expectationMembers(e *herb.Expectation) []binding {
	return []binding{
		{"query", custom{func(n node) {
			query, _ := n.value.(string)
			e.Query = strings.TrimLeft(query, "?")
		}, func() any { return &e.Query }}},
		{"total", count(&e.Total)}, {"min", count(&e.Min)}, {"max", count(&e.Max)},
		{"first", custom{func(n node) {
			n.isObject()
			e.First = map[string]string{}
			for _, name := range n.names() {
				value := ""
				if m := n.member(name); m.value != nil {
					value = m.text()
				}
				e.First[name] = value
			}
		}, func() any {
			var first members
			for _, name := range slices.Sorted(maps.Keys(e.First)) {
				first = append(first, member{name, e.First[name]})
			}
			return first
		}}},
	}
}
