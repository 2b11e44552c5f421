package segment

import (
	"context"
	"sort"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
)

// Grid counts the records that match a request in the cells of a grid over two number fields.
func (r *Reader) Grid(ctx context.Context, q *query.GridRequest) (query.Grid, error) {
	return r.union().Grid(ctx, q)
}

// Grid counts the records that match a request in the cells of a grid, as Reader.Grid does.
func (u *Union) Grid(ctx context.Context, q *query.GridRequest) (g query.Grid, err error) {
	var counts []int
	err = runQuery(ctx, u.guard, u.Segments, q.Request, func(st *guard.Steps) error {
		u.announceCounting(st)
		counts = make([]int, q.Columns*q.Rows)
		for _, r := range u.Segments {
			set, n := r.matches(st, q.Request)
			column.AddToGrid(st, set, &r.columns[q.X], &r.columns[q.Y], q, counts)
			g.Total += n
			set.Release()
		}
		rows := u.Tail.matching(st, q.Request)
		g.Total += len(rows)
		addRowsToGrid(st, rows, q, counts)
		return nil
	})
	if err != nil {
		return query.Grid{}, err
	}
	g.SetCells(q, counts)
	return g, nil
}

// announceCounting announces that a query counts the records or values of the dataset, so that one
// that cannot run now is rejected before it has worked. Many such queries are short, so it does not
// announce all records.
func (u *Union) announceCounting(st *guard.Steps) {
	const most = 1 << 16
	st.Announce(min(u.Len(), most))
}

// addRowsToGrid adds rows in memory to counts.
func addRowsToGrid(st *guard.Steps, rows []*tailRow, q *query.GridRequest, counts []int) {
	x, y := column.EdgeKeys(q.EdgesX()), column.EdgeKeys(q.EdgesY())
	cell := func(edges []string, k column.SortKey) int {
		if k.Missing > 0 {
			return -1
		}
		return sort.Search(len(edges), func(i int) bool { return edges[i] > k.Key }) - 1
	}
	for _, row := range rows {
		st.Add(1)
		column, line := cell(x, row.keys[q.X]), cell(y, row.keys[q.Y])
		if column >= 0 && column < q.Columns && line >= 0 && line < q.Rows {
			counts[line*q.Columns+column]++
		}
	}
}
