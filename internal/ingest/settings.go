package ingest

import (
	"cmp"
	"math"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// The members of "herbarium" in a package, a resource and a field, and of what stands in them.
func packageSettings() []string  { return []string{"access"} }
func resourceSettings() []string { return []string{"access", "order", "include", "goldens"} }
func fieldOwnSettings() []string {
	return []string{"from", "searchable", "filterable", "sortable", "weight"}
}
func orderSettings() []string       { return []string{"field", "order"} }
func expectationSettings() []string { return []string{"query", "total", "first"} }

// settings reads what Herbarium is told about a resource.
func (p *packageReader) settings(s *Source, n node) error {
	if err := n.misplaced(n.where + ".herbarium"); err != nil {
		return err
	}
	own, err := n.settings(resourceSettings())
	if err != nil {
		return err
	}
	access, err := accessOf(own)
	if err != nil {
		return err
	}
	s.Access = herb.Access(cmp.Or(access, p.access))
	s.AccessSet = s.Access != ""
	if s.Order, err = orderOf(own.member("order")); err != nil {
		return err
	}
	if s.Include, err = includeOf(own.member("include")); err != nil {
		return err
	}
	expectations, err := own.list("goldens")
	if err != nil {
		return err
	}
	for _, n := range expectations {
		e, err := expectationOf(n)
		if err != nil {
			return err
		}
		s.Expectations = append(s.Expectations, e)
	}
	return nil
}

// orderOf reads "date", "-date" or {field: date, order: desc}.
func orderOf(n node) (o herb.Order, err error) {
	switch v := n.value.(type) {
	case nil:
		return o, nil
	case string:
		o.Field, o.Desc = strings.CutPrefix(v, "-")
	case *object:
		if err := n.hasOnly(orderSettings()); err != nil {
			return o, err
		}
		if o.Field, err = n.text("field"); err != nil {
			return o, err
		}
		direction, err := n.text("order")
		if err != nil {
			return o, err
		}
		if o.Desc = direction == "desc"; !o.Desc && direction != "" && direction != "asc" {
			return o, n.member("order").wrong("is %q; it must be asc or desc", rows.Clip(direction))
		}
	default:
		return o, n.wrong("must be the name of a field, with a - before it for the other direction, or {field, order}")
	}
	if o.Field == "" {
		return o, n.wrong("names no field; write the name of one that is sortable")
	}
	return o, nil
}

// includeOf reads what a row must hold, by column: one value or a list of them.
func includeOf(n node) ([]Include, error) {
	if n.value == nil {
		return nil, nil
	}
	if err := n.isObject(); err != nil {
		return nil, err
	}
	var out []Include
	for _, name := range n.object().names {
		m := n.member(name)
		values, err := m.texts()
		switch {
		case err != nil:
			return nil, err
		case len(values) == 0:
			return nil, m.wrong("lists no value; list those that a row must have one of, \"\" for none")
		}
		out = append(out, Include{Column: name, Values: values})
	}
	return out, nil
}

func expectationOf(n node) (e herb.Expectation, err error) {
	if err := n.hasOnly(expectationSettings()); err != nil {
		return e, err
	}
	if q, ok := n.member("query").value.(string); ok {
		e.Query = strings.TrimPrefix(q, "?")
	} else {
		return e, n.wrong("has no query; give the query string of a listing, \"\" for all records")
	}
	if e.Total, err = n.number("total", 0, math.MaxInt32); err != nil {
		return e, err
	}
	first := n.member("first")
	if first.value != nil {
		if err := first.isObject(); err != nil {
			return e, err
		}
		e.First = map[string]string{}
	}
	for _, name := range first.object().names {
		m := first.member(name)
		value, ok := m.scalar()
		if !ok && m.value != nil {
			return e, m.wrong("must be text; put it in quotes")
		}
		e.First[name] = value
	}
	if e.Total == nil && len(e.First) == 0 {
		return e, n.wrong("expects nothing; give \"total\", the number of records, or \"first\", values of the first one")
	}
	return e, nil
}

// weightOf reads how many times a word counts.
func weightOf(own node) (int, error) {
	w, err := own.number("weight", 1, herb.MaxWeight)
	if err != nil || w == nil {
		return 0, err
	}
	return *w, nil
}
