package column

import (
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/file"
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

func (m markedRanks) divisions() int { return LeadingSets }

func (m markedRanks) divisionStart(division int) int { return m.c.bound(division) }

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
	rankScanner
	below *[LeadingSets + 1]int // number of records before each division; -1 if not counted yet
}

func newLeadingRanks(s rankScanner, total int) leadingRanks { return leadingRanks{s, uncounted(total)} }

func (l leadingRanks) divisions() int { return LeadingSets }

func (l leadingRanks) divisionStart(division int) int { return l.c.bound(division) }

func (l leadingRanks) countBefore(division int) int {
	if l.below[division] < 0 {
		l.below[division] = l.c.leading.Set(division-1).CountIn(l.steps, l.dense)
	}
	return l.below[division]
}

// blockRanks is the ranks of the records with one frequent value: the file has their number before
// the end of each block of the sorted rows. The block of a position is scanned.
type blockRanks struct {
	rankScanner
	blocks file.U32s // number of records before the end of each block
}

func (b blockRanks) divisions() int { return b.blocks.Len() }

func (b blockRanks) divisionStart(block int) int { return min(block*BlockSize, b.c.sorted.Len()) }

func (b blockRanks) countBefore(block int) int {
	if block == 0 {
		return 0
	}
	return int(b.blocks.At(block - 1))
}

// rankScanner finds the records of a result by testing the sorted rows one by one.
type rankScanner struct {
	c      *Column
	steps  *guard.Steps
	dense  bitmap.Bits // records of the result; nil if filter tests them
	filter *RankRange
}

func (s *rankScanner) has(rank int) bool {
	s.steps.Add(1)
	record := s.c.sorted.At(rank)
	if s.filter != nil {
		return s.filter.Contains(record)
	}
	return s.dense.Has(record)
}

func (s rankScanner) next(from, to int) int {
	for from < to && !s.has(from) {
		from++
	}
	return from
}

func (s rankScanner) last(from, to int) int {
	for to--; to >= from && !s.has(to); to-- {
	}
	return to
}

func (s rankScanner) count(from, to int) (n int) {
	for ; from < to; from++ {
		if s.has(from) {
			n++
		}
	}
	return n
}
