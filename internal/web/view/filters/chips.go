package filters

import (
	"cmp"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/state"
)

// Chip shows the conditions on one field in words, with the form that edits them and the link that
// removes them.
type Chip struct {
	Name, Heading string
	Conditions    []state.Condition
	Remove        string
	Invalid       bool
	Open          bool    // the form is open
	Form          *Filter // nil: only a link that removes the parameter
}

// NewChips returns the filters of a listing in the order of the URL, those to edit last, and the
// link that removes them all.
func NewChips(s *state.State, invalid []state.InvalidParam) (chips []Chip, clear string) {
	kept := s.WithoutArea()
	messages := map[string]string{} // by parameter
	for _, p := range invalid {
		messages[p.Name] = p.Message
	}
	var seen []int
	for _, p := range s.Listing {
		i, _, isFilter := query.ResolveFilter(p.Name, s.Fields)
		if isFilter || messages[p.Name] != "" {
			kept = kept.Without(p.Name)
		}
		switch {
		case isFilter && !s.Fields[i].Filterable, !isFilter && messages[p.Name] != "":
			chips = append(chips, Chip{
				Name: p.Name, Heading: p.Name,
				Conditions: []state.Condition{{Relation: "=", Value: herb.Clip(p.Value, state.MaxChipValue)}},
				Invalid:    true,
				Remove:     s.Href(s.AnyPage().Without(p.Name)),
			})
		case p.Name == query.ParamBox || p.Name == query.ParamNear:
			if heading, condition, ok := state.DescribeArea(p); ok {
				chips = append(chips, Chip{Name: p.Name, Heading: heading, Conditions: []state.Condition{condition},
					Remove: s.Href(s.WithoutArea(p.Name))})
			}
		case isFilter && !slices.Contains(seen, i):
			seen = append(seen, i)
			c := newChip(s, i)
			for _, condition := range s.Conditions(i) {
				c.Form.Message = cmp.Or(c.Form.Message, messages[condition.Name])
			}
			c.Invalid = c.Form.Message != ""
			chips = append(chips, c)
		}
	}
	for _, name := range s.Facets {
		i := herb.FieldIndex(s.Fields, name)
		if s.Fields[i].Filterable && !slices.Contains(seen, i) {
			seen = append(seen, i)
			chips = append(chips, newChip(s, i))
		}
	}
	return chips, s.Href(kept)
}

func newChip(s *state.State, field int) Chip {
	form := NewFilter(s, field)
	return Chip{
		Name: form.Name, Heading: form.Heading, Conditions: state.DescribeConditions(&form.Column, s.Conditions(field)),
		Form:   &form,
		Remove: s.Href(s.WithoutFilters(field)), Open: slices.Contains(s.Facets, form.Name),
	}
}
