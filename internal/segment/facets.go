package segment

import (
	"context"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
)

// Facets counts the values of fields among the records that match a request. It needs memory for the result and, from a
// pool, two bits per record of the segment.
func (r *Reader) Facets(ctx context.Context, q *query.FacetRequest) (f query.Facets, err error) {
	err = r.file.Guard(func() error {
		st := guard.NewSteps(ctx)
		match := func(q *query.Request) (*column.Matches, func()) {
			set := r.evaluate(st, q, nil).set
			return column.NewMatches(st, &r.pool, set), set.Release
		}
		m, release := match(q.Request)
		defer release()
		f.Total = m.Len()
		for _, i := range q.Fields {
			st.Check()
			own, release := m, func() {}
			if request := q.Without(i); request != q.Request {
				own, release = match(request)
			}
			f.Fields = append(f.Fields, r.columns[i].Facet(own, q))
			release()
		}
		return nil
	})
	if err != nil {
		return query.Facets{}, err
	}
	return f, nil
}
