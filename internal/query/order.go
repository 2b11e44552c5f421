package query

import "herbarium/internal/herb"

// ParseOrdered reads a request as Parse does, for a dataset whose listing has an order of its own. That holds where a
// request asks for none: it has no sort, and no search whose best matches would come first. The request is then the same
// as one that had asked for the order, so that both have one canonical form.
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
