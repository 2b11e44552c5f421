package segment

import (
	"fmt"
	"math/bits"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"
)

// ordered finds places in the order of a field for the records of one answer.
type ordered struct {
	*column
	steps   *steps
	set     *roaring.Bitmap // nil: every record
	total   int
	sparse  []uint32            // the places of the answer, in no order, if it is small enough to look at each
	bounds  [prefixSets + 1]int // of the parts of the order
	below   [prefixSets + 1]int // how many of the answer are among the first bounds[j]; -1: not counted yet
	windows map[int]*window

	// If it is not small enough:
	known mark   // of the last place that was found
	dense bitset // the answer as bits; nil: it was not asked for often
	asked int    // times
}

// sparseShare is the share of the records, one in so many, up to which an answer is looked at record by record: below it
// that takes less time than a few intersections with prefix sets.
const sparseShare = 128

// window is the part of an answer within one part of the order: a bit for each place.
type window struct {
	from int // first place
	bits []uint64
}

func newOrdered(st *steps, c *column, set *roaring.Bitmap) *ordered {
	o := &ordered{column: c, steps: st, set: set, total: c.order.len()}
	if set != nil {
		o.total = int(set.GetCardinality())
	}
	for j := range o.below {
		o.below[j], o.bounds[j] = -1, c.bound(j)
	}
	if set != nil && o.total <= c.order.len()/sparseShare {
		o.lookAtEach()
	}
	return o
}

// lookAtEach finds the places of all records of the answer and counts them by parts of the order.
func (o *ordered) lookAtEach() {
	o.windows = map[int]*window{}
	o.sparse = make([]uint32, 0, o.total)
	each(o.steps, o.set, func(records []uint32) {
		for _, rec := range records {
			o.sparse = append(o.sparse, o.places.at(int(rec)))
		}
	})
	var parts [prefixSets + 1]int
	perPlace := uint64(prefixSets) << 32 / uint64(o.order.len()) // parts, in units of 2^-32
	for _, p := range o.sparse {
		o.steps.add(1)
		j := int(uint64(p) * perPlace >> 32)
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

// part returns the part of the order that a place belongs to.
func (o *ordered) part(place int) int {
	return sort.Search(prefixSets, func(j int) bool { return o.bounds[j+1] > place })
}

// page returns the records from up to to of the answer in the field's order. Descending, the runs come from the end, each
// of them forwards, and the records without a value last.
func (o *ordered) page(from, to int, desc bool) (records []uint32, err error) {
	defer o.release()
	to = min(to, o.total)
	if !desc {
		return o.ascending(nil, from, to)
	}
	withValue, err := o.countBelow(o.values())
	if err != nil {
		return nil, err
	}
	for at := from; at < min(to, withValue); {
		// The record at this place from the end tells the run; its matches are a..b of the ascending answer.
		place, err := o.place(withValue - 1 - at)
		if err != nil {
			return nil, err
		}
		first, end := o.run(o.runAt(place))
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
			return nil, fmt.Errorf("%w: field %q has a record in no run", ErrCorrupt, o.field.Name)
		}
		if records, err = o.ascending(records, a+skip, a+skip+take); err != nil {
			return nil, err
		}
		at += take
	}
	return o.ascending(records, max(from, withValue), to)
}

// ascending appends the records at the given positions of the answer in ascending order.
func (o *ordered) ascending(records []uint32, from, to int) ([]uint32, error) {
	if from >= to {
		return records, nil
	}
	if o.set == nil {
		return o.order.slice(from, to).appendTo(records), nil
	}
	if o.sparse == nil {
		return o.scanned(records, from, to)
	}
	for from < to {
		j, err := o.partOf(from)
		if err != nil {
			return nil, err
		}
		w := o.window(j)
		end := min(to, o.below[j]+w.count())
		if end <= from {
			return nil, fmt.Errorf("%w: field %q has two records in one place", ErrCorrupt, o.field.Name)
		}
		for place := range w.selected(from-o.below[j], end-o.below[j]) {
			records = append(records, o.order.at(place))
		}
		from = end
	}
	return records, nil
}

// place returns the place in the order of the i-th record of the answer.
func (o *ordered) place(i int) (int, error) {
	if o.set == nil {
		return i, nil
	}
	if o.sparse == nil {
		return o.scanPlace(i)
	}
	j, err := o.partOf(i)
	if err != nil {
		return 0, err
	}
	w := o.window(j)
	for place := range w.selected(i-o.below[j], i-o.below[j]+1) {
		return place, nil
	}
	return 0, fmt.Errorf("%w: field %q has two records in one place", ErrCorrupt, o.field.Name)
}

// countBelow returns how many records of the answer are among the first places of the order.
func (o *ordered) countBelow(place int) (int, error) {
	if o.set == nil || place == 0 {
		return place, nil
	}
	if place == o.order.len() {
		return o.total, nil
	}
	if o.sparse == nil {
		return o.scanBelow(place)
	}
	j := o.part(place)
	return o.below[j] + o.window(j).countBelow(place), nil
}

// partOf returns the part of the order in which the i-th record of the answer is. Both it and the next are counted then.
// Most answers are spread evenly over an order, so it guesses first; for those that are not, it halves.
func (o *ordered) partOf(i int) (int, error) {
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

// count returns how many records of the answer are among the first bound(j) of the order.
func (o *ordered) count(j int) (int, error) {
	switch {
	case o.below[j] >= 0:
	case j == 0:
		o.below[j] = 0
	case j == prefixSets:
		o.below[j] = o.total
	default:
		o.steps.check() // an intersection reads a bit for each record
		first, err := o.first(j)
		if err != nil {
			return 0, err
		}
		o.below[j] = int(o.set.AndCardinality(first))
	}
	return o.below[j], nil
}

// window returns the part of a small answer within part j of the order.
func (o *ordered) window(j int) *window {
	if w := o.windows[j]; w != nil {
		return w
	}
	from, to := o.bounds[j], o.bounds[j+1]
	w := &window{from: from, bits: make([]uint64, (to-from+63)/64)}
	o.windows[j] = w
	for _, place := range o.sparse {
		o.steps.add(1)
		if p := int(place) - from; p >= 0 && p < to-from {
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

// countBelow returns how many bits are set before a place.
func (w *window) countBelow(place int) int {
	n, p := 0, place-w.from
	for _, b := range w.bits[:p/64] {
		n += bits.OnesCount64(b)
	}
	if p%64 > 0 {
		n += bits.OnesCount64(w.bits[p/64] << (64 - p%64))
	}
	return n
}

// selected yields the places of the set bits from up to to, counted from 0.
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

// each calls f with all members of a set, a few hundred at a time.
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
