package view

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// Filter is the form that edits the conditions on one field. A page is sent without the counts of
// its values, which cost more than its rows: the script requests them when the form opens, and
// without a script a button does.
type Filter struct {
	Column
	Mode   FilterMode
	Path   string       // of the page
	Hidden query.Params // carried along by the form

	// The values to select: if they are not counted, those that are selected. The counts are over
	// the rows that all other filters leave, so that values that are not selected can be compared
	// with those that are.
	Values            []FacetValue
	Counted           bool
	First, More, Next int    // values before and after them; how many to skip to show the next ones, -1: they cannot be shown
	EqName            string // of the checkboxes of values

	FromName, From, ToName, To string // inputs of a range
	Prefix                     string // of texts
	ContainsName, Contains     string // input of a part of texts and elements; no name: there is none
	Excludes                   bool   // rows with the selected values are left out
	Empty                      string // "true": only empty values, "false": only others
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
	f := Filter{Column: NewColumn(s.dataset, field), Mode: modeOf(s.dataset, field), Path: s.Path, Find: s.Values, EqName: s.eqParam(field)}
	f.FromName, f.ToName = query.FilterParam(f.Name, query.OpGte), query.FilterParam(f.Name, query.OpLte)
	f.setContains(s.dataset)
	var kept query.Params // without an input
	conditions := s.conditions(field)
	has := func(op query.Op) bool {
		return slices.ContainsFunc(conditions, func(c condition) bool { return c.op == op && c.Value != "" })
	}
	f.Excludes = has(query.OpNe) && !has(query.OpEq)
	for _, c := range conditions {
		if !f.setInput(c) {
			kept = append(kept, c.Param)
		}
	}
	f.Hidden = s.withOwn(s.withoutFilters(field)).With(kept...)
	return f
}

