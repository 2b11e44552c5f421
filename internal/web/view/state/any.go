package state

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// groups returns the positions of the fields of each group whose filters are joined by or. Unknown
// fields are left out.
func (s *State) groups() (groups [][]int) {
	for _, p := range s.Listing {
		if p.Name != query.ParamAny {
			continue
		}
		var group []int
		for name := range strings.SplitSeq(p.Value, ",") {
			if i := herb.FieldIndex(s.Fields, name); i >= 0 {
				group = append(group, i)
			}
		}
		groups = append(groups, group)
	}
	return groups
}

// GroupOf returns the fields whose filters are joined by or with those of a field, itself included;
// nil if there are none.
func (s *State) GroupOf(field int) []int {
	for _, group := range s.groups() {
		if slices.Contains(group, field) {
			return group
		}
	}
	return nil
}

// CanJoin reports whether the filters of a field can be joined by or: groups are lists of names,
// separated by commas.
func (s *State) CanJoin(field int) bool { return !strings.Contains(s.Fields[field].Name, ",") }

// ToggleOr returns the parameters in which the filters of two fields are joined by or if they are
// joined by and, or the reverse: then the second leaves the group of the first.
func (s *State) ToggleOr(first, second int) query.Params {
	joined := s.GroupOf(first)
	if slices.Contains(joined, second) {
		joined = slices.DeleteFunc(joined, func(i int) bool { return i == second })
	} else {
		joined = slices.Concat(joined, s.GroupOf(second))
		for _, i := range []int{first, second} {
			if !slices.Contains(joined, i) {
				joined = append(joined, i)
			}
		}
	}
	groups := [][]int{joined}
	for _, group := range s.groups() {
		if !slices.Contains(group, first) && !slices.Contains(group, second) {
			groups = append(groups, group)
		}
	}
	ps := s.AnyPage().Without(query.ParamAny)
	for _, group := range groups {
		names := make([]string, len(group))
		for k, i := range group {
			names[k] = s.Fields[i].Name
		}
		ps = ps.WithValue(query.ParamAny, strings.Join(names, ","))
	}
	return s.pruneGroups(ps)
}

// pruneGroups returns parameters without the fields of groups that are not filtered any more, and
// without groups of one field. Unknown fields stay, so that the page says what is wrong.
func (s *State) pruneGroups(ps query.Params) query.Params {
	if ps.Get(query.ParamAny) == "" {
		return ps
	}
	isFiltered := func(field int) bool {
		return slices.ContainsFunc(ps, func(p query.Param) bool {
			i, _, ok := query.ResolveFilter(p.Name, s.Fields)
			return ok && i == field
		})
	}
	var pruned query.Params
	for _, p := range ps {
		if p.Name == query.ParamAny {
			known := true
			names := slices.DeleteFunc(strings.Split(p.Value, ","), func(name string) bool {
				i := herb.FieldIndex(s.Fields, name)
				known = known && i >= 0
				return i >= 0 && !isFiltered(i)
			})
			if known && len(names) < 2 {
				continue
			}
			p.Value = strings.Join(names, ",")
		}
		pruned = append(pruned, p)
	}
	return pruned
}
