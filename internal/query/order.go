package query

import "herbarium/internal/herb"

// ParseOrdered parses a request like Parse, for a dataset with a default order. The default order applies if the
// request has neither a sort nor a search, which is ordered by relevance. The result equals that of a request with an
// explicit sort, so that both have the same canonical form.
func ParseOrdered(raw string, fields []herb.Field, order herb.Order) (*Request, error) {
	r, err := Parse(raw, fields)
	if err != nil || r.Sort != NoSort || r.Search != nil || order.Field == "" {
		return r, err
	}
	if i := herb.FieldIndex(fields, order.Field); i >= 0 && fields[i].Sortable {
		r.Sort, r.Desc = i, order.Desc
	}
	return r, nil
}
