package fulltext

import (
	"cmp"
	"math/bits"
	"slices"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/text"
)

// cells ranks the records of a search for one clause. A cell is the records with the same length and the same frequency
// of the clause, which have the same score. Counting records by cell takes half the time of scoring them.
type cells struct {
	scorer   *Scorer
	set      *bitmap.Set
	shortest uint32              // minimum length of a record
	counts   [cellParts][]uint32 // by part of the segment and by cell
}

const (
	// cellFrequencies is the number of cells for each length. The last one is for all higher frequencies.
	cellFrequencies = 32
	// cellParts is the number of parts in which records are counted, so that only those with records of a page are read
	// again.
	cellParts = 16
	maxCounts = 1 << 20
)

// newCells counts the records of a set by cell. It returns false if that is not worthwhile.
func (s *Scorer) newCells(set *bitmap.Set) (*cells, bool) {
	order, lengths := s.index.lengthOrder, s.index.lengths
	if len(s.clauses) != 1 || order.Len() == 0 {
		return nil, false
	}
	c := &cells{scorer: s, set: set, shortest: lengths.At(int(order.At(0)))}
	n := int(lengths.At(int(order.At(order.Len()-1)))-c.shortest+1) * cellFrequencies
	if n*cellParts > min(set.Len(), maxCounts) {
		return nil, false
	}
	for part := range c.counts {
		c.counts[part] = make([]uint32, n)
	}
	c.blocks(func(part int, b bitmap.Block, frequencies bitmap.ByteMap) {
		countCells(b, lengths.Slice(int(b.First), lengths.Len()), c.shortest, frequencies.Load(b), frequencies.Base, c.counts[part])
	})
	return c, true
}

// blocks calls f for the blocks of the set.
func (c *cells) blocks(f func(part int, b bitmap.Block, frequencies bitmap.ByteMap)) {
	frequencies := c.scorer.clauses[0].frequencies(c.scorer.steps, c.set.Len())
	c.set.Blocks(c.scorer.steps, func(b bitmap.Block) { f(int(b.First)*cellParts/c.scorer.index.lengths.Len(), b, frequencies) })
}

// countCells counts the members of a block by cell. The lengths are those from the first record of the block on.
func countCells(b bitmap.Block, lengths file.U32s, shortest uint32, frequencies *bitmap.BlockBytes, base byte, counts []uint32) {
	for i, word := range b.Words {
		for ; word != 0; word &= word - 1 {
			member := 64*i + bits.TrailingZeros64(word)
			counts[cellNumber(lengths.At(member)-shortest, frequencies[member%len(frequencies)]+base)]++
		}
	}
}

// cellNumber returns the number of a cell, given by the length without the minimum.
func cellNumber(length uint32, frequency byte) uint32 {
	return length*cellFrequencies + uint32(min(frequency, cellFrequencies-1))
}

// cell is a cell with at least one record.
type cell struct {
	number, records int
	score           float64
	group           int // number of its group on the page
}

// sorted returns all cells by descending score. It returns false if the frequencies of some records are not known.
func (c *cells) sorted() (all []cell, ok bool) {
	for number := range c.counts[0] {
		records := 0
		for _, counts := range c.counts {
			records += int(counts[number])
		}
		if records == 0 {
			continue
		}
		length, frequency := number/cellFrequencies+int(c.shortest), number%cellFrequencies
		if frequency == cellFrequencies-1 {
			return nil, false
		}
		score := text.Score(c.scorer.idf[0], frequency, length, c.scorer.average)
		all = append(all, cell{number: number, records: records, score: score})
	}
	slices.SortFunc(all, func(a, b cell) int { return cmp.Compare(b.score, a.score) })
	return all, true
}

// page returns the records at positions [from, to) by descending score, ties by number. It returns false if the scores of
// some records are not known.
func (c *cells) page(from, to int) ([]uint32, bool) {
	all, ok := c.sorted()
	if !ok {
		return nil, false
	}
	var onPage []cell // those with the scores on the page; cells with the same score are a group
	var next []int    // by group, the position of its next record
	for start := 0; start < to && len(all) > 0; {
		n, end := 0, start
		for ; n < len(all) && all[n].score == all[0].score; n++ {
			all[n].group = len(next)
			end += all[n].records
		}
		if end > from {
			onPage, next = append(onPage, all[:n]...), append(next, start)
		}
		start, all = end, all[n:]
	}
	groupOf := make([]int, len(c.counts[0])) // by number of a cell, its group + 1; 0 if it is not on the page
	for _, x := range onPage {
		groupOf[x.number] = x.group + 1
	}
	var positions [cellParts][]int // by part and group, the position of the next record; nil if no record is on the page
	for part, counts := range c.counts {
		at := slices.Clone(next)
		for _, x := range onPage {
			next[x.group] += int(counts[x.number])
		}
		for g := range next {
			if at[g] < next[g] && at[g] < to && next[g] > from {
				positions[part] = at
			}
		}
	}
	return c.collect(groupOf, positions, from, to), true
}

// collect returns the records at positions [from, to).
func (c *cells) collect(groupOf []int, positions [cellParts][]int, from, to int) []uint32 {
	page, lengths := make([]uint32, to-from), c.scorer.index.lengths
	var members []uint32
	c.blocks(func(part int, b bitmap.Block, m bitmap.ByteMap) {
		next := positions[part]
		if next == nil {
			return
		}
		frequencies := m.Load(b)
		members = bitmap.Bits(b.Words[:]).AppendTo(members[:0])
		for _, member := range members {
			record := b.First + member
			if g := groupOf[cellNumber(lengths.At(int(record))-c.shortest, frequencies[member]+m.Base)] - 1; g >= 0 {
				if p := next[g]; p >= from && p < to {
					page[p-from] = record
				}
				next[g]++
			}
		}
	})
	return page
}
