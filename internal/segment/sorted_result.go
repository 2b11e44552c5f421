package segment

import (
	"fmt"
	"math/bits"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"
)

// sortedResult locates the records of one result in the sorted rows of a field.
type sortedResult struct {
	*column
	steps   *steps
	set     *roaring.Bitmap // nil means all records
	total   int
	sparse  []uint32            // ranks of the result, unordered, if it is small enough to examine every record
	bounds  [prefixSets + 1]int // first rank of each part of the sorted rows
	below   [prefixSets + 1]int // number of records of the result with a rank below bounds[j]; -1 if not counted yet
	windows map[int]*window

	// For larger results:
	known   mark   // last located rank
	dense   bitset // the result as bits; nil until there are many lookups
	lookups int    // number of lookups
}

// sparseShare is the maximum share of the records, one in so many, for which every record of a result is examined.
// Below it, this is faster than a few intersections with prefix sets.
const sparseShare = 128

// window is the part of a result within one part of the sorted rows, as one bit per rank.
type window struct {
	from int // first rank
	bits []uint64
}

func newSortedResult(st *steps, c *column, set *roaring.Bitmap) *sortedResult {
	o := &sortedResult{column: c, steps: st, set: set, total: c.sorted.len()}
	if set != nil {
		o.total = int(set.GetCardinality())
	}
	for j := range o.below {
		o.below[j], o.bounds[j] = -1, c.bound(j)
	}
	if set != nil && o.total <= c.sorted.len()/sparseShare {
		o.collectRanks()
	}
	return o
}

// collectRanks collects the ranks of all records of the result and counts them by part of the sorted rows.
func (o *sortedResult) collectRanks() {
	o.windows = map[int]*window{}
	o.sparse = make([]uint32, 0, o.total)
	each(o.steps, o.set, func(records []uint32) {
		for _, rec := range records {
			o.sparse = append(o.sparse, o.ranks.at(int(rec)))
		}
	})
	var parts [prefixSets + 1]int
	partsPerRank := uint64(prefixSets) << 32 / uint64(o.sorted.len()) // parts per rank, in units of 2^-32
	for _, p := range o.sparse {
		o.steps.add(1)
		j := int(uint64(p) * partsPerRank >> 32)
		for o.bounds[j+1] <= int(p) { // rounding can be off by one
			j++
		}
		parts[j]++
	}
	o.below[0] = 0
	for j := range prefixSets {
		o.below[j+1] = o.below[j] + parts[j]
	}
}

// part returns the part of the sorted rows that contains a rank.
func (o *sortedResult) part(rank int) int {
	return sort.Search(prefixSets, func(j int) bool { return o.bounds[j+1] > rank })
}

// page returns the records of the result at positions [from, to) in the field's order. In descending order, the runs
// are in reverse order, each of them ascending, and the records without a value are last.
func (o *sortedResult) page(from, to int, desc bool) (records []uint32, err error) {
	defer o.release()
	to = min(to, o.total)
	if !desc {
		return o.appendAscending(nil, from, to)
	}
	withValue, err := o.countBelow(o.values())
	if err != nil {
		return nil, err
	}
	for at := from; at < min(to, withValue); {
		// The record at this position from the end determines the run; its matches are a..b of the ascending result.
		rank, err := o.rank(withValue - 1 - at)
		if err != nil {
			return nil, err
		}
		first, end := o.run(o.runAt(rank))
		a, err := o.countBelow(first)
		if err != nil {
			return nil, err
		}
		b, err := o.countBelow(end)
		if err != nil {
			return nil, err
		}
		skip := at - (withValue - b)
		take := min(b-a-skip, min(to, withValue)-at)
		if take <= 0 {
			return nil, fmt.Errorf("%w: field %q has a record in no value run", ErrCorrupt, o.field.Name)
		}
		if records, err = o.appendAscending(records, a+skip, a+skip+take); err != nil {
			return nil, err
		}
		at += take
	}
	return o.appendAscending(records, max(from, withValue), to)
}

// appendAscending appends the records at the given positions of the result in ascending order.
func (o *sortedResult) appendAscending(records []uint32, from, to int) ([]uint32, error) {
	if from >= to {
		return records, nil
	}
	if o.set == nil {
		return o.sorted.slice(from, to).appendTo(records), nil
	}
	if o.sparse == nil {
		return o.appendScanned(records, from, to)
	}
	for from < to {
		j, err := o.partOf(from)
		if err != nil {
			return nil, err
		}
		w := o.window(j)
		end := min(to, o.below[j]+w.count())
		if end <= from {
			return nil, fmt.Errorf("%w: field %q has two records with the same rank", ErrCorrupt, o.field.Name)
		}
		for rank := range w.selected(from-o.below[j], end-o.below[j]) {
			records = append(records, o.sorted.at(rank))
		}
		from = end
	}
	return records, nil
}