// setContains sets the input for a part of a value. Long texts are searched for words instead: the
// listing searches a limited number of them for a part.
func (f *Filter) setContains(d *herb.Dataset) {
	const long = 256 // bytes; on average, values have less than half of that
	r := ColumnReport(d, f.Index)
	isShort := func() bool {
		sample := r.Min + r.Max // shows how many bytes characters have
		return r.Longest*len(sample) <= long*max(utf8.RuneCountInString(sample), 1)
	}
	switch {
	case f.Mode == ModeRange || f.Type.IsScalar():
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
func (f *Filter) setInput(c condition) bool {
	switch {
	case f.Mode == ModeRange && c.op.IsLower():
		f.FromName, f.From = c.Name, f.input(c.Value)
	case f.Mode == ModeRange && c.op.IsUpper():
		f.ToName, f.To = c.Name, f.input(c.Value)
	case c.op == query.OpPrefix && f.Type == herb.TypeText:
		f.Prefix = c.Value
	case c.Name == f.ContainsName && f.Contains == "":
		f.Contains = c.Value
	case c.op == query.OpEmpty:
		f.Empty = c.Value
	case c.op == f.valueOp() && c.Value != "" && f.Mode != ModeRange:
		f.Values = append(f.Values, FacetValue{Value: c.Value, Count: -1, Active: true})
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

// modeOf returns how a field is filtered, depending on its type and on the number of its values in
// the publish report.
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

// input returns an operand in the form that its input requires: browsers show dates and times only
// in ISO 8601 without a zone.
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

// FacetValue is a value to select.
type FacetValue struct {
	Value  string
	Count  int // -1: unknown
	Share  int // of the most frequent value, in percent
	Active bool
}

// SetCounts sets the values to select. Selected ones that are not among them are added, so that
// they can be removed.
func (f *Filter) SetCounts(s *State, facet query.Facet) {
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
		f.Values = append(f.Values, FacetValue{v.Value, v.Count, min(100*v.Count/highest, 100), active})
	}
	for _, v := range selected {
		if index(f.Values, v.Value) < 0 {
			f.Values = append(f.Values, v)
		}
	}
}

// Chip shows the conditions on one field in words, with the form that edits them and the link that
// removes them.
type Chip struct {
	Name, Heading string
	Conditions    []Condition
	Remove        string
	Invalid       bool
	Open          bool    // the form is open
	Form          *Filter // nil: only a link that removes the parameter
}

// Condition is a condition in words, such as "is any of" and "Paris, Mumbai".
type Condition struct {
	Relation, Value string
	Short           string // the relation as titles write it: a sign for ranges of numbers and dates
}

// NewChips returns the filters of a listing in the order of the URL, those to edit last, and the
// link that removes them all.
func NewChips(s *State, invalid []InvalidParam) (chips []Chip, clear string) {
	kept := s.AnyPage()
	messages := map[string]string{} // by parameter
	for _, p := range invalid {
		messages[p.Name] = p.Message
	}
	var seen []int
	for _, p := range s.Listing {
		i, _, isFilter := query.ResolveFilter(p.Name, s.fields)
		if isFilter || messages[p.Name] != "" {
			kept = kept.Without(p.Name)
		}
		switch {
		case isFilter && !s.fields[i].Filterable, !isFilter && messages[p.Name] != "":
			chips = append(chips, Chip{
				Name: p.Name, Heading: p.Name, Conditions: []Condition{{Relation: "=", Value: herb.Clip(p.Value, maxChipValue)}}, Invalid: true,
				Remove: s.Href(s.AnyPage().Without(p.Name)),
			})
		case isFilter && !slices.Contains(seen, i):
			seen = append(seen, i)
			c := s.newChip(i)
			for _, condition := range s.conditions(i) {
				c.Form.Message = cmp.Or(c.Form.Message, messages[condition.Name])
			}
			c.Invalid = c.Form.Message != ""
			chips = append(chips, c)
		}
	}
	for _, name := range s.Facets {
		i := herb.FieldIndex(s.fields, name)
		if s.fields[i].Filterable && !slices.Contains(seen, i) {
			seen = append(seen, i)
			chips = append(chips, s.newChip(i))
		}
	}
	return chips, s.Href(kept)
}

// The lengths of a chip in characters: that of its values, and of a single one.
const (
	maxChipText  = 60
	maxChipValue = 200
)

func (s *State) newChip(field int) Chip {
	form := NewFilter(s, field)
	return Chip{
		Name: form.Name, Heading: form.Heading, Conditions: describe(&form.Column, s.conditions(field)), Form: &form,
		Remove: s.Href(s.withoutFilters(field)), Open: slices.Contains(s.Facets, form.Name),
	}
}

// describe returns the conditions on a field in words, one per operator; both ends of a range are
// one.
func describe(c *Column, used []condition) (out []Condition) {
	values := map[query.Op][]string{}
	var ops []query.Op
	for _, u := range used {
		if !slices.Contains(ops, u.op) {
			ops = append(ops, u.op)
		}
		values[u.op] = append(values[u.op], formatOperand(c, u.Value))
	}
	if len(values[query.OpGte]) == 1 && len(values[query.OpLte]) == 1 {
		between := newCondition("between", values[query.OpGte][0]+" – "+values[query.OpLte][0])
		if query.HasRange(c.Type) {
			between.Short = ""
		}
		out = append(out, between)
		ops = slices.DeleteFunc(ops, func(op query.Op) bool { return op == query.OpGte || op == query.OpLte })
	}
	for _, op := range ops {
		out = append(out, describeOp(c, op, values[op]))
	}
	return out
}

func describeOp(f *Column, op query.Op, values []string) Condition {
	all := joinValues(values)
	isEmpty := all == "" || op == query.OpEmpty && all == "true"
	switch {
	case op == query.OpEq && isEmpty, op == query.OpEmpty && isEmpty:
		return newCondition("is empty", "")
	case op == query.OpNe && isEmpty, op == query.OpEmpty:
		return newCondition("is not empty", "")
	case op == query.OpEq && f.Type == herb.TypeList && len(values) == 1:
		return newCondition("has", all)
	case op == query.OpEq && f.Type == herb.TypeList:
		return newCondition("has any of", all)
	case op == query.OpEq && len(values) > 1:
		return newCondition("is any of", all)
	case op == query.OpNe && f.Type == herb.TypeList:
		return newCondition("has none of", all)
	case op == query.OpNe && len(values) > 1:
		return newCondition("is none of", all)
	}
	condition := newCondition(cmp.Or(relations[op], string(op)), all)
	if sign, ok := rangeSigns[op]; ok && query.HasRange(f.Type) {
		condition.Short = sign
	}
	return condition
}

func newCondition(relation, value string) Condition {
	return Condition{Relation: relation, Value: value, Short: relation}
}

// joinValues joins the first values, those that fit, and says how many more there are.
func joinValues(values []string) string {
	var b strings.Builder
	for i, value := range values {
		value = herb.Clip(value, maxChipValue)
		if i > 0 && utf8.RuneCountInString(b.String())+utf8.RuneCountInString(value) > maxChipText {
			return b.String() + " +" + herb.Count(len(values)-i)
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(value)
	}
	return b.String()
}

// formatOperand formats a value to compare with as the table shows it.
func formatOperand(c *Column, value string) string {
	switch c.Type {
	case herb.TypeNumber:
		return c.number(value)
	case herb.TypeDate, herb.TypeDateTime:
		return Time(&c.Field, value)
	}
	return value
}

// rangeSigns are the operators of ranges as signs, which are shorter than their words.
var rangeSigns = map[query.Op]string{query.OpGt: ">", query.OpGte: "≥", query.OpLt: "<", query.OpLte: "≤"}

// relations are the operators in words.
var relations = map[query.Op]string{
	query.OpEq: "is", query.OpNe: "is not", query.OpGt: "over", query.OpGte: "from", query.OpLt: "under", query.OpLte: "up to",
	query.OpPrefix: "begins with", query.OpContains: "contains", query.OpIn: "is one of", query.OpMatch: "matches",
}
