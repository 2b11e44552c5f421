package view

import (
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Parameters that only the pages use. A field with such a name is filtered as name[eq].
const (
	ParamColumn = "_column" // a column to show, repeated; none: the first ones
	ParamRecord = "_record" // the open record, by its position on the page
	ParamFacet  = "_facet"  // a filter whose counts are shown, repeated
)

// The limits of a page; a dataset may have ten thousand fields.
const (
	maxDefaultColumns = 12  // shown if none are selected
	maxColumns        = 60  // shown at most
	maxColumnChoices  = 250 // offered
)

// State is the state of a data browser, which is completely contained in its URL.
type State struct {
	Path    string       // of the page
	Files   string       // path of the image files beside the dataset, with a trailing slash; empty: they are not served
	Listing query.Params // the parameters of the listing, as the API takes them
	Columns []string     // selected columns; none: the first ones
	Facets  []string     // filters whose counts are shown
	Record  int          // position of the open record, from 1; 0: none

	fields []herb.Field
}

// ParseState reads the state from a URL of a page. It does not validate the listing. canonical is false if the URL
// contains parameters without effect, as submitted forms do, or a key, which must not stay in a URL; redirect to URL then.
func ParseState(path, raw string, fields []herb.Field) (s State, canonical bool, err error) {
	s = State{Path: path, fields: fields}
	ps, err := query.ParseParams(raw)
	if err != nil {
		return s, true, err
	}
	canonical = true
	for _, p := range ps {
		switch p.Name {
		case ParamColumn:
			if herb.FieldIndex(fields, p.Value) >= 0 && !slices.Contains(s.Columns, p.Value) && len(s.Columns) < maxColumns {
				s.Columns = append(s.Columns, p.Value)
			}
		case ParamFacet:
			s.Facets = append(s.Facets, p.Value)
		case ParamRecord:
			if s.Record, err = strconv.Atoi(p.Value); err != nil || s.Record < 1 || s.Record > query.MaxPerPage {
				s.Record, canonical = 0, false
			}
		default:
			if expanded, ok := query.ExpandFilter(p.Value, fields); ok && p.Name == query.ParamFilter {
				p, canonical = expanded, false
			}
			if hasNoEffect(p, fields) {
				canonical = false
				continue
			}
			s.Listing = append(s.Listing, p)
		}
	}
	if s.Listing.Get(query.ParamSort) == "" && s.Listing.Get(query.ParamOrder) != "" {
		s.Listing, canonical = s.Listing.Without(query.ParamOrder), false
	}
	return s, canonical, nil
}

// hasNoEffect reports whether a parameter can be left out of a URL.
func hasNoEffect(p query.Param, fields []herb.Field) bool {
	switch {
	case p.Name == query.ParamAPIKey, p.Name == query.ParamPage && p.Value == "1":
		return true
	case p.Value != "":
		return false
	case query.IsReserved(p.Name):
		return true
	}
	_, op, ok := query.ResolveFilter(p.Name, fields)
	return ok && !op.AcceptsEmpty()
}

// Request parses the listing.
func (s *State) Request(order herb.Order) (*query.Request, error) {
	return query.ParseOrdered(s.Listing.Encode(), s.fields, order)
}

// ValidListing returns the parameters of the listing without invalid ones, and the names of those.
func (s *State) ValidListing() (valid query.Params, invalid []string) {
	for _, p := range s.Listing {
		if _, err := query.Parse(query.Params{p}.Encode(), s.fields); err != nil {
			invalid = append(invalid, p.Name)
			continue
		}
		valid = append(valid, p)
	}
	if _, err := query.Parse(valid.Encode(), s.fields); err != nil { // valid only one by one
		return nil, invalid
	}
	return valid, invalid
}

// URL returns the canonical URL of the page.
func (s *State) URL() string {
	ps := s.withOwn(s.Listing)
	if s.Record > 0 {
		ps = ps.With(query.Param{Name: ParamRecord, Value: strconv.Itoa(s.Record)})
	}
	return Join(s.Path, ps.Encode())
}

// Join appends a query string to a path.
func Join(path, rawQuery string) string {
	if rawQuery == "" {
		return path
	}
	return path + "?" + rawQuery
}

// Href returns the link to another listing with the same columns and filters. It is relative, which saves a third of its
// bytes.
func (s *State) Href(listing query.Params) string {
	if ps := s.withOwn(listing); len(ps) > 0 {
		return "?" + ps.Encode()
	}
	return s.Path
}

// prefix returns the link to a listing with one more parameter, up to its value.
func (s *State) prefix(listing query.Params, name string) string {
	return "?" + s.withOwn(listing).With(query.Param{Name: name}).Encode()
}

// withOwn adds the parameters of the page, except the open record.
func (s *State) withOwn(listing query.Params) query.Params {
	for _, c := range s.Columns {
		listing = listing.With(query.Param{Name: ParamColumn, Value: c})
	}
	for _, f := range s.Facets {
		listing = listing.With(query.Param{Name: ParamFacet, Value: f})
	}
	return listing
}

// AnyPage returns the parameters of the listing without the page number.
func (s *State) AnyPage() query.Params { return s.Listing.Without(query.ParamPage) }

// pageParams returns the parameters of the listing with another page number.
func (s *State) pageParams(page int) query.Params {
	if page <= 1 {
		return s.AnyPage()
	}
	return s.AnyPage().With(query.Param{Name: query.ParamPage, Value: strconv.Itoa(page)})
}

// PageHref returns the link to a page of the listing.
func (s *State) PageHref(page int) string { return s.Href(s.pageParams(page)) }

// eqParam returns the parameter that filters a field by whole values.
func (s *State) eqParam(field int) string {
	name := s.fields[field].Name
	if query.IsReserved(name) || strings.HasPrefix(name, "_") || strings.HasSuffix(name, "]") {
		return query.FilterParam(name, query.OpEq)
	}
	return name
}

// condition is a parameter that filters.
type condition struct {
	query.Param
	op query.Op
}

// conditions returns the parameters that filter, by field.
func (s *State) conditions() map[int][]condition {
	out := map[int][]condition{}
	for _, p := range s.Listing {
		if i, op, ok := query.ResolveFilter(p.Name, s.fields); ok {
			out[i] = append(out[i], condition{p, op})
		}
	}
	return out
}

// toggle returns the parameters with a filter by a whole value added, or removed if it is active.
func (s *State) toggle(field int, value string) (ps query.Params, active bool) {
	ps = s.AnyPage()
	name, op := s.eqParam(field), query.OpEq
	if value == "" && len(s.fields[field].Notation.Missing) > 0 { // markers count as empty
		name, op, value = query.FilterParam(s.fields[field].Name, query.OpEmpty), query.OpEmpty, "true"
	}
	for k, p := range ps {
		if i, used, _ := query.ResolveFilter(p.Name, s.fields); i == field && used == op && p.Value == value {
			return slices.Delete(ps, k, k+1), true
		}
	}
	return ps.With(query.Param{Name: name, Value: value}), false
}

// WithoutFilter returns the parameters without those that filter a field.
func (s *State) WithoutFilter(field int) query.Params {
	return s.withoutOps(field, query.Ops()...)
}

// withoutOps returns the parameters without those that filter a field with one of the operators.
func (s *State) withoutOps(field int, ops ...query.Op) query.Params {
	return slices.DeleteFunc(s.AnyPage(), func(p query.Param) bool {
		i, op, ok := query.ResolveFilter(p.Name, s.fields)
		return ok && i == field && slices.Contains(ops, op)
	})
}

// ColumnChoices is the menu of columns.
type ColumnChoices struct {
	Choices []ColumnChoice
	More    int // columns that are not offered
}

// ColumnChoice is a column that can be shown.
type ColumnChoice struct {
	Name, Heading string
	Shown         bool
}

// ShownColumns returns the selected columns in the order of the fields, or the first ones, and the menu to select them.
func (s *State) ShownColumns(d *herb.Dataset) (shown []Column, menu ColumnChoices) {
	for i, f := range d.Fields {
		selected := slices.Contains(s.Columns, f.Name) || len(s.Columns) == 0 && i < maxDefaultColumns
		if selected {
			shown = append(shown, NewColumn(d, i))
		}
		if selected || len(menu.Choices) < maxColumnChoices {
			menu.Choices = append(menu.Choices, ColumnChoice{f.Name, Heading(f), selected})
		}
	}
	menu.More = len(d.Fields) - len(menu.Choices)
	return shown, menu
}

// WithoutColumns returns the parameters that the form of the column menu carries along.
func WithoutColumns(s *State) query.Params {
	other := *s
	other.Columns = nil
	return other.withOwn(s.Listing)
}
