package query

import (
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
)

// ParamAny names fields whose filters are alternatives. Each value is a group of them.
const ParamAny = "_any"

// parseAny parses the values of ParamAny for a request with some conditions.
func parseAny(values []string, fields []herb.Field, conditions []Condition) (groups [][]int, err error) {
	hasFilter := func(field int) bool {
		return slices.ContainsFunc(conditions, func(c Condition) bool { return c.Field == field })
	}
	var filtered []herb.Field
	for i, f := range fields {
		if hasFilter(i) {
			filtered = append(filtered, f)
		}
	}
	var used []int
	for _, value := range values {
		names := strings.Split(value, ",")
		if len(names) == 1 {
			return nil, herb.Invalidf("%s is %q; it joins the filters of two or more fields by or, such as "+
				"%s=category,tags; fields with a filter: %s", ParamAny, clip(value), ParamAny,
				joinNames(fieldNames(filtered, nil)))
		}
		var group []int
		for _, name := range names {
			i := herb.FieldIndex(fields, name)
			switch {
			case i < 0:
				_, err := resolveField(filtered, name, fieldUse{unknown: "field %q in " + strconv.Quote(ParamAny),
					choices: "fields with a filter"})
				return nil, err
			case !hasFilter(i):
				return nil, herb.Invalidf("%s names %q, which has no filter; add one, such as %s[eq]=value, or leave "+
					"the field out; fields with a filter: %s", ParamAny, name, name,
					joinNames(fieldNames(filtered, nil)))
			case slices.Contains(used, i):
				return nil, herb.Invalidf("field %q is given more than once in %q; give it once, in one group", name,
					ParamAny)
			}
			used, group = append(used, i), append(group, i)
		}
		slices.Sort(group)
		groups = append(groups, group)
	}
	return groups, nil
}

// Alternatives returns the conditions that every record must meet, and for each group of Any the
// conditions by field, of which all of one field must be met. A group with a field without
// conditions, which a facet ignores, restricts nothing and is left out.
func (r *Request) Alternatives() (all []Condition, groups [][][]Condition) {
	if r.Any == nil {
		return r.Conditions, nil
	}
	byField := map[int][]Condition{}
	for _, c := range r.Conditions {
		if slices.ContainsFunc(r.Any, func(group []int) bool { return slices.Contains(group, c.Field) }) {
			byField[c.Field] = append(byField[c.Field], c)
		} else {
			all = append(all, c)
		}
	}
	for _, fields := range r.Any {
		group := make([][]Condition, len(fields))
		for i, field := range fields {
			group[i] = byField[field]
		}
		if !slices.ContainsFunc(group, func(conditions []Condition) bool { return conditions == nil }) {
			groups = append(groups, group)
		}
	}
	return all, groups
}
