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
		res := r.evaluate(st, q.Request, nil)
		defer res.set.Release()
		m := column.NewMatches(st, &r.pool, res.set)
		f.Total = m.Len()
		for _, i := range q.Fields {
			st.Check()
			f.Fields = append(f.Fields, r.columns[i].Facet(m, q))
		}
		return nil
	})
	if err != nil {
		return query.Facets{}, err
	}
	return f, nil
}
