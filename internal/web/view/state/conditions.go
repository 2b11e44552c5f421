package state

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
)

// Condition is a condition in words, such as "is any of" and "Paris, Mumbai".
type Condition struct {
	Relation, Value string
	Short           string // the relation as titles write it: a sign for ranges of numbers and dates
}

// The lengths of a chip in characters: that of its values, and of a single one.
const (
	MaxChipText  = 60
	MaxChipValue = 200
)

// DescribeConditions returns the conditions on a field in words, one per operator; both ends of a
// range are one.
func DescribeConditions(c *columns.Column, used []FieldFilter) (out []Condition) {
	values := map[query.Op][]string{}
	var ops []query.Op
	for _, u := range used {
		if !slices.Contains(ops, u.Op) {
			ops = append(ops, u.Op)
		}
		shown := columns.FormatOperand(c, u.Value)
		if u.Op == query.OpEq || u.Op == query.OpNe {
			shown = cmp.Or(c.Label(u.Value), shown)
		}
		values[u.Op] = append(values[u.Op], shown)
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

// DescribeArea returns the condition of a parameter that selects rows by where they are, with its
// heading; ok is false if it is another parameter, or invalid.
func DescribeArea(p query.Param) (heading string, c Condition, ok bool) {
	numbers := strings.Split(p.Value, ",")
	switch {
	case p.Name == query.ParamBox && len(numbers) == 4:
		return "Area", newCondition("is", "longitudes "+numbers[0]+" – "+numbers[2]+", latitudes "+numbers[1]+" – "+
			numbers[3]), true
	case p.Name == query.ParamNear && len(numbers) == 3:
		return "Area", newCondition("is within", formatMeters(numbers[2])+" of "+numbers[0]+", "+numbers[1]), true
	}
	return "", c, false
}

// formatMeters formats a distance: a thousand meters are kilometers.
func formatMeters(text string) string {
	const kilometer = 1000
	if meters, err := strconv.ParseFloat(text, 64); err == nil && meters >= kilometer {
		return strconv.FormatFloat(meters/kilometer, 'f', -1, 64) + " km"
	}
	return text + " m"
}

func describeOp(f *columns.Column, op query.Op, values []string) Condition {
	all := joinValues(values)
	isEmpty := all == "" || op == query.OpEmpty && all == "true"
	switch {
	case op == query.OpEq && isEmpty, op == query.OpIEq && isEmpty, op == query.OpEmpty && isEmpty:
		return newCondition("is empty", "")
	case op.Excludes() && isEmpty, op == query.OpEmpty:
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
		value = herb.Clip(value, MaxChipValue)
		if i > 0 && utf8.RuneCountInString(b.String())+utf8.RuneCountInString(value) > MaxChipText {
			return b.String() + " +" + herb.Count(len(values)-i)
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(value)
	}
	return b.String()
}

// rangeSigns are the operators of ranges as signs, which are shorter than their words.
var rangeSigns = map[query.Op]string{query.OpGt: ">", query.OpGte: "≥", query.OpLt: "<", query.OpLte: "≤"}

// relations are the operators in words.
var relations = map[query.Op]string{
	query.OpEq: "is", query.OpNe: "is not", query.OpGt: "over", query.OpGte: "from", query.OpLt: "under",
	query.OpLte: "up to",
	query.OpIEq: "is in any case", query.OpINe: "is not in any case",
	query.OpPrefix: "begins with", query.OpContains: "contains", query.OpIn: "is one of", query.OpMatch: "matches",
}

type FieldFilter struct {
	query.Param
	Op query.Op
}

// Conditions returns the parameters that filter a field.
func (s *State) Conditions(field int) (used []FieldFilter) {
	for _, p := range s.Listing {
		if i, op, ok := query.ResolveFilter(p.Name, s.Fields); ok && i == field {
			used = append(used, FieldFilter{p, op})
		}
	}
	return used
}
