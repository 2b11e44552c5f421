package column

import (
	"sort"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/guard"
)

// sortedResult locates the records of one result in the sorted rows of a field.
type sortedResult struct {
	*Column
	steps   *guard.Steps
	set     *bitmap.Set // nil means all records
	total   int
	matches resultRanks // nil if the result is all records
	known   rankCount   // last located record
}

// rankCount is a rank and the number of records of a result below it.
type rankCount struct{ rank, count int }

// resultRanks is the ranks of the records of a result. It counts the records of the result before a
// division of the sorted rows without a scan.
type resultRanks interface {
	// countBefore returns the number of records of the result before a division.
	countBefore(division int) int
	// next returns the first rank of the result in [from, to), or to.
	next(from, to int) int
	// last returns the last rank of the result in [from, to), or a lower number.
	last(from, to int) int
	// count returns the number of records of the result with ranks in [from, to).
	count(from, to int) int
}

// newSortedResult locates the records of a set; nil means all. If mark is set, even a large result
// is marked.
func newSortedResult(st *guard.Steps, c *Column, set *bitmap.Set, mark bool) sortedResult {
	o := sortedResult{Column: c, steps: st, set: set, total: c.sorted.Len()}
	if set == nil {
		return o
	}
	o.total = set.Len()
	if mark || o.total <= c.sorted.Len()/cost.MarkShare {
		o.matches = newMarkedRanks(st, c, set)
	} else {
		o.matches = newLeadingRanks(st, c, set)
	}
	return o
}

func (o *sortedResult) release() {
	if marked, ok := o.matches.(markedRanks); ok {
		o.pool.Put(o.steps, marked.marks)
	}
}

// appendAscending appends the records at positions [from, to) of the result in ascending order.
func (o *sortedResult) appendAscending(records []uint32, from, to int) []uint32 {
	if o.set == nil && from < to {
		return o.sorted.Slice(from, to).AppendTo(records)
	}
	maxGap := o.sorted.Len() / (2 * LeadingSets) // ranks without a match, after which locating the next may be faster
	for from < to {
		rank := o.rank(from)
		for end := rank + 1; rank < end && from < to; from++ {
			records = append(records, o.sorted.At(rank))
			o.known = rankCount{rank + 1, from + 1}
			end = min(rank+1+maxGap, o.sorted.Len())
			rank = o.matches.next(rank+1, end)
		}
	}
	return records
}

// rank returns the rank of the i-th record of the result. It scans the sorted rows from a known
// position if one is near, or else from a bound of the division that contains the rank.
func (o *sortedResult) rank(i int) int {
	if o.set == nil {
		return i
	}
	n := o.sorted.Len()
	near, reach := o.total/cost.NearShare, 2*n/cost.NearShare
	if _, ok := o.matches.(markedRanks); ok { // scanning is fast
		near, reach = LeadingSets, n
	}
	for _, p := range [...]rankCount{o.known, {}, {n, o.total}} {
		if distance := i - p.count; max(distance, -distance) > near {
			continue
		}
		if rank, ok := o.scan(p, i, max(p.rank-reach, 0), min(p.rank+reach, n)); ok {
			return rank
		}
	}
	division := o.divisionOf(i)
	first, end := o.beforeDivision(division), o.beforeDivision(division+1)
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

// divisionOf returns the division that contains the i-th record of the result. Most results are
// spread evenly, so that it counts the records before two divisions.
func (o *sortedResult) divisionOf(i int) int {
	startsBefore := func(division int) bool { return o.matches.countBefore(division) <= i }
	guess := i * LeadingSets / o.total
	for step := 1; !startsBefore(guess); step *= 2 {
		guess = max(guess-step, 0)
	}
	return lastIndex(guess, LeadingSets-1, startsBefore)
}

// scan searches for the rank of the i-th record of the result, from a position and within [from,
// to).
func (o *sortedResult) scan(p rankCount, i, from, to int) (rank int, ok bool) {
	for p.count <= i && p.rank < to {
		rank := o.matches.next(p.rank, to)
		if rank == to {
			return 0, false
		}
		if p.count == i {
			o.known = rankCount{rank, i}
			return rank, true
		}
		p = rankCount{rank + 1, p.count + 1}
	}
	for p.count > i {
		p.rank = o.matches.last(from, p.rank)
		if p.rank < from {
			return 0, false
		}
		p.count--
		if p.count == i {
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
	division := sort.Search(LeadingSets, func(j int) bool { return o.bound(j+1) > rank })
	if rank-o.bound(division) > o.bound(division+1)-rank {
		division++
	}
	p := o.known
	if distance := rank - o.bound(division); max(distance, -distance) < max(rank-p.rank, p.rank-rank) {
		p = o.beforeDivision(division)
	}
	o.known = rankCount{rank, p.count + o.matches.count(p.rank, rank) - o.matches.count(rank, p.rank)}
	return o.known.count
}

// beforeDivision returns the position before a division of the sorted rows.
func (o *sortedResult) beforeDivision(division int) rankCount {
	return rankCount{o.bound(division), o.matches.countBefore(division)}
}
