package segment

import (
	"context"
	"sort"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// Grid counts the records that match a request in the cells of a grid over two number fields.
func (r *Reader) Grid(ctx context.Context, q *query.GridRequest) (query.Grid, error) {
	return r.union().Grid(ctx, q)
}

// Grid counts the records that match a request in the cells of a grid, as Reader.Grid does.
func (u *Union) Grid(ctx context.Context, q *query.GridRequest) (g query.Grid, err error) {
	counts := make([]int, q.Columns*q.Rows)
	err = u.guard(func() error {
		st := guard.NewSteps(ctx)
		for _, r := range u.Segments {
			set, n := r.matches(st, q.Request)
			column.AddToGrid(st, set, &r.columns[q.X], &r.columns[q.Y], q, counts)
			g.Total += n
			set.Release()
		}
		rows := u.Tail.matching(st, q.Request)
		g.Total += len(rows)
		addRowsToGrid(rows, q, counts)
		return nil
	})
	if err != nil {
		return query.Grid{}, err
	}
	g.SetCells(q, counts)
	return g, nil
}

// addRowsToGrid adds rows in memory to counts.
func addRowsToGrid(rows []*tailRow, q *query.GridRequest, counts []int) {
	x, y := newGridAxis(q.EdgesX()), newGridAxis(q.EdgesY())
	for _, row := range rows {
		column, okX := x.cell(row.keys[q.X])
		line, okY := y.cell(row.keys[q.Y])
		if okX && okY {
			counts[line*q.Columns+column]++
		}
	}
}

// gridAxis is the sort keys of the edges of one axis of a grid.
type gridAxis []string

func newGridAxis(edges []string) gridAxis {
	keys := make(gridAxis, len(edges))
	for i, edge := range edges {
		keys[i], _ = text.Key(herb.TypeNumber, edge)
	}
	return keys
}

// cell returns the cell of a value. ok is false if it is outside of all cells.
func (a gridAxis) cell(k column.SortKey) (cell int, ok bool) {
	last := len(a) - 1
	if k.Missing > 0 || k.Key < a[0] || k.Key > a[last] {
		return 0, false
	}
	if k.Key == a[last] { // the last cell includes its edge
		return last - 1, true
	}
	return sort.Search(len(a), func(i int) bool { return a[i] > k.Key }) - 1, true
}
