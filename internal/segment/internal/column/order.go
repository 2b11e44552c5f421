package column

import (
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// Order is the records of a set in the order of a field. Release it after use.
type Order struct {
	result *sortedResult
	desc   bool
}

// Order returns the records of a set, nil for all, in the order of the field; see Page.
func (c *Column) Order(st *guard.Steps, set *bitmap.Set, desc bool) *Order {
	return &Order{newSortedResult(st, c, set, false), desc}
}

// Release recycles memory.
func (o *Order) Release() { o.result.release() }

// Page returns the records at positions [from, to).
func (o *Order) Page(from, to int) []uint32 {
	if o.desc {
		return o.result.descending(from, to)
	}
	return o.result.appendAscending(nil, from, to)
}

// Key returns the sort key of a record. missing is 0, or 1 + text.MissingRank of a missing value, which has no key.
func (o *Order) Key(record uint32) (missing int, key string) {
	value := o.result.value(record)
	if rank := text.MissingRank(&o.result.Field, value); rank >= 0 {
		return 1 + rank, ""
	}
	return 0, sortKey(&o.result.Field, value)
}

// CountThrough returns the number of records that do not sort after a key, given as Key returns it.
func (o *Order) CountThrough(missing int, key string) int {
	r := o.result
	switch {
	case missing > 0:
		_, to := r.missingRanks(missing - 1)
		return r.countBelow(to)
	case o.desc:
		return r.countBelow(r.Values()) - r.countBelow(int(r.runs.At(r.firstRun(key))))
	default:
		return r.countBelow(int(r.runs.At(r.firstRun(key + "\x00"))))
	}
}
