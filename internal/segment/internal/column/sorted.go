package column

import (
	"sort"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// sortedResult locates the records of one result in the sorted rows of a field.
//
//   - A small result is marked in the sorted rows.
//   - If the result is the records with one frequent value, stored counts give how many of them are
//     in each block of the sorted rows. The block of a position is scanned.
//   - For other results, intersections with the leading sets count the records in parts of the
//     sorted rows, which are then scanned.
type sortedResult struct {
	*Column
	steps  *guard.Steps
	set    *bitmap.Set // nil means all records
	total  int
	marks  bitmap.Bits          // ranks of the result if it is marked; else nil
	blocks file.U32s            // number of records before the end of each block if it is stored; else nil
	filter *Ranks               // tests the records of a scanned result; nil means that dense does
	dense  bitmap.Bits          // records of the result
	below  [LeadingSets + 1]int // without blocks, number of records before each part of the sorted rows; -1 if not counted yet
	known  position             // last located record
}

// position is a rank and the number of records of a result below it.
type position struct{ rank, count int }

// newSortedResult locates the records of a set; nil means all. If mark is set, even a large result
// is marked.
func newSortedResult(st *guard.Steps, c *Column, set *bitmap.Set, mark bool) sortedResult {
	o := sortedResult{Column: c, steps: st, set: set, total: c.sorted.Len()}
	if set == nil {
		return o
	}
	if o.total = set.Len(); mark || o.total <= c.sorted.Len()/cost.MarkShare {
		o.marks = c.pool.Get()
		c.markRanks(st, set, o.marks)
	} else {
		o.dense = set.Dense(st)
	}
	for j := range o.below {
		o.below[j] = -1
	}
	o.below[0], o.below[LeadingSets] = 0, o.total
	return o
}

// newFilteredResult locates the records of a set. only is the condition that selects them if there
// is exactly one; else nil.
func newFilteredResult(st *guard.Steps, c *Column, set *bitmap.Set, only plan.Condition) sortedResult {
	blocks := c.blockCountsOf(only)
	if blocks == nil {
		return newSortedResult(st, c, set, false)
	}
	o := sortedResult{Column: c, steps: st, set: set, total: set.Len(), blocks: blocks}
	if ranks, ok := only.(Ranks); ok {
		o.filter = &ranks
	} else {
		o.dense = set.Dense(st)
	}
	return o
}

func (o *sortedResult) release() { o.pool.Put(o.marks) }

// appendAscending appends the records at positions [from, to) of the result in ascending order.
func (o *sortedResult) appendAscending(records []uint32, from, to int) []uint32 {
	if o.set == nil && from < to {
		return o.sorted.Slice(from, to).AppendTo(records)
	}
	maxGap := o.sorted.Len() / (2 * LeadingSets) // ranks without a match, after which locating the next may be faster
	if o.blocks != nil {
		maxGap = BlockSize
	}
	for from < to {
		rank := o.rank(from)
		for end := rank + 1; rank < end && from < to; from++ {
			records = append(records, o.sorted.At(rank))
			o.known = position{rank + 1, from + 1}
			end = min(rank+1+maxGap, o.sorted.Len())
			rank = o.next(rank+1, end)
		}
	}
	return records
}

// rank returns the rank of the i-th record of the result. It scans the sorted rows from a known
// position if one is near, or else from a bound of the part that contains the rank.
func (o *sortedResult) rank(i int) int {
	if o.set == nil {
		return i
	}
	n := o.sorted.Len()
	near, reach := o.total/cost.NearShare, 2*n/cost.NearShare
	if o.marks != nil { // scanning is fast
		near, reach = LeadingSets, n
	}
	for _, p := range [...]position{o.known, {}, {n, o.total}} {
		if distance := i - p.count; max(distance, -distance) > near {
			continue
		}
		if rank, ok := o.scan(p, i, max(p.rank-reach, 0), min(p.rank+reach, n)); ok {
			return rank
		}
	}
	j := o.partOf(i)
	first, end := position{o.partStart(j), o.countBeforePart(j)}, position{o.partStart(j + 1), o.countBeforePart(j + 1)}
	p := first
	if i-first.count > end.count-i {
		p = end
	}
	rank, ok := o.scan(p, i, first.rank, end.rank)
	if !ok {
		guard.Corrupt("field %q has two records with the same rank", o.Field.Name)
	}
	return rank
}

// scan searches for the rank of the i-th record of the result, from a position and within [from,
// to).
func (o *sortedResult) scan(p position, i, from, to int) (rank int, ok bool) {
	for p.count <= i && p.rank < to {
		rank := o.next(p.rank, to)
		if rank == to {
			return 0, false
		}
		if p.count == i {
			o.known = position{rank, i}
			return rank, true
		}
		p = position{rank + 1, p.count + 1}
	}
	for p.count > i {
		if p.rank = o.last(from, p.rank); p.rank < from {
			return 0, false
		}
		if p.count--; p.count == i {
			o.known = p
			return p.rank, true
		}
	}
	return 0, false
}

// countBelow returns the number of records of the result with a lower rank, counted from the
// nearest known position.
func (o *sortedResult) countBelow(rank int) int {
	if o.set == nil || rank == 0 {
		return rank
	}
	if rank == o.sorted.Len() {
		return o.total
	}
	j := sort.Search(o.parts(), func(j int) bool { return o.partStart(j+1) > rank })
	if rank-o.partStart(j) > o.partStart(j+1)-rank {
		j++
	}
	p := o.known
	if distance := rank - o.partStart(j); max(distance, -distance) < max(rank-p.rank, p.rank-rank) {
		p = position{o.partStart(j), o.countBeforePart(j)}
	}
	o.known = position{rank, p.count + o.count(p.rank, rank) - o.count(rank, p.rank)}
	return o.known.count
}

// parts returns the number of parts of the sorted rows before which the records of the result are
// counted: blocks, or those between the leading sets.
func (o *sortedResult) parts() int {
	if o.blocks != nil {
		return o.blocks.Len()
	}
	return LeadingSets
}

// partStart returns the first rank of part j, or the end of the sorted rows after the last part.
func (o *sortedResult) partStart(j int) int {
	if o.blocks != nil {
		return min(j*BlockSize, o.sorted.Len())
	}
	return o.bound(j)
}

// partOf returns the part of the sorted rows that contains the i-th record of the result.
func (o *sortedResult) partOf(i int) int {
	return sort.Search(o.parts(), func(j int) bool { return o.countBeforePart(j+1) > i })
}

// countBeforePart returns the number of records of the result before part j of the sorted rows.
func (o *sortedResult) countBeforePart(j int) int {
	switch {
	case o.blocks != nil && j == 0:
		return 0
	case o.blocks != nil:
		return int(o.blocks.At(j - 1))
	case o.below[j] >= 0:
	case o.marks != nil:
		o.below[j] = o.marks.Count(0, o.bound(j))
	default:
		o.below[j] = o.leading.Set(j-1).CountIn(o.steps, o.dense)
	}
	return o.below[j]
}

// next returns the first rank of the result in [from, to), or to.
func (o *sortedResult) next(from, to int) int {
	if o.marks != nil {
		return o.marks.Next(o.steps, from, to)
	}
	for from < to && !o.has(from) {
		from++
	}
	return from
}

// last returns the last rank of the result in [from, to), or a lower number.
func (o *sortedResult) last(from, to int) int {
	if o.marks != nil {
		return o.marks.Last(o.steps, to)
	}
	for to--; to >= from && !o.has(to); to-- {
	}
	return to
}

// count returns the number of records of the result with ranks in [from, to).
func (o *sortedResult) count(from, to int) (n int) {
	if o.marks != nil {
		return o.marks.Count(from, to)
	}
	for ; from < to; from++ {
		if o.has(from) {
			n++
		}
	}
	return n
}

// has reports whether the record at a rank is in a scanned result.
func (o *sortedResult) has(rank int) bool {
	o.steps.Add(1)
	record := o.sorted.At(rank)
	if o.filter != nil {
		return o.filter.Contains(record)
	}
	return o.dense.Has(record)
}
