package segment

import (
	"context"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
)

// Grid counts the records that match a request in the cells of a grid over two number fields, or
// over their positions.
func (r *Reader) Grid(ctx context.Context, q *query.GridRequest) (g query.Grid, err error) {
	var counts []int
	err = r.evaluate(ctx, q.Request, forCounting, nil, func(m *matches) error {
		g.Total, counts = m.len(), make([]int, q.Columns*q.Rows)
		if q.OfPositions() {
			at, err := query.FindCoordinates(r.Coordinates(), q.Request.Area.Coordinates)
			if err == nil {
				r.places[at].AddToGrid(m.steps, m.selection(), q, counts)
			}
			return err
		}
		column.AddToGrid(m.steps, m.selection(), &r.columns[q.X], &r.columns[q.Y], q, counts)
		return nil
	})
	if err != nil {
		return query.Grid{}, err
	}
	g.SetCells(q, counts)
	return g, nil
}
