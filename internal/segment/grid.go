package segment

import (
	"context"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
)

// Grid counts the records that match a request in the cells of a grid over two number fields, or
// over their positions.
func (u *Union) Grid(ctx context.Context, q *query.GridRequest) (g query.Grid, err error) {
	var counts []int
	err = u.evaluate(ctx, q.Request, forCounting, nil, func(m *matches) error {
		g.Total, counts = m.total, make([]int, q.Columns*q.Rows)
		if q.OfPositions() {
			at, err := query.FindCoordinates(u.coordinates(), q.Request.Area.Coordinates)
			if err == nil {
				s := m.segments[0]
				s.r.places[at].AddToGrid(m.steps, s.selection(), q, counts)
			}
			return err
		}
		for _, s := range m.segments {
			column.AddToGrid(m.steps, s.selection(), &s.r.columns[q.X], &s.r.columns[q.Y], q, counts)
		}
		return nil
	})
	if err != nil {
		return query.Grid{}, err
	}
	g.SetCells(q, counts)
	return g, nil
}
