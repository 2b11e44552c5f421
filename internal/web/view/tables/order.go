package tables

import (
	"slices"
	"strings"

	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

// Order is the menu of the order of the rows.
type Order struct {
	Label    string // in words
	Keys     []OrderKey
	Choices  []columns.Column
	Original string // link; empty: the rows are in that order
}

// OrderKey is a field that the rows are sorted by.
type OrderKey struct {
	Heading      string
	Desc         bool
	Flip, Remove string
}

// sortParams returns the parameters of the listing with another order.
func sortParams(s *state.State, keys ...query.SortField) query.Params {
	ps := s.AnyPage().Without(query.ParamSort, query.ParamOrder)
	var names []string
	for _, k := range keys {
		name := s.Fields[k.Field].Name
		switch {
		case len(keys) == 1 && k.Desc: // for fields with any name
			return ps.WithValue(query.ParamSort, name).WithValue(query.ParamOrder, "desc")
		case k.Desc:
			name = "-" + name
		}
		names = append(names, name)
	}
	return ps.WithValue(query.ParamSort, strings.Join(names, ","))
}

// addSort returns the order with a field added, reversed if it is ascending, or removed if it is
// descending. The default order of the dataset is not extended.
func addSort(s *state.State, keys []query.SortField, field int) []query.SortField {
	if s.Listing.Get(query.ParamSort) == "" {
		return []query.SortField{{Field: field}}
	}
	keys = slices.Clone(keys)
	at := slices.IndexFunc(keys, func(k query.SortField) bool { return k.Field == field })
	switch {
	case at < 0:
		return append(keys, query.SortField{Field: field})
	case keys[at].Desc:
		return slices.Delete(keys, at, at+1)
	}
	keys[at].Desc = true
	return keys
}

// NewOrder returns the menu of the order. It offers the sortable ones of the shown columns.
func NewOrder(s *state.State, req *query.Request, headers []Header) Order {
	keys := req.Sort
	o := Order{Label: "Original order"}
	if req.ByRelevance() {
		o.Label = "Best matches"
	}
	if s.Listing.Get(query.ParamSort) != "" {
		o.Original = s.Href(sortParams(s))
	}
	var labels []string
	for i, k := range keys {
		flipped := slices.Clone(keys)
		flipped[i].Desc = !k.Desc
		key := OrderKey{Heading: columns.Heading(s.Fields[k.Field]), Desc: k.Desc,
			Flip: s.Href(sortParams(s, flipped...))}
		if o.Original != "" {
			key.Remove = s.Href(sortParams(s, slices.Delete(slices.Clone(keys), i, i+1)...))
		}
		arrow := " ↑"
		if k.Desc {
			arrow = " ↓"
		}
		o.Keys, labels = append(o.Keys, key), append(labels, key.Heading+arrow)
	}
	if len(labels) > 0 {
		o.Label = "Sorted by " + strings.Join(labels, ", ")
	}
	for _, h := range headers {
		if h.Sortable && h.Sorted == "" {
			o.Choices = append(o.Choices, h.Column)
		}
	}
	return o
}
