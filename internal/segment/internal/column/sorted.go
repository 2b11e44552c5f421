package column

import (
	"sort"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
)

// sortedResult locates the records of one result in the sorted rows of a field. Small results are marked in them. For
// larger ones, intersections with the prefix sets count the records in parts of the sorted rows, which are then scanned.
type sortedResult struct {
	*Column
	steps  *guard.Steps
	set    *bitmap.Set // nil means all records
	total  int
	marks  bitmap.Bits         // ranks of the result if it is small; else nil
	dense  bitmap.Bits         // records of the result if it is not small; else nil
	bounds [PrefixSets + 1]int // first rank of each part of the sorted rows
	below  [PrefixSets + 1]int // number of records of the result with a rank below bounds[j]; -1 if not counted yet
	known  position            // last located record
}

// position is a rank and the number of records of a result below it.
type position struct{ rank, count int }

// markedShare is the maximum share of the records, one in so many, for which every record of a result is marked. Below
// it, this is faster than a few intersections with prefix sets.
const markedShare = 128

// CountBelow returns the number of records of a set, nil for all, whose sort key is less than the given one.
func (c *Column) CountBelow(st *guard.Steps, set *bitmap.Set, key string) int {
	o := newSortedResult(st, c, set, false)
	defer o.release()
	return o.countBelow(int(c.runs.At(c.firstRun(key))))
}

// newSortedResult locates the records of a set; nil means all. If mark is set, even a large result is marked.
func newSortedResult(st *guard.Steps, c *Column, set *bitmap.Set, mark bool) sortedResult {
	o := sortedResult{Column: c, steps: st, set: set, total: c.sorted.Len()}
	for j := range o.below {
		o.below[j], o.bounds[j] = -1, c.bound(j)
	}
	o.below[0] = 0
	if set == nil {
		return o
	}
	if o.total = set.Len(); mark || o.total <= c.sorted.Len()/markedShare {
		o.marks = c.pool.Get()
		c.markRanks(st, set, o.marks)
	} else {
		o.dense = set.Dense(st)
	}
	o.below[PrefixSets] = o.total
	return o
}

// release recycles memory.
func (o *sortedResult) release() { o.pool.Put(o.marks) }

// appendAscending appends the records at positions [from, to) of the result in ascending order.
func (o *sortedResult) appendAscending(records []uint32, from, to int) []uint32 {
	if o.set == nil && from < to {
		return o.sorted.Slice(from, to).AppendTo(records)
	}
	maxGap := o.sorted.Len() / (2 * PrefixSets) // ranks without a match, after which locating the next may be faster
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

// rank returns the rank of the i-th record of the result. It scans the sorted rows from a known position if one is near,
// or else from a bound of the part that contains the rank.
func (o *sortedResult) rank(i int) int {
	const share = 512 // a position is near if one in so many records of the result is between; twice as many ranks are scanned
	if o.set == nil {
		return i
	}
	n := o.sorted.Len()
	near, reach := o.total/share, 2*n/share
	if o.marks != nil { // scanning is fast
		near, reach = PrefixSets, n
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
	p := position{o.bounds[j], o.below[j]}
	if i-o.below[j] > o.below[j+1]-i {
		p = position{o.bounds[j+1], o.below[j+1]}
	}
	rank, ok := o.scan(p, i, o.bounds[j], o.bounds[j+1])
	if !ok {
		guard.Corrupt("field %q has two records with the same rank", o.Field.Name)
	}
	return rank
}

// scan searches for the rank of the i-th record of the result, from a position and within [from, to).
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

// countBelow returns the number of records of the result with a lower rank, counted from the nearest known position.
func (o *sortedResult) countBelow(rank int) int {
	if o.set == nil || rank == 0 {
		return rank
	}
	if rank == o.sorted.Len() {
		return o.total
	}
	j := sort.Search(PrefixSets, func(j int) bool { return o.bounds[j+1] > rank })
	if rank-o.bounds[j] > o.bounds[j+1]-rank {
		j++
	}
	p := o.known
	if distance := rank - o.bounds[j]; max(distance, -distance) < max(rank-p.rank, p.rank-rank) {
		p = position{o.bounds[j], o.countPart(j)}
	}
	o.known = position{rank, p.count + o.count(p.rank, rank) - o.count(rank, p.rank)}
	return o.known.count
}

// partOf returns the part of the sorted rows that contains the i-th record of the result. The counts below it and below
// the next part are known afterwards. Most results are evenly distributed, so it interpolates first and then bisects.
func (o *sortedResult) partOf(i int) int {
	const guesses = 3
	low, high := 0, PrefixSets // below[low] <= i < below[high]
	for tries := 0; high-low > 1; tries++ {
		mid := (low + high) / 2
		if below, above := o.below[low], o.below[high]; tries < guesses && below < above {
			mid = min(max(low+(high-low)*(i-below)/(above-below), low+1), high-1)
		}
		if o.countPart(mid) <= i {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// countPart returns the number of records of the result with a rank below bounds[j].
func (o *sortedResult) countPart(j int) int {
	switch {
	case o.below[j] >= 0:
	case o.marks != nil:
		o.below[j] = o.marks.Count(0, o.bounds[j])
	default:
		o.below[j] = o.prefix.Set(j-1).CountIn(o.steps, o.dense)
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

// has reports whether the record at a rank is in a larger result.
func (o *sortedResult) has(rank int) bool {
	o.steps.Add(1)
	return o.dense.Has(o.sorted.At(rank))
}
