package aggregate

import (
	"cmp"
	"slices"

	"herbarium/internal/query"
)

// intervalSteps is how much work it is to compute an interval, without its label.
const intervalSteps = 16

// maxFilledBytes limits the labels of empty intervals, which have up to a thousand digits.
const maxFilledBytes = 32 << 20

// fillCycle adds the empty groups of a cycle that are selected.
func (a *aggregation) fillCycle(all []group, c query.Cycle) (filled []group) {
	for position := range c.Len {
		if len(all) > 0 && int(a.table.group(all[0].id, 0)) == position {
			filled, all = append(filled, all[0]), all[1:]
		} else if a.selections[0].has(uint32(position)) {
			filled = append(filled, group{id: noGroup, label: c.Label(position)})
		}
	}
	return append(filled, all...) // of missing values
}

// fill adds the selected empty intervals between the first group with records and the last. The
// number of intervals depends on the values and not on the number of records, so that it is
// computed first, also if few of them are selected.
func (a *aggregation) fill(all []group) (filled []group, err error) {
	if cyclic, ok := a.groupers[0].(interface{ cycle() query.Cycle }); ok {
		return a.fillCycle(all, cyclic.cycle()), nil
	}
	g, by := a.groupers[0].(intervals), a.request.By[0]
	most := cmp.Or(a.request.MaxFilled, query.MaxGroups)
	end := len(all) - 1 // the group of missing values is the last
	if end > 0 && a.isMissing(all[end], 0) {
		end--
	}
	if end > 0 {
		first, last := g.interval(a.table.group(all[0].id, 0)), g.interval(a.table.group(all[end].id, 0))
		if by.LeastCount(a.input.Fields[by.Field].Type, first.start, last.start) > most {
			return nil, tooManyGroups(most)
		}
	}
	var next interval
	isSet := false      // next
	count, size := 0, 0 // of the intervals with their labels, selected or not
	for _, old := range all {
		id := a.table.group(old.id, 0)
		if a.groupers[0].isMissing(id) {
			return append(filled, old), nil
		}
		a.steps.Add(1)
		current := g.interval(id)
		for isSet && next.key < current.key {
			count, size = count+1, size+len(next.label)
			if count > most || size > maxFilledBytes {
				return nil, tooManyGroups(most)
			}
			a.steps.Add(intervalSteps + len(next.label))
			if a.selections[0].hasLabel(next.label) {
				a.steps.Reserve(bytesPerFilledGroup)
				filled = append(filled, group{id: noGroup, label: next.label})
			}
			next, isSet = g.following(next)
		}
		count++
		filled = append(filled, old)
		next, isSet = g.following(current)
	}
	return filled, nil
}

// cell is the place of a group in the table of all combinations of two By fields.
type cell struct {
	labels  [query.MaxBy]string // set if the group has no records
	at      [query.MaxBy]int    // positions
	missing [query.MaxBy]bool   // the label is that of missing values
}

// bytesPerCell is the memory of a cell with its group.
const bytesPerCell = 128

// fillPairs adds the combinations of two By fields that do not occur. Intervals of the first are
// filled as if it were the only one.
func (a *aggregation) fillPairs(all []group) ([]group, error) {
	var rows []group // one for each group of the first field
	var columns []uint32
	isKnown := map[uint32]bool{}
	a.steps.Add(len(all))
	for i, g := range all {
		if i == 0 || a.table.group(all[i-1].id, 0) != a.table.group(g.id, 0) {
			rows = append(rows, g)
		}
		if second := a.table.group(g.id, 1); !isKnown[second] {
			isKnown[second], columns = true, append(columns, second)
		}
	}
	if a.request.By[0].HasIntervals() {
		var err error
		rows, err = a.fill(rows)
		if err != nil {
			return nil, err
		}
	}
	most := cmp.Or(a.request.MaxFilled, query.MaxGroups)
	if len(columns) > 0 && len(rows) > most/len(columns) {
		return nil, tooManyGroups(most)
	}
	order := func(second uint32) uint32 {
		if a.positions[1] != nil {
			return a.positions[1][second]
		}
		return second
	}
	slices.SortFunc(columns, func(x, y uint32) int {
		a.steps.Add(1)
		return cmp.Compare(order(x), order(y))
	})
	a.steps.Reserve(bytesPerCell * len(rows) * len(columns))
	filled := make([]group, 0, len(rows)*len(columns))
	// The label of a value can have megabytes, so the cells of a column share it.
	columnLabels := make([]string, len(columns))
	for k, second := range columns {
		columnLabels[k] = a.groupers[1].label(second)
		a.steps.Add(valueSteps)
		a.steps.Reserve(len(columnLabels[k]))
	}
	for i, row := range rows {
		rowLabel := a.label(row, 0)
		a.steps.Add(valueSteps)
		a.steps.Reserve(len(rowLabel))
		for k, second := range columns {
			a.steps.Add(1)
			c := &cell{at: [query.MaxBy]int{i, k},
				missing: [query.MaxBy]bool{a.isMissing(row, 0), a.groupers[1].isMissing(second)}}
			g := group{id: noGroup, cell: c}
			if len(all) > 0 && row.id != noGroup && a.table.group(all[0].id, 0) == a.table.group(row.id, 0) &&
				a.table.group(all[0].id, 1) == second {
				g.id, all = all[0].id, all[1:]
			} else {
				c.labels = [query.MaxBy]string{rowLabel, columnLabels[k]}
			}
			filled = append(filled, g)
		}
	}
	return filled, nil
}
