package view

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// Filter is the form that edits the conditions on one field. A page is sent without the counts of its values, which cost more
// than its rows: the script requests them when the form opens, and without a script a button does.
type Filter struct {
	herb.Field
	Index   int // of the field
	Heading string
	Mode    FilterMode
	Path    string       // of the page
	Hidden  query.Params // carried along by the form
	Counts  *Counts      // nil: not counted

	EqName                     string // of the checkboxes of values
	Selected                   []FacetValue
	FromName, From, ToName, To string // inputs of a range
	PrefixName, Prefix         string // input of a prefix; no name: none
	EmptyName, Empty           string // "true": only empty values, "false": only others
	Find                       string // text that the values contain
	Message                    string // why a condition is invalid; empty: all are valid
}

// FilterMode is how a field is filtered.
type FilterMode string

// The filter modes.
const (
	ModeValues FilterMode = "values" // select from values with counts
	ModeRange  FilterMode = "range"  // enter a range
	ModePrefix FilterMode = "prefix" // enter a prefix; nearly every row has a value of its own
)

// manyValues is how many values a field may have to be filtered by selecting them.
const manyValues = 5000

// NewFilter returns the form for a field.
func NewFilter(s *State, field int) Filter {
	f := Filter{Field: s.fields[field], Index: field, Heading: Heading(s.fields[field]), Mode: modeOf(s.dataset, field), Path: s.Path, Find: s.Values}
	f.EqName, f.EmptyName = s.eqParam(field), query.FilterParam(f.Name, query.OpEmpty)
	if f.Mode == ModeRange {
		f.FromName, f.ToName = query.FilterParam(f.Name, query.OpGte), query.FilterParam(f.Name, query.OpLte)
	}
	if f.Type == herb.TypeText {
		f.PrefixName = query.FilterParam(f.Name, query.OpPrefix)
	}
	var kept query.Params // without an input
	for _, c := range s.conditions()[field] {
		if !f.setInput(c) {
			kept = append(kept, c.Param)
		}
	}
	f.Hidden = s.withOwn(s.WithoutFilter(field)).With(kept...)
	return f
}

// setInput shows a condition in its input. It returns false if there is none.
func (f *Filter) setInput(c condition) bool {
	switch {
	case f.Mode == ModeRange && (c.op == query.OpGte || c.op == query.OpGt):
		f.FromName, f.From = c.Name, f.input(c.Value)
	case f.Mode == ModeRange && (c.op == query.OpLte || c.op == query.OpLt):
		f.ToName, f.To = c.Name, f.input(c.Value)
	case c.op == query.OpPrefix && f.PrefixName != "":
		f.Prefix = c.Value
	case c.op == query.OpEmpty:
		f.Empty = c.Value
	case c.op == query.OpEq && c.Value != "" && f.Mode != ModeRange:
		f.Selected = append(f.Selected, FacetValue{Value: c.Value, Count: -1, Active: true})
	default:
		return false
	}
	return true
}

// modeOf returns how a field is filtered, depending on its type and on the number of its values in the publish report.
func modeOf(d *herb.Dataset, i int) FilterMode {
	f := d.Fields[i]
	if query.HasRange(f.Type) {
		return ModeRange
	}
	c := ColumnReport(d, i)
	if f.Type != herb.TypeText || c == nil || c.Distinct <= 50 || c.Distinct <= manyValues && 2*c.Distinct <= d.Records {
		return ModeValues
	}
	return ModePrefix
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

// The number of values that a filter offers.
const (
	FilterValues     = 12
	MoreFilterValues = query.MaxTop
)

// Counts are the values of a filter with their counts, over the rows that all other filters leave, so that values that are not
// selected can be compared with those that are.
type Counts struct {
	Values []FacetValue
	First  int // values before them
	More   int // values after them
	Next   int // how many values to skip to show these; -1: they cannot be shown
}

// FacetValue is a value to select.
type FacetValue struct {
	Value  string
	Count  int // -1: unknown
	Share  int // of the most frequent value, in percent
	Active bool
}

// SetCounts sets the values to select. Selected ones that are not among them are added, so that they can be removed.
func (f *Filter) SetCounts(s *State, facet query.Facet) {
	f.Counts = &Counts{First: s.Offset, More: facet.Matching - s.Offset - len(facet.Values)}
	if s.More { // else the same values are requested with more of them
		f.Counts.Next = s.Offset + len(facet.Values)
	}
	if f.Counts.Next > query.MaxValueOffset {
		f.Counts.Next = -1
	}
	highest := 1
	for _, v := range facet.Values {
		highest = max(highest, v.Count)
	}
	isSelected := func(value string) bool {
		return slices.ContainsFunc(f.Selected, func(v FacetValue) bool { return v.Value == value })
	}
	for _, v := range facet.Values {
		f.Counts.Values = append(f.Counts.Values, FacetValue{
			Value: v.Value, Count: v.Count, Share: min(100*v.Count/highest, 100), Active: isSelected(v.Value),
		})
	}
	for _, v := range f.Selected {
		if !slices.ContainsFunc(f.Counts.Values, func(o FacetValue) bool { return o.Value == v.Value }) {
			f.Counts.Values = append(f.Counts.Values, v)
		}
	}
}
