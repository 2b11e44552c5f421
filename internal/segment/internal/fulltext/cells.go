package fulltext

import (
	"cmp"
	"math/bits"
	"slices"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/text"
)

// cells ranks the records of a search for one clause with postings. A cell is the records with the same length and the same
// frequency of the clause, which have the same score. Counting records by cell takes a third of the time of scoring them.
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
	// recordsPerCount is the minimum number of records of the set for each count. With fewer, scoring all records is faster.
	recordsPerCount = 8
)

// pageByCell returns the records of a set at positions [from, to) by descending score, ties by number. It returns false if
// counting the records by cell is not possible or not worthwhile.
func (s *Scorer) pageByCell(set *bitmap.Set, from, to int) ([]uint32, bool) {
	order, lengths := s.index.lengthOrder, s.index.lengths
	if len(s.clauses) != 1 || s.clauses[0].postings == nil || order.Len() == 0 || set.IsSmall() {
		return nil, false
	}
	c := &cells{scorer: s, set: set, shortest: lengths.At(int(order.At(0)))}
	n := int(lengths.At(int(order.At(order.Len()-1)))-c.shortest+1) * cellFrequencies
	if n*cellParts > min(set.Len()/recordsPerCount, maxCounts) {
		return nil, false
	}
	frequencies := c.frequencies()
	for part := range c.counts {
		counts := make([]uint32, n)
		c.blocks(part, func(first int, members *[bitmap.BlockWords]uint64) {
			countCells(members, lengths.Slice(first, lengths.Len()), c.shortest, frequencies.LoadBlock(uint32(first)), counts)
		})
		c.counts[part] = counts
	}
	return c.page(from, to)
}

func (c *cells) frequencies() *bitmap.ByteMap {
	clause := c.scorer.clauses[0]
	return bitmap.NewByteMap(clause.postings.freqs.Set(clause.number))
}

// blocks calls f for the blocks of a part, with the first record and the members of the set from that record on.
func (c *cells) blocks(part int, f func(first int, members *[bitmap.BlockWords]uint64)) {
	all := c.set.Dense(c.scorer.steps)
	blocks := (c.scorer.index.lengths.Len() + bitmap.BlockRecords - 1) / bitmap.BlockRecords
	for i := part * blocks / cellParts; i < (part+1)*blocks/cellParts; i++ {
		c.scorer.steps.Add(bitmap.BlockRecords)
		f(i*bitmap.BlockRecords, (*[bitmap.BlockWords]uint64)(all[i*bitmap.BlockWords:]))
	}
}

// countCells counts the members of a block by cell. The lengths are those from the first record of the block on.
func countCells(members *[bitmap.BlockWords]uint64, lengths file.U32s, shortest uint32, frequencies *bitmap.BlockBytes, counts []uint32) {
	for i, word := range members {
		for ; word != 0; word &= word - 1 {
			member := 64*i + bits.TrailingZeros64(word)
			counts[cellNumber(lengths.At(member)-shortest, frequencies[member%len(frequencies)])]++
		}
	}
}

// cellNumber returns the number of a cell, given by the length without the minimum and the frequency less 1.
func cellNumber(length uint32, frequency byte) uint32 {
	return length*cellFrequencies + uint32(min(frequency, cellFrequencies-1))
}

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
		length, frequency := number/cellFrequencies+int(c.shortest), number%cellFrequencies+1
		if frequency == cellFrequencies {
			return nil, false
		}
		score := text.Score(c.scorer.idf[0], frequency, length, c.scorer.average)
		all = append(all, cell{number: number, records: records, score: score})
	}
	slices.SortFunc(all, func(a, b cell) int { return cmp.Compare(b.score, a.score) })
	return all, true
}

// page returns the records at positions [from, to). It returns false if the scores of some records are not known.
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
	page, frequencies := make([]uint32, to-from), c.frequencies()
	for part, counts := range c.counts {
		at, isOnPage := slices.Clone(next), false
		for _, x := range onPage {
			next[x.group] += int(counts[x.number])
		}
		for g := range next {
			isOnPage = isOnPage || at[g] < next[g] && at[g] < to && next[g] > from
		}
		if isOnPage {
			c.collect(part, frequencies, groupOf, at, page, from)
		}
	}
	return page, true
}

// collect stores the records of a part that are on a page from a position on, given the position of the next record by group.
func (c *cells) collect(part int, frequencies *bitmap.ByteMap, groupOf, next []int, page []uint32, from int) {
	var members []uint32
	c.blocks(part, func(first int, words *[bitmap.BlockWords]uint64) {
		members = bitmap.Bits(words[:]).AppendTo(members[:0])
		loaded := frequencies.LoadBlock(uint32(first))
		for _, member := range members {
			record := uint32(first) + member
			if g := groupOf[cellNumber(c.scorer.index.lengths.At(int(record))-c.shortest, loaded[member])] - 1; g >= 0 {
				if p := next[g] - from; p >= 0 && p < len(page) {
					page[p] = record
				}
				next[g]++
			}
		}
	})
}
