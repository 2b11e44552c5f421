package positions

import (
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
)

// each calls f with the positions of the records of a set, in degrees. A nil set means all records.
func (x *Index) each(st *guard.Steps, set *bitmap.Set, f func(longitude, latitude float64)) {
	use := func(record uint32) {
		if p := x.Point(record); p.IsPosition() {
			f(p.Degrees())
		}
	}
	if set == nil {
		st.Blocks(0, x.points.Len()/2, func(from, to int) {
			for record := from; record < to; record++ {
				use(uint32(record))
			}
		})
		return
	}
	set.Each(st, func(records []uint32) {
		for _, record := range records {
			use(record)
		}
	})
}

// AddToGrid counts the records of a set in each cell of a grid over their positions. It adds to
// counts, which is ordered by row, then by column. Longitudes before the grid are also looked for a
// turn to the east. A nil set means all records.
func (x *Index) AddToGrid(st *guard.Steps, set *bitmap.Set, q *query.GridRequest, counts []int) {
	const turn = 360
	x.each(st, set, func(longitude, latitude float64) {
		column, row, ok := q.CellOf(longitude, latitude)
		if !ok && longitude < q.Bounds.MinX {
			column, row, ok = q.CellOf(longitude+turn, latitude)
		}
		if ok {
			counts[row*q.Columns+column]++
		}
	})
}
