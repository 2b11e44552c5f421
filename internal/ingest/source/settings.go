package source

import (
	"cmp"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// readSettings reads Herbarium's own settings of a resource.
func (p *descriptor) readSettings(s *Source, n node) {
	n.checkPlacement(n.where + ".herbarium")
	n.member(own).bindAll([]binding{
		{"access", func(n node) { s.Access = readAccess(n) }},
		{"order", func(n node) { s.Order = readOrder(n) }},
		{"map", func(n node) { s.Map = readMap(n) }},
		{"include", func(n node) { s.Include = readInclude(n) }},
		{"goldens", func(n node) {
			for _, item := range n.list() {
				s.Expectations = append(s.Expectations, readExpectation(item))
			}
		}},
	})
	s.Access = cmp.Or(s.Access, p.access)
	s.AccessSet = s.Access != ""
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
		n.bindAll([]binding{{"field", &o.Field}, {"order", &direction}})
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
func readMap(n node) (m MapFields) {
	n.isObject()
	n.bindAll([]binding{{"latitude", &m.Latitude}, {"longitude", &m.Longitude}})
	if m.Latitude == "" || m.Longitude == "" {
		n.fail("must name two fields: {latitude, longitude}")
	}
	return m
}

// readInclude reads the conditions for rows: one value or a list of values by column.
func readInclude(n node) (out []Include) {
	n.isObject()
	for _, name := range n.names() {
		m := n.member(name)
		values := m.texts()
		if len(values) == 0 {
			m.fail("lists no value; list the values of rows to include, \"\" for an empty one")
		}
		out = append(out, Include{Column: name, Values: values})
	}
	return out
}

// readExpectation reads a query with its expected result.
func readExpectation(n node) (e herb.Expectation) {
	hasQuery := false
	n.isObject()
	n.bindAll([]binding{
		{"query", func(n node) {
			e.Query, hasQuery = n.value.(string)
			e.Query = strings.TrimPrefix(e.Query, "?")
		}},
		{"total", func(n node) { e.Total = new(n.integer(0, maxLine)) }},
		{"first", func(n node) {
			n.isObject()
			e.First = map[string]string{}
			for _, name := range n.names() {
				value := ""
				if m := n.member(name); m.value != nil {
					value = m.text()
				}
				e.First[name] = value
			}
		}},
	})
	if !hasQuery {
		n.fail("has no query; set it to the query string of a listing, \"\" for all records")
	}
	if e.Total == nil && len(e.First) == 0 {
		n.fail("expects nothing; set \"total\", the number of records, or \"first\", values of the first record")
	}
	return e
}
