package view

import (
	"cmp"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Chip shows the conditions on one field in words, with the form that edits them and the link that removes them.
type Chip struct {
	Name, Heading string
	Conditions    []Condition
	Remove        string
	Invalid       bool
	Open          bool    // the form is open
	Form          *Filter // nil: only a link that removes the parameter
}

// Condition is a condition in words, such as "is any of" and "Paris, Mumbai".
type Condition struct{ Relation, Value string }

// NewChips returns the filters of a listing in the order of the URL, those to edit last, and the link that removes them all.
// invalid are the names of parameters that the API rejects, and message says why.
func NewChips(s *State, invalid []string, message string) (chips []Chip, clear string) {
	used := s.conditions()
	kept := s.Listing.Without(query.ParamPage)
	var seen []int
	for _, p := range s.Listing {
		i, _, isFilter := query.ResolveFilter(p.Name, s.fields)
		switch {
		case isFilter && !s.fields[i].Filterable, !isFilter && slices.Contains(invalid, p.Name):
			chips = append(chips, Chip{
				Name: p.Name, Heading: p.Name, Conditions: []Condition{{"=", herb.Clip(p.Value, maxChipText)}}, Invalid: true,
				Remove: s.Href(s.AnyPage().Without(p.Name)),
			})
			kept = kept.Without(p.Name)
		case isFilter && !slices.Contains(seen, i):
			seen = append(seen, i)
			c := s.newChip(i, used[i])
			if c.Invalid = slices.ContainsFunc(used[i], func(c condition) bool { return slices.Contains(invalid, c.Name) }); c.Invalid {
				c.Form.Message = message
			}
			chips = append(chips, c)
		}
		if isFilter {
			kept = kept.Without(p.Name)
		}
	}
	for _, name := range s.Facets {
		i := herb.FieldIndex(s.fields, name)
		if s.fields[i].Filterable && !slices.Contains(seen, i) {
			seen = append(seen, i)
			chips = append(chips, s.newChip(i, nil))
		}
	}
	return chips, s.Href(kept)
}

// maxChipText is how many characters of the values a chip shows.
const maxChipText = 60

func (s *State) newChip(field int, used []condition) Chip {
	form := NewFilter(s, field)
	return Chip{
		Name: form.Name, Heading: form.Heading, Conditions: describe(&form.Field, used), Form: &form,
		Remove: s.Href(s.WithoutFilter(field)), Open: slices.Contains(s.Facets, form.Name),
	}
}

// describe returns the conditions on a field in words, one per operator; both ends of a range are one.
func describe(f *herb.Field, used []condition) (out []Condition) {
	values := map[query.Op][]string{}
	var ops []query.Op
	for _, c := range used {
		if !slices.Contains(ops, c.op) {
			ops = append(ops, c.op)
		}
		values[c.op] = append(values[c.op], formatOperand(f, c.Value))
	}
	if len(values[query.OpGte]) == 1 && len(values[query.OpLte]) == 1 {
		out = append(out, Condition{"between", values[query.OpGte][0] + " – " + values[query.OpLte][0]})
		ops = slices.DeleteFunc(ops, func(op query.Op) bool { return op == query.OpGte || op == query.OpLte })
	}
	for _, op := range ops {
		out = append(out, describeOp(f, op, values[op]))
	}
	return out
}

func describeOp(f *herb.Field, op query.Op, values []string) Condition {
	all := herb.Clip(strings.Join(values, ", "), maxChipText)
	isEmpty := all == "" || op == query.OpEmpty && all == "true"
	switch {
	case op == query.OpEq && isEmpty, op == query.OpEmpty && isEmpty:
		return Condition{Relation: "is empty"}
	case op == query.OpNe && isEmpty, op == query.OpEmpty:
		return Condition{Relation: "is not empty"}
	case op == query.OpEq && f.Type == herb.TypeList && len(values) == 1:
		return Condition{"has", all}
	case op == query.OpEq && f.Type == herb.TypeList:
		return Condition{"has any of", all}
	case op == query.OpEq && len(values) > 1:
		return Condition{"is any of", all}
	}
	return Condition{cmp.Or(relations[op], string(op)), all}
}

// formatOperand formats a value to compare with as the table shows it.
func formatOperand(f *herb.Field, value string) string {
	switch f.Type {
	case herb.TypeNumber:
		return GroupNumber(value)
	case herb.TypeDate, herb.TypeDateTime:
		return Time(f, value)
	}
	return value
}

// relations are the operators in words.
var relations = map[query.Op]string{
	query.OpEq: "is", query.OpNe: "is not", query.OpGt: "over", query.OpGte: "from", query.OpLt: "under", query.OpLte: "up to",
	query.OpPrefix: "begins with", query.OpIn: "is one of", query.OpMatch: "matches",
}
