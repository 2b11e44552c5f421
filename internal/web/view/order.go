package view

import (
	"slices"
	"strings"

	"herbarium/internal/query"
)

// Order is the menu of the order of the rows.
type Order struct {
	Label    string // in words
	Keys     []OrderKey
	Choices  []FieldItem
	Hidden   query.Params
	Original string // link; empty: the rows are in that order
}

// OrderKey is a field that the rows are sorted by.
type OrderKey struct {
	Heading      string
	Desc         bool
	Flip, Remove string
}

// sortParams returns the parameters of the listing with another order.
func (s *State) sortParams(keys ...query.SortField) query.Params {
	ps := s.AnyPage().Without(query.ParamSort, query.ParamOrder)
	var names []string
	for _, k := range keys {
		name := s.fields[k.Field].Name
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

// NewOrder returns the menu of the order. It offers the sortable ones of the shown columns.
func NewOrder(s *State, req *query.Request, columns []Column) Order {
	keys := req.Sort
	o := Order{Label: "Original order", Hidden: s.Hidden(query.ParamSort, query.ParamOrder)}
	if req.ByRelevance() {
		o.Label = "Best matches"
	}
	if s.Listing.Get(query.ParamSort) != "" {
		o.Original = s.Href(s.sortParams())
	}
	var labels []string
	for i, k := range keys {
		flipped := slices.Clone(keys)
		flipped[i].Desc = !k.Desc
		key := OrderKey{Heading: Heading(s.fields[k.Field]), Desc: k.Desc, Flip: s.Href(s.sortParams(flipped...))}
		if o.Original != "" {
			key.Remove = s.Href(s.sortParams(slices.Delete(slices.Clone(keys), i, i+1)...))
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
	for _, c := range columns {
		if c.Sortable && !slices.ContainsFunc(keys, func(k query.SortField) bool { return k.Field == c.Index }) {
			o.Choices = append(o.Choices, FieldItem{Name: c.Name, Heading: c.Heading, Type: c.Type})
		}
	}
	return o
}
