package query

import (
	"slices"

	"herbarium/internal/herb"
)

// parseCounting parses a request that counts the records of a listing. It calls set for each of the request's own
// parameters that has a value. Only ParamField may be repeated.
func parseCounting(raw string, fields []herb.Field, what string, reserved func() []string, set func(Param) error) (*Request, error) {
	ps, err := parseQuery(raw)
	if err != nil {
		return nil, err
	}
	r := &Request{Page: 1, PerPage: DefaultPerPage, fields: fields}
	filters := filterParser{fields: fields, reserved: reserved}
	var seen []string
	for _, p := range ps {
		own := slices.Contains(reserved(), p.Name)
		switch {
		case p.Name == ParamAPIKey:
		case !own && !IsReserved(p.Name), p.Name == ParamFilter:
			err = filters.add(p)
		case slices.Contains(seen, p.Name):
			err = herb.Invalidf("%q is given more than once; give it once", p.Name)
		case own:
			if p.Name != ParamField {
				seen = append(seen, p.Name)
			}
			err = r.setCounting(p, &filters, set)
		case p.Value != "":
			err = herb.Invalidf("%q is given, but %s count all records that meet the filters and the search, "+
				"in no order and without pages; leave %q out", p.Name, what, p.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	r.Conditions = filters.conditions()
	return r, nil
}

// setCounting sets the search, or calls set. An empty value counts as absent.
func (r *Request) setCounting(p Param, filters *filterParser, set func(Param) error) (err error) {
	switch {
	case p.Value == "":
		return nil
	case p.Name == ParamSearch:
		r.Search, err = filters.search(p.Value)
		return err
	case p.Name == ParamVersion:
		return errVersion()
	}
	return set(p)
}