// rank returns the rank of the i-th record of the result.
func (o *sortedResult) rank(i int) (int, error) {
	if o.set == nil {
		return i, nil
	}
	if o.sparse == nil {
		return o.scanRank(i)
	}
	j, err := o.partOf(i)
	if err != nil {
		return 0, err
	}
	w := o.window(j)
	for rank := range w.selected(i-o.below[j], i-o.below[j]+1) {
		return rank, nil
	}
	return 0, fmt.Errorf("%w: field %q has two records with the same rank", ErrCorrupt, o.field.Name)
}

// countBelow returns the number of records of the result with a lower rank.
func (o *sortedResult) countBelow(rank int) (int, error) {
	if o.set == nil || rank == 0 {
		return rank, nil
	}
	if rank == o.sorted.len() {
		return o.total, nil
	}
	if o.sparse == nil {
		return o.scanBelow(rank)
	}
	j := o.part(rank)
	return o.below[j] + o.window(j).countBelow(rank), nil
}

// partOf returns the part of the sorted rows that contains the i-th record of the result. The counts below it and below
// the next part are known afterwards. Most results are evenly distributed, so it interpolates first and then bisects.
func (o *sortedResult) partOf(i int) (int, error) {
	const guesses = 3
	low, high := 0, prefixSets // count(low) <= i < count(high)
	o.below[low], o.below[high] = 0, o.total
	for tries := 0; high-low > 1; tries++ {
		mid := (low + high) / 2
		if below, above := o.below[low], o.below[high]; tries < guesses && below < above {
			mid = min(max(low+(high-low)*(i-below)/(above-below), low+1), high-1)
		}
		n, err := o.count(mid)
		if err != nil {
			return 0, err
		}
		if n <= i {
			low = mid
		} else {
			high = mid
		}
	}
	return low, nil
}

// count returns the number of records of the result with a rank below bound(j).
func (o *sortedResult) count(j int) (int, error) {
	switch {
	case o.below[j] >= 0:
	case j == 0:
		o.below[j] = 0
	case j == prefixSets:
		o.below[j] = o.total
	default:
		o.steps.check() // an intersection reads one bit per record
		first, err := o.prefixSet(j)
		if err != nil {
			return 0, err
		}
		o.below[j] = int(o.set.AndCardinality(first))
	}
	return o.below[j], nil
}

// window returns the part of a small result within part j of the sorted rows.
func (o *sortedResult) window(j int) *window {
	if w := o.windows[j]; w != nil {
		return w
	}
	from, to := o.bounds[j], o.bounds[j+1]
	w := &window{from: from, bits: make([]uint64, (to-from+63)/64)}
	o.windows[j] = w
	for _, rank := range o.sparse {
		o.steps.add(1)
		if p := int(rank) - from; p >= 0 && p < to-from {
			w.bits[p/64] |= 1 << (p % 64)
		}
	}
	return w
}

func (w *window) count() int {
	n := 0
	for _, b := range w.bits {
		n += bits.OnesCount64(b)
	}
	return n
}

// countBelow returns the number of bits set below a rank.
func (w *window) countBelow(rank int) int {
	n, p := 0, rank-w.from
	for _, b := range w.bits[:p/64] {
		n += bits.OnesCount64(b)
	}
	if p%64 > 0 {
		n += bits.OnesCount64(w.bits[p/64] << (64 - p%64))
	}
	return n
}

// selected yields the ranks of the set bits at positions [from, to), counted from 0.
func (w *window) selected(from, to int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		seen := 0
		for i, b := range w.bits {
			n := bits.OnesCount64(b)
			if seen+n <= from {
				seen += n
				continue
			}
			for ; b != 0; b &= b - 1 {
				if seen >= from && (seen >= to || !yield(w.from+64*i+bits.TrailingZeros64(b))) {
					return
				}
				seen++
			}
			if seen >= to {
				return
			}
		}
	}
}

// each calls f for all members of a set, a few hundred at a time.
func each(st *steps, set *roaring.Bitmap, f func(records []uint32)) {
	var buf [512]uint32
	for it := set.ManyIterator(); ; {
		n := it.NextMany(buf[:])
		if n == 0 {
			return
		}
		st.add(n)
		f(buf[:n])
	}
}
