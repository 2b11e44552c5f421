package column

import (
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// AddToGrid counts the records of a set in each cell of a grid over two fields. It adds to counts,
// which is ordered by row, then by column. Cells are ranges of ranks in both fields, so no value of
// a record is read. A nil set means all records.
func AddToGrid(st *guard.Steps, set *bitmap.Set, x, y *Column, q *query.GridRequest, counts []int) {
	columns, rows := x.axis(st, q.EdgesX()), y.axis(st, q.EdgesY())
	count := func(rec int) {
		column, row := columns.cell(rec), rows.cell(rec)
		if column >= 0 && column < q.Columns && row >= 0 && row < q.Rows {
			counts[row*q.Columns+column]++
		}
	}
	if set == nil {
		st.Blocks(0, x.sorted.Len(), func(from, to int) {
			for rec := from; rec < to; rec++ {
				count(rec)
			}
		})
		return
	}
	set.Each(st, func(records []uint32) {
		for _, rec := range records {
			count(int(rec))
		}
	})
}

// axis divides the sorted rows of a field into the cells of a grid.
type axis struct {
	ranks  file.U32s
	starts []int // first rank of each cell, and the one after the last cell
	first  []int // cell of the first rank of each block of ranks, and after all
}

// ranksPerBlock is the number of ranks whose cell is searched for from the same one.
const ranksPerBlock = 64

func (c *Column) axis(st *guard.Steps, edges []string) axis {
	st.Reserve(8 * (c.sorted.Len() / ranksPerBlock))
	a := axis{ranks: c.ranks, starts: make([]int, len(edges)), first: make([]int, c.sorted.Len()/ranksPerBlock+2)}
	for i, key := range edgeKeys(edges) {
		st.Add(LookupSteps)
		a.starts[i] = int(c.runs.At(c.firstRun(key)))
	}
	cell := -1
	for block := range a.first {
		st.Add(1)
		for cell+1 < len(a.starts) && a.starts[cell+1] <= block*ranksPerBlock {
			cell++
		}
		a.first[block] = cell
	}
	return a
}

// edgeKeys returns the least sort keys of the cells between some edges, and of the values after the
// last cell, which includes its edge.
func edgeKeys(edges []string) []string {
	keys := make([]string, len(edges))
	for i, edge := range edges {
		keys[i], _ = text.Key(herb.TypeNumber, edge)
	}
	keys[len(keys)-1] += "\x00"
	return keys
}

// cell returns the cell of a record: -1 if it is before the first, and the number of cells if it is
// after the last.
func (a *axis) cell(rec int) int {
	rank := int(a.ranks.At(rec))
	block := rank / ranksPerBlock
	cell, last := a.first[block], a.first[block+1]
	for cell < last && a.starts[cell+1] <= rank {
		cell++
	}
	return cell
}
