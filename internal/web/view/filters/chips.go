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
	// how the chip is joined with the one before, and the link that changes it; nil: the chips are
	// not filters of fields
	Join *Join
}

// Join is how the filters of two fields are joined.
type Join struct {
	Or   bool
	Href string
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
	return joinChips(s, chips), s.Href(kept)
}

// joinChips returns the chips with the fields of a group one after the other, and how each is
// joined with the one before.
func joinChips(s *state.State, chips []Chip) []Chip {
	first := map[int]int{} // by the first field of a group, the position of its first chip
	position := func(k int) int {
		if chips[k].Form == nil {
			return k
		}
		group := s.GroupOf(chips[k].Form.Index)
		if group == nil {
			return k
		}
		at, ok := first[group[0]]
		if !ok {
			at, first[group[0]] = k, k
		}
		return at
	}
	positions, order := make([]int, len(chips)), make([]int, len(chips))
	for k := range chips {
		positions[k], order[k] = position(k), k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(positions[a], positions[b]) })
	joined := make([]Chip, len(chips))
	for k, at := range order {
		joined[k] = chips[at]
		if k > 0 && isJoinable(s, &joined[k-1]) && isJoinable(s, &joined[k]) {
			before, field := joined[k-1].Form.Index, joined[k].Form.Index
			joined[k].Join = &Join{slices.Contains(s.GroupOf(before), field), s.Href(s.ToggleOr(before, field))}
		}
	}
	return joined
}

// isJoinable reports whether a chip shows filters of a field that can be joined by or.
func isJoinable(s *state.State, c *Chip) bool {
	return c.Form != nil && !c.Invalid && len(c.Conditions) > 0 && s.CanJoin(c.Form.Index)
}

func newChip(s *state.State, field int) Chip {
	form := NewFilter(s, field)
	return Chip{
		Name: form.Name, Heading: form.Heading, Conditions: state.DescribeConditions(&form.Column, s.Conditions(field)),
		Form:   &form,
		Remove: s.Href(s.WithoutFilters(field)), Open: slices.Contains(s.Facets, form.Name),
	}
}
