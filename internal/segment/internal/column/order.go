package column

import (
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
	"herbarium/internal/text"
)

// Order is the records of a set sorted by one or more fields, ties by record number. In descending
// order, the runs of a field are in reverse order, and the records without a value are still last.
// Release it after use.
//
// A page is located in the sorted rows of the first field. Only the groups of equal values that
// overlap it are sorted by the other fields: short ones in memory, long ones by an order of their
// own. So no page needs more than a few passes over bitsets.
type Order struct {
	sortedResult // by the first field
	columns      []Column
	sort         []query.SortField
	withValue    int // number of records with a value of the first field; -1 if not counted

	short   shortGroup // last short group that was sorted
	long    *Order     // last long group that was sorted, by the other fields; nil if there is none
	longEnd int        // rank after the group in long, which tells it from other groups
}

// NewOrder returns the records of a set, nil for all, sorted by fields of the columns.
func NewOrder(st *guard.Steps, columns []Column, sort []query.SortField, set *bitmap.Set) *Order {
	result := newSortedResult(st, &columns[sort[0].Field], set, false)
	return &Order{sortedResult: result, columns: columns, sort: sort, withValue: -1}
}

// Release recycles the memory of the order. The set that was given to NewOrder still belongs to the
// caller.
func (o *Order) Release() {
	o.release()
	o.releaseLong()
}

func (o *Order) releaseLong() {
	if o.long != nil {
		o.long.set.Release()
		o.long.Release()
		o.long = nil
	}
}

// Page returns the records at positions [from, to).
func (o *Order) Page(from, to int) []uint32 {
	return o.appendPage(make([]uint32, 0, to-from), from, to)
}

func (o *Order) appendPage(records []uint32, from, to int) []uint32 {
	if len(o.sort) == 1 && !o.sort[0].Desc {
		return o.appendAscending(records, from, to)
	}
	for from < to {
		g := o.groupAt(from)
		end := min(g.start+g.len(), to)
		if from < g.start || end <= from {
			guard.Corrupt("field %q has a record in no value run", o.Field.Name)
		}
		records = o.appendGroup(records, g, from-g.start, end-g.start)
		from = end
	}
	return records
}

// group is the records of a result with equal values of the first field.
type group struct {
	ranks    RankRange
	from, to int // positions in ascending order
	start    int // position of the first record in the order
}

func (g group) len() int { return g.to - g.from }

// newGroup returns the records of a result in a range of ranks, which all have a value or none.
func (o *Order) newGroup(r RankRange, missing bool) group {
	from, to := o.countBelow(r.from), o.countBelow(r.to)
	start, _ := mirrorRange(from, to, o.countWithValue(), o.sort[0].Desc, missing)
	return group{r, from, to, start}
}

// countWithValue returns the number of records with a value. In ascending order, which does not
// need it, the result is -1.
func (o *Order) countWithValue() int {
	if o.withValue < 0 && o.sort[0].Desc {
		o.withValue = o.countBelow(o.Values())
	}
	return o.withValue
}

// groupAt returns the group that contains the record at a position in the order.
func (o *Order) groupAt(at int) group {
	rank := o.rank(mirror(at, o.countWithValue(), o.sort[0].Desc))
	switch {
	case rank < o.Values():
		return o.newGroup(o.runRanks(o.runAt(0, rank)), false)
	case len(o.sort) == 1: // markers of missing values need not be distinguished
		return o.newGroup(o.runRanks(o.Distinct()), true)
	default:
		return o.newGroup(o.missingRanks(text.MissingPosition(&o.Field, o.value(o.sorted.At(rank)))), true)
	}
}

// appendGroup appends the records of a group at positions [from, to) of it.
func (o *Order) appendGroup(records []uint32, g group, from, to int) []uint32 {
	switch {
	case len(o.sort) == 1 || g.len() == 1:
		return o.appendAscending(records, g.from+from, g.from+to)
	case g.len() < LongRun:
		return append(records, o.sortShort(g)[from:to]...)
	default:
		return o.sortLong(g).appendPage(records, from, to)
	}
}

// sortLong returns the records of a long group, sorted by the other fields.
func (o *Order) sortLong(g group) *Order {
	if o.long == nil || o.longEnd != g.ranks.to {
		o.releaseLong()
		o.long, o.longEnd = NewOrder(o.steps, o.columns, o.sort[1:], o.groupSet(g)), g.ranks.to
	}
	return o.long
}

// groupSet returns the records of a group. The caller must release the set.
func (o *Order) groupSet(g group) *bitmap.Set {
	set := plan.Evaluate(o.steps, o.pool, []plan.Term{{Condition: g.ranks}}, nil)
	if o.set != nil {
		set.Intersect(o.steps, o.set)
	}
	return set
}
