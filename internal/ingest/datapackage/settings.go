package datapackage

import (
	"cmp"
	"math"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// The members of "herbarium" in a package, a resource and a field, and of the objects in them.
func packageSettings() []string  { return []string{"access"} }
func resourceSettings() []string { return []string{"access", "order", "include", "goldens"} }
func fieldSettings() []string {
	return []string{"from", "searchable", "filterable", "sortable", "weight"}
}
func orderSettings() []string       { return []string{"field", "order"} }
func expectationSettings() []string { return []string{"query", "total", "first"} }

// readSettings reads Herbarium's own settings of a resource.
func (p *reader) readSettings(s *source.Source, n node) error {
	if err := n.checkPlacement(n.where + ".herbarium"); err != nil {
		return err
	}
	own, err := n.settings(resourceSettings())
	if err != nil {
		return err
	}
	access, err := readAccess(own)
	if err != nil {
		return err
	}
	s.Access = herb.Access(cmp.Or(access, p.access))
	s.AccessSet = s.Access != ""
	if s.Order, err = readOrder(own.member("order")); err != nil {
		return err
	}
	if s.Include, err = readInclude(own.member("include")); err != nil {
		return err
	}
	expectations, err := own.list("goldens")
	if err != nil {
		return err
	}
	for _, n := range expectations {
		e, err := readExpectation(n)
		if err != nil {
			return err
		}
		s.Expectations = append(s.Expectations, e)
	}
	return nil
}

// readAccess reads who may list the records, or returns "" if it is not set.
func readAccess(own node) (string, error) {
	s := ""
	if err := bind(own.member, binding{"access", &s}); err != nil || s == "" {
		return "", err
	}
	if _, err := herb.ParseAccess(s); err != nil {
		return "", own.member("access").errorf("is %q; choose open or key", rows.Clip(s))
	}
	return s, nil
}

// readOrder reads "date", "-date" or {field: date, order: desc}.
func readOrder(n node) (o herb.Order, err error) {
	switch v := n.value.(type) {
	case nil:
		return o, nil
	case string:
		o.Field, o.Desc = strings.CutPrefix(v, "-")
	case object:
		if err := n.checkMembers(orderSettings()); err != nil {
			return o, err
		}
		direction := ""
		if err := bind(n.member, binding{"field", &o.Field}, binding{"order", &direction}); err != nil {
			return o, err
		}
		if o.Desc = direction == "desc"; !o.Desc && direction != "" && direction != "asc" {
			return o, n.member("order").errorf("is %q; it must be asc or desc", rows.Clip(direction))
		}
	default:
		return o, n.errorf("must be the name of a field, with a - before it for descending order, or {field, order}")
	}
	if o.Field == "" {
		return o, n.errorf("names no field; name a sortable one")
	}
	return o, nil
}

// readInclude reads the conditions for rows: one value or a list of values by column.
func readInclude(n node) ([]source.Include, error) {
	if n.value == nil {
		return nil, nil
	}
	if err := n.checkObject(); err != nil {
		return nil, err
	}
	var out []source.Include
	for _, name := range n.names() {
		m := n.member(name)
		values, err := m.texts()
		switch {
		case err != nil:
			return nil, err
		case len(values) == 0:
			return nil, m.errorf("lists no value; list the values of rows to include, \"\" for an empty one")
		}
		out = append(out, source.Include{Column: name, Values: values})
	}
	return out, nil
}

// readExpectation reads a query with its expected result.
func readExpectation(n node) (e herb.Expectation, err error) {
	if err := n.checkMembers(expectationSettings()); err != nil {
		return e, err
	}
	q, ok := n.member("query").value.(string)
	if !ok {
		return e, n.errorf("has no query; set it to the query string of a listing, \"\" for all records")
	}
	e.Query = strings.TrimPrefix(q, "?")
	if e.Total, err = n.integer("total", 0, math.MaxInt32); err != nil {
		return e, err
	}
	first := n.member("first")
	if first.value != nil {
		if err := first.checkObject(); err != nil {
			return e, err
		}
		e.First = map[string]string{}
	}
	for _, name := range first.names() {
		m := first.member(name)
		value, ok := m.scalar()
		if !ok && m.value != nil {
			return e, m.errorf("must be text; put it in quotes")
		}
		e.First[name] = value
	}
	if e.Total == nil && len(e.First) == 0 {
		return e, n.errorf("expects nothing; set \"total\", the number of records, or \"first\", values of the first record")
	}
	return e, nil
}
