package view

import (
	"cmp"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// Filter narrows a listing by one field. A page is sent without the counts of its filters, which cost more than its rows:
// the script requests those of the open filters, and without a script a button does.
type Filter struct {
	herb.Field
	Index   int // of the field
	Heading string
	Mode    FilterMode
	Open    bool
	Active  int // number of conditions on the field
	Counts  *Counts

	FromName, From, ToName, To string // inputs of a range
	PrefixName, Prefix         string // input of a prefix; no name: none
}

// FilterMode is how a field is filtered.
type FilterMode string

// The filter modes.
const (
	ModeValues FilterMode = "values" // select from values with counts
	ModeRange  FilterMode = "range"  // enter a range, or select from a histogram
	ModePrefix FilterMode = "prefix" // enter a prefix; nearly every row has a value of its own
)

// The limits of the filters of a page.
const (
	maxFilters     = 40
	maxOpenFilters = 6
	manyValues     = 5000
)

// NewFilters returns the filters of a dataset that a page shows, open ones first, and how many are left out. Active and
// requested ones are always shown.
func NewFilters(s *State, d *herb.Dataset) (shown []Filter, more int) {
	var all []Filter
	used, open := s.conditions(), 0
	for i, f := range d.Fields {
		if !f.Filterable {
			continue
		}
		fl := Filter{Field: f, Index: i, Heading: Heading(f), Mode: modeOf(d, i), Active: len(used[i])}
		fl.Open = fl.Active > 0 || slices.Contains(s.Facets, f.Name) || open < maxOpenFilters && opensByDefault(d, i)
		if fl.Open {
			open++
		}
		all = append(all, fl)
	}
	slices.SortStableFunc(all, func(a, b Filter) int { return cmp.Compare(a.rank(), b.rank()) })
	for _, fl := range all {
		if len(shown) < maxFilters || fl.Active > 0 || slices.Contains(s.Facets, fl.Name) {
			fl.setInputs(d, used[fl.Index])
			shown = append(shown, fl)
		}
	}
	return shown, len(all) - len(shown)
}

// rank orders filters: open ones first, then those with values to select.
func (f *Filter) rank() int {
	switch {
	case f.Open:
		return 0
	case f.Mode != ModePrefix:
		return 1
	}
	return 2
}

// opensByDefault reports whether the counts of a field are useful enough to be shown without a request.
func opensByDefault(d *herb.Dataset, i int) bool {
	c := columnReport(d, i)
	if c == nil || c.Distinct < 2 {
		return false
	}
	switch modeOf(d, i) {
	case ModeValues:
		return c.Distinct <= 500
	case ModeRange:
		return KindOf(d, i) != KindCode
	}
	return false
}

// modeOf returns how a field is filtered, depending on its type and on the number of its values in the publish report.
func modeOf(d *herb.Dataset, i int) FilterMode {
	f := d.Fields[i]
	if query.HasRange(f.Type) {
		return ModeRange
	}
	c := columnReport(d, i)
	if f.Type == herb.TypeList || c == nil || c.Distinct <= 50 || c.Distinct <= manyValues && 2*c.Distinct <= d.Records {
		return ModeValues
	}
	return ModePrefix
}

// setInputs sets the inputs of a filter to the active conditions.
func (f *Filter) setInputs(d *herb.Dataset, used []condition) {
	if f.Mode == ModeRange {
		f.FromName, f.ToName = query.FilterParam(f.Name, query.OpGte), query.FilterParam(f.Name, query.OpLte)
	}
	if c := columnReport(d, f.Index); f.Type == herb.TypeText && (c == nil || c.Distinct > FacetValues) { // not all values are shown
		f.PrefixName = query.FilterParam(f.Name, query.OpPrefix)
	}
	for _, c := range used {
		switch {
		case f.Mode == ModeRange && (c.op == query.OpGte || c.op == query.OpGt):
			f.FromName, f.From = c.Name, f.input(c.Value)
		case f.Mode == ModeRange && (c.op == query.OpLte || c.op == query.OpLt):
			f.ToName, f.To = c.Name, f.input(c.Value)
		case c.op == query.OpPrefix:
			f.PrefixName, f.Prefix = c.Name, c.Value
		}
	}
}

// input returns an operand in the form that its input requires: browsers show dates and times only in ISO 8601 without a
// zone.
func (f *Filter) input(operand string) string {
	canonical, status := text.Operand(&f.Field, operand)
	if status != text.Valid || f.Type == herb.TypeNumber {
		return operand
	}
	local, _ := strings.CutSuffix(canonical, ".000000000Z")
	return strings.TrimSuffix(local, "Z")
}

// Hidden returns the parameters that the search form carries along: those without an input of their own.
func Hidden(s *State, filters []Filter) query.Params {
	names := []string{query.ParamSearch}
	for _, f := range filters {
		names = append(names, f.FromName, f.ToName, f.PrefixName)
	}
	return s.withOwn(s.AnyPage().Without(names...))
}

// InputType returns the type of the inputs of a range.
func (f Filter) InputType() string {
	switch f.Type {
	case herb.TypeDate:
		return "date"
	case herb.TypeDateTime:
		return "datetime-local"
	}
	return "text"
}
