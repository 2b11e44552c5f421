package datapackage

import (
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// packageSettings are the members of "herbarium" in a package.
func packageSettings(access *herb.Access) []binding {
	return []binding{{"access", func(n node) { *access = readAccess(n) }}}
}

// resourceSettings are the members of "herbarium" in a resource.
func resourceSettings(s *source.Source) []binding {
	return []binding{
		{"access", func(n node) { s.Access = readAccess(n) }},
		{"order", func(n node) { s.Order = readOrder(n) }},
		{"map", func(n node) { s.Map = readMap(n) }},
		{"include", func(n node) { s.Include = readInclude(n) }},
		{"goldens", func(n node) {
			for _, item := range n.list() {
				s.Expectations = append(s.Expectations, readExpectation(item))
			}
		}},
	}
}

// fieldSettings are the members of "herbarium" in a field.
func fieldSettings(f *source.FieldSetting) []binding {
	return []binding{
		{"from", &f.From}, {"searchable", &f.Searchable}, {"filterable", &f.Filterable}, {"sortable", &f.Sortable},
		{"weight", func(n node) { f.Weight = n.integer(1, herb.MaxWeight) }},
	}
}

func mapSettings(m *source.MapFields) []binding {
	return []binding{{"latitude", &m.Latitude}, {"longitude", &m.Longitude}}
}

func orderSettings(field, direction *string) []binding {
	return []binding{{"field", field}, {"order", direction}}
}

func expectationSettings(e *herb.Expectation, hasQuery *bool) []binding {
	return []binding{
		{"query", func(n node) {
			var q string
			q, *hasQuery = n.value.(string)
			e.Query = strings.TrimPrefix(q, "?")
		}},
		{"total", func(n node) { e.Total = new(n.integer(0, maxLine)) }},
		{"first", func(n node) {
			n.isObject()
			e.First = map[string]string{}
			for _, name := range n.names() {
				if m := n.member(name); m.value != nil {
					e.First[name] = m.text()
				} else {
					e.First[name] = ""
				}
			}
		}},
	}
}

// readAccess reads who may list the records.
func readAccess(n node) herb.Access {
	var s string
	n.assign(&s)
	if _, err := herb.ParseAccess(s); err != nil && s != "" {
		n.fail("is %q; choose open or key", rows.Clip(s))
	}
	return herb.Access(s)
}

// readOrder reads "date", "-date" or {field: date, order: desc}.
func readOrder(n node) (o herb.Order) {
	direction := ""
	switch v := n.value.(type) {
	case string:
		o.Field, o.Desc = strings.CutPrefix(v, "-")
	case object:
		n.bindAll(orderSettings(&o.Field, &direction))
		if o.Desc = direction == "desc"; !o.Desc && direction != "" && direction != "asc" {
			n.member("order").fail("is %q; it must be asc or desc", rows.Clip(direction))
		}
	default:
		n.fail("must be the name of a field, with a - before it for descending order, or {field, order}")
	}
	if o.Field == "" {
		n.fail("names no field; name a sortable one")
	}
	return o
}

// readMap reads the fields with the coordinates of the records.
func readMap(n node) (m source.MapFields) {
	n.isObject()
	n.bindAll(mapSettings(&m))
	if m.Latitude == "" || m.Longitude == "" {
		n.fail("must name two fields: {latitude, longitude}")
	}
	return m
}

// readInclude reads the conditions for rows: one value or a list of values by column.
func readInclude(n node) (out []source.Include) {
	n.isObject()
	for _, name := range n.names() {
		m := n.member(name)
		values := m.texts()
		if len(values) == 0 {
			m.fail("lists no value; list the values of rows to include, \"\" for an empty one")
		}
		out = append(out, source.Include{Column: name, Values: values})
	}
	return out
}

// readExpectation reads a query with its expected result.
func readExpectation(n node) (e herb.Expectation) {
	hasQuery := false
	n.isObject()
	n.bindAll(expectationSettings(&e, &hasQuery))
	if !hasQuery {
		n.fail("has no query; set it to the query string of a listing, \"\" for all records")
	}
	if e.Total == nil && len(e.First) == 0 {
		n.fail("expects nothing; set \"total\", the number of records, or \"first\", values of the first record")
	}
	return e
}
