package filters

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

// Filter is the form that edits the conditions on one field. A page is sent without the counts of
// its values, which cost more than its rows: the script requests them when the form opens, and
// without a script a button does.
type Filter struct {
	columns.Column
	Mode   columns.FilterMode
	Path   string       // of the page
	Hidden query.Params // carried along by the form

	// The values to select: if they are not counted, those that are selected. The counts are over
	// the rows that all other filters leave, so that values that are not selected can be compared
	// with those that are.
	Values  []FacetValue
	Counted bool
	// values before and after them; how many to skip to show the next ones, -1: they cannot be
	// shown
	First, More, Next int
	EqName            string // of the checkboxes of values

	FromName, From, ToName, To string       // inputs of a range
	Least, Greatest            string       // values of the column; empty: unknown
	Presets                    []state.Link // ranges of dates
	Prefix                     string       // of texts
	ContainsName, Contains     string       // input of a part of texts and elements; no name: there is none
	Excludes                   bool         // rows with the selected values are left out
	Empty                      string       // "true": only empty values, "false": only others
	Find                       string       // text that the values contain
	Message                    string       // why a condition is invalid; empty: all are valid
}

// NewFilter returns the form for a field.
func NewFilter(s *state.State, field int) Filter {
	f := Filter{Column: columns.NewColumn(s.Dataset, field), Mode: s.Dataset.Meanings[field].Mode, Path: s.Path,
		Find: s.Values, EqName: s.EqParam(field)}
	f.FromName, f.ToName = query.FilterParam(f.Name, query.OpGte), query.FilterParam(f.Name, query.OpLte)
	f.setContains(s.Dataset)
	var kept query.Params // without an input
	conditions := s.Conditions(field)
	has := func(op query.Op) bool {
		return slices.ContainsFunc(conditions, func(c state.FieldFilter) bool { return c.Op == op && c.Value != "" })
	}
	f.Excludes = has(query.OpNe) && !has(query.OpEq)
	for _, c := range conditions {
		if !f.setInput(c) {
			kept = append(kept, c.Param)
		}
	}
	f.Hidden = s.WithOwn(s.WithoutFilters(field)).With(kept...)
	if r := s.Dataset.Meanings[field].Report; r != nil && f.Mode == columns.ModeRange {
		f.Least, f.Greatest = columns.FormatOperand(&f.Column, r.Min), columns.FormatOperand(&f.Column, r.Max)
		f.Presets = newPresets(s, field, r.Max, time.Now())
	}
	return f
}

// setContains sets the input for a part of a value. Long texts are searched for words instead: the
// listing searches a limited number of them for a part.
func (f *Filter) setContains(d *columns.Dataset) {
	const long = 256 // bytes; on average, values have less than half of that
	r := d.Meanings[f.Index].Report
	isShort := func() bool {
		sample := r.Min + r.Max // shows how many bytes characters have
		return r.Longest*len(sample) <= long*max(utf8.RuneCountInString(sample), 1)
	}
	switch {
	case f.Mode == columns.ModeRange || f.Type.IsScalar():
	case r == nil || f.Type == herb.TypeList || r.Distinct <= query.MaxLongValues || isShort():
		f.ContainsName = query.FilterParam(f.Name, query.OpContains)
	case f.Searchable:
		f.ContainsName = query.FilterParam(f.Name, query.OpMatch)
	}
}

// ByWords reports whether the input finds words rather than any part of a value.
func (f Filter) ByWords() bool {
	return strings.HasSuffix(f.ContainsName, "["+string(query.OpMatch)+"]")
}

// setInput shows a condition in its input. It returns false if there is none.
func (f *Filter) setInput(c state.FieldFilter) bool {
	switch {
	case f.Mode == columns.ModeRange && c.Op.IsLower():
		f.FromName, f.From = c.Name, f.input(c.Value)
	case f.Mode == columns.ModeRange && c.Op.IsUpper():
		f.ToName, f.To = c.Name, f.input(c.Value)
	case c.Op == query.OpPrefix && f.Type == herb.TypeText:
		f.Prefix = c.Value
	case c.Name == f.ContainsName && f.Contains == "":
		f.Contains = c.Value
	case c.Op == query.OpEmpty:
		f.Empty = c.Value
	case c.Op == f.valueOp() && c.Value != "" && f.Mode != columns.ModeRange:
		f.Values = append(f.Values, FacetValue{Value: c.Value, Label: f.Label(c.Value), Count: -1, Active: true})
	default:
		return false
	}
	return true
}

// valueOp returns the operator of the selected values.
func (f *Filter) valueOp() query.Op {
	if f.Excludes {
		return query.OpNe
	}
	return query.OpEq
}

// input returns an operand in the form that its input requires: browsers show dates and times only
// in ISO 8601 without a zone.
func (f *Filter) input(operand string) string {
	canonical, status := text.Operand(&f.Field, operand)
	if status != text.Valid || f.InputType() == "text" {
		return operand
	}
	local, _ := strings.CutSuffix(canonical, ".000000000Z")
	return strings.TrimSuffix(local, "Z")
}

// InputType returns the type of the inputs of a range. One of dates cannot show an operand that
// moves with time.
func (f Filter) InputType() string {
	if query.IsMoving(f.From) || query.IsMoving(f.To) {
		return "text"
	}
	switch f.Type {
	case herb.TypeDate:
		if text.PrecisionOf(&f.Field) != text.PrecisionDay { // browsers differ in inputs of months and weeks
			return "text"
		}
		return "date"
	case herb.TypeDateTime:
		return "datetime-local"
	case herb.TypeTime:
		return "time"
	}
	return "text"
}

// The number of values that a filter offers.
const (
	FilterValues     = 12
	MoreFilterValues = query.MaxTop
)

// FacetValue is a value to select.
type FacetValue struct {
	Value  string
	Label  string // category label; empty: the value has none
	Count  int    // -1: unknown
	Share  int    // of the most frequent value, in percent
	Active bool
}

// SetCounts sets the values to select. Selected ones that are not among them are added, so that
// they can be removed.
func (f *Filter) SetCounts(s *state.State, facet query.Facet) {
	selected := f.Values
	f.Values, f.Counted, f.First, f.More = nil, true, s.Offset, facet.Matching-s.Offset-len(facet.Values)
	if s.More { // else the same values are requested with more of them
		f.Next = s.Offset + len(facet.Values)
	}
	if f.Next > query.MaxValueOffset {
		f.Next = -1
	}
	highest := 1
	for _, v := range facet.Values {
		highest = max(highest, v.Count)
	}
	index := func(values []FacetValue, value string) int {
		return slices.IndexFunc(values, func(v FacetValue) bool { return v.Value == value })
	}
	for _, v := range facet.Values {
		if v.Clipped {
			continue // its start is not a filter for it
		}
		active := index(selected, v.Value) >= 0
		f.Values = append(f.Values,
			FacetValue{v.Value, f.Label(v.Value), v.Count, min(100*v.Count/highest, 100), active})
	}
	for _, v := range selected {
		if index(f.Values, v.Value) < 0 {
			f.Values = append(f.Values, v)
		}
	}
	if f.Ordered && f.First == 0 && f.More <= 0 {
		slices.SortStableFunc(f.Values, func(a, b FacetValue) int { return f.Compare(a.Value, b.Value) })
	}
}
