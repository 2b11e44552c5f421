package column

import (
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
)

// markedRanks is the ranks of a small result: they are marked in a bitset.
type markedRanks struct {
	c     *Column
	steps *guard.Steps
	marks bitmap.Bits
	below *[LeadingSets + 1]int // number of records before each division; -1 if not counted yet
}

func newMarkedRanks(st *guard.Steps, c *Column, set *bitmap.Set) markedRanks {
	m := markedRanks{c, st, c.pool.Get(st), uncounted(set.Len())}
	c.markRanks(st, set, m.marks)
	return m
}

// uncounted returns the counts before the divisions between leading sets. Only the first and the
// last count are known.
func uncounted(total int) *[LeadingSets + 1]int {
	var below [LeadingSets + 1]int
	for division := range below {
		below[division] = -1
	}
	below[0], below[LeadingSets] = 0, total
	return &below
}

func (m markedRanks) countBefore(division int) int {
	if m.below[division] < 0 {
		m.below[division] = m.marks.Count(0, m.c.bound(division))
	}
	return m.below[division]
}

func (m markedRanks) next(from, to int) int { return m.marks.Next(m.steps, from, to) }

func (m markedRanks) last(_, to int) int { return m.marks.Last(m.steps, to) }

func (m markedRanks) count(from, to int) int { return m.marks.Count(from, to) }

// leadingRanks is the ranks of a large result: intersections with the leading sets count its
// records before each division of the sorted rows, which are then scanned.
type leadingRanks struct {
	c     *Column
	steps *guard.Steps
	dense bitmap.Bits           // records of the result
	below *[LeadingSets + 1]int // number of records before each division; -1 if not counted yet
}

func newLeadingRanks(st *guard.Steps, c *Column, set *bitmap.Set) leadingRanks {
	return leadingRanks{c, st, set.Dense(st), uncounted(set.Len())}
}

func (l leadingRanks) countBefore(division int) int {
	if l.below[division] < 0 {
		l.below[division] = l.c.leading.Set(division-1).CountIn(l.steps, l.dense)
	}
	return l.below[division]
}

// has reports whether the record at a rank is in the result.
func (l *leadingRanks) has(rank int) bool {
	l.steps.Add(1)
	return l.dense.Has(l.c.sorted.At(rank))
}

func (l leadingRanks) next(from, to int) int {
	for from < to && !l.has(from) {
		from++
	}
	return from
}

func (l leadingRanks) last(from, to int) int {
	for to--; to >= from && !l.has(to); to-- {
	}
	return to
}

func (l leadingRanks) count(from, to int) (n int) {
	for ; from < to; from++ {
		if l.has(from) {
			n++
		}
	}
	return n
}
