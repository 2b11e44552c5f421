package segment

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
)

// Facets counts the values of fields among the records that match a request. The values of the largest segment are counted
// in place; those of the others and of the tail are collected and looked up in it, so they need memory.
func (u *Union) Facets(ctx context.Context, q *query.FacetRequest) (f query.Facets, err error) {
	err = u.guard(func() error {
		st := guard.NewSteps(ctx)
		tail := u.Tail.matching(st, q.Request)
		f.Total = len(tail)
		all := make([]*column.Matches, len(u.Segments))
		base := -1
		for i, r := range u.Segments {
			set := r.evaluate(st, q.Request, nil).set
			defer set.Release()
			all[i] = column.NewMatches(st, &r.pool, set)
			f.Total += all[i].Len()
			if base < 0 || r.Len() > u.Segments[base].Len() {
				base = i
			}
		}
		for _, i := range q.Fields {
			st.Check()
			field, others := &u.Tail.fields[i], column.Values{}
			for k, r := range u.Segments {
				if k != base {
					others.Add(field, r.columns[i].MatchingValues(all[k]))
				}
			}
			others.Add(field, tailValues(i, tail))
			switch {
			case base < 0 || all[base].Len() == 0:
				f.Fields = append(f.Fields, column.FacetOf(field, others, q))
			case len(others.All)+others.Empty == 0:
				f.Fields = append(f.Fields, u.Segments[base].columns[i].Facet(all[base], q))
			default:
				f.Fields = append(f.Fields, u.Segments[base].columns[i].FacetWith(all[base], others, q))
			}
		}
		return nil
	})
	if err != nil {
		return query.Facets{}, err
	}
	return f, nil
}

// tailValues returns the values of a field.
func tailValues(field int, rows []*tailRow) (values column.Values) {
	for _, row := range rows {
		if row.keys[field].Missing > 0 {
			values.Empty++
		} else {
			values.All = append(values.All, column.Value{Key: row.keys[field].Key, Text: row.record[field], Count: 1})
		}
	}
	slices.SortStableFunc(values.All, func(a, b column.Value) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Text, b.Text))
	})
	return values
}
