package aggregate

import (
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/guard"
)

// table numbers the groups that occur, in the order in which they are found.
type table struct {
	by     int // number of By fields
	width  int // number of groups of the second By field; 0 if unknown
	dense  []uint32
	sparse map[uint64]uint32 // used if there are too many pairs for dense
	pairs  []uint64          // groups of both By fields, by number: the first in the upper half
	counts []uint32          // records, by number
	steps  *guard.Steps
}

// Memory that a table needs for a group or a pair of groups.
const (
	bytesPerPair  = 4  // in dense
	bytesPerGroup = 64 // in the other ones, also while they grow
)

// maxDense is the maximum number of pairs of groups that are looked up in an array.
const maxDense = 1 << 22

// noGroup is the number of a group without records.
const noGroup = -1

func newTable(st *guard.Steps, groupers [query.MaxBy]grouper, by int) *table {
	t := &table{steps: st, by: by, width: 1}
	size := 1
	for i := range by {
		n := groupers[i].len()
		if n == 0 || size > maxDense/n {
			size = 0
			break
		}
		size *= n
	}
	if by == 2 {
		t.width = groupers[1].len()
	}
	if size > 0 {
		st.Reserve(bytesPerPair * size)
		t.dense = make([]uint32, size)
	} else {
		t.sparse = map[uint64]uint32{}
	}
	if by == 0 { // one group, also if there are no records
		t.add(0)
	}
	return t
}

// add adds a group and returns its number. It ends the query if there are too many.
func (t *table) add(pair uint64) uint32 {
	if len(t.pairs) == query.MaxGroups {
		guard.Fail(tooManyGroups(query.MaxGroups))
	}
	t.steps.Reserve(bytesPerGroup)
	t.pairs, t.counts = append(t.pairs, pair), append(t.counts, 0)
	return uint32(len(t.pairs) - 1)
}

// appendIDs appends the numbers of the groups of the records of a chunk.
func (t *table) appendIDs(dst []uint32, c *chunk) []uint32 {
	switch t.by {
	case 0:
		for range c.records {
			dst = append(dst, 0)
		}
	case 1:
		for _, g := range c.groups[0] {
			dst = append(dst, t.number(g, 0))
		}
	default:
		for i, g := range c.groups[0] {
			dst = append(dst, t.number(g, c.groups[1][i]))
		}
	}
	return dst
}

// number returns the number of a group, which consists of one of each By field; the second is 0 if
// there is only one field. A new group gets the next number.
func (t *table) number(first, second uint32) uint32 {
	pair := uint64(first)<<32 | uint64(second)
	if t.dense != nil {
		n := &t.dense[int(first)*t.width+int(second)] // plus one
		if *n == 0 {
			*n = t.add(pair) + 1
		}
		return *n - 1
	}
	id, ok := t.sparse[pair]
	if !ok {
		id = t.add(pair)
		t.sparse[pair] = id
	}
	return id
}

// group returns the group of a By field that a group consists of.
func (t *table) group(id, by int) uint32 {
	if by == 0 {
		return uint32(t.pairs[id] >> 32)
	}
	return uint32(t.pairs[id])
}
