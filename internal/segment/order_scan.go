package segment

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
)

// mark is a place in an order and how many records of an answer stand before it.
type mark struct{ place, count int }

// scanPlace returns the place of the i-th record of the answer. It goes through the order from a mark that is known to be
// near, or else from the border of the part of the order that has it.
func (o *ordered) scanPlace(i int) (int, error) {
	const near = 512 // a mark is, from which one in so many of the answer lie between; twice as many places are gone through
	n := o.order.len()
	reach := 2 * n / near
	for _, m := range [...]mark{o.known, {}, {n, o.total}} {
		if ahead := i - m.count; max(ahead, -ahead) > o.total/near {
			continue
		}
		if place, ok := o.scan(m, i, max(m.place-reach, 0), min(m.place+reach, n)); ok {
			return place, nil
		}
	}
	j, err := o.partOf(i)
	if err != nil {
		return 0, err
	}
	m := mark{o.bounds[j], o.below[j]}
	if i-o.below[j] > o.below[j+1]-i {
		m = mark{o.bounds[j+1], o.below[j+1]}
	}
	place, ok := o.scan(m, i, o.bounds[j], o.bounds[j+1])
	if !ok {
		return 0, fmt.Errorf("%w: field %q has two records in one place", ErrCorrupt, o.field.Name)
	}
	return place, nil
}

// scanned appends the records at the given positions of the answer, of which there is at least one.
func (o *ordered) scanned(records []uint32, from, to int) ([]uint32, error) {
	n := o.order.len()
	patience := n / (2 * prefixSets) // places without a record of the answer; then it may be faster to count
	for from < to {
		place, err := o.scanPlace(from)
		if err != nil {
			return nil, err
		}
		for end := place; place <= end && place < n && from < to; place++ {
			if rec := o.order.at(place); o.has(rec) {
				records, end = append(records, rec), place+patience
				from++
			}
		}
		o.known = mark{place, from}
	}
	return records, nil
}

// scan looks for the place of the i-th record of the answer, from a mark on, between two places.
func (o *ordered) scan(m mark, i, from, to int) (place int, ok bool) {
	for ; m.count <= i && m.place < to; m.place++ {
		if !o.has(o.order.at(m.place)) {
			continue
		}
		if m.count == i {
			o.known = m
			return m.place, true
		}
		m.count++
	}
	for m.count > i && m.place > from {
		m.place--
		if !o.has(o.order.at(m.place)) {
			continue
		}
		if m.count--; m.count == i {
			o.known = m
			return m.place, true
		}
	}
	return 0, false
}

// scanBelow returns how many records of the answer are among the first places of the order, counted from the nearest mark.
func (o *ordered) scanBelow(place int) (int, error) {
	j := o.part(place)
	if place-o.bounds[j] > o.bounds[j+1]-place {
		j++
	}
	m := o.known
	if away := place - o.bounds[j]; max(away, -away) < max(place-m.place, m.place-place) {
		n, err := o.count(j)
		if err != nil {
			return 0, err
		}
		m = mark{o.bounds[j], n}
	}
	for ; m.place < place; m.place++ {
		if o.has(o.order.at(m.place)) {
			m.count++
		}
	}
	for m.place > place {
		m.place--
		if o.has(o.order.at(m.place)) {
			m.count--
		}
	}
	o.known = m
	return m.count, nil
}

// has reports whether a record is in the answer. A set is slow to ask, and to make bits of it takes some time; that is
// spent as soon as asking has taken as long.
func (o *ordered) has(record uint32) bool {
	o.steps.add(1)
	if o.dense != nil {
		return o.dense.has(record)
	}
	const asks = 2048 // one question takes as long as making the bits of so many records
	if o.asked++; o.asked > o.order.len()/asks {
		o.dense = o.r.dense(o.set)
	}
	return o.set.Contains(record)
}

// release gives back the memory for the bits.
func (o *ordered) release() {
	if o.dense != nil {
		o.r.bitsets.Put(new(o.dense))
		o.dense = nil
	}
}

// dense returns a set as bits, to be given back.
func (r *Reader) dense(set *roaring.Bitmap) bitset {
	room, _ := r.bitsets.Get().(*bitset)
	if room == nil {
		room = new(newBitset(r.Len()))
	}
	clear(*room)
	set.WriteDenseTo(*room)
	return *room
}
