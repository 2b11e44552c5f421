package segment

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
)

// mark is a rank and the number of records of a result below it.
type mark struct{ rank, count int }

// scanRank returns the rank of the i-th record of the result. It scans the sorted rows from a known mark if one is
// near, or else from the bound of the part that contains the rank.
func (o *sortedResult) scanRank(i int) (int, error) {
	const near = 512 // a mark is near if one in so many records of the result is between; twice as many ranks are scanned
	n := o.sorted.len()
	reach := 2 * n / near
	for _, m := range [...]mark{o.known, {}, {n, o.total}} {
		if ahead := i - m.count; max(ahead, -ahead) > o.total/near {
			continue
		}
		if rank, ok := o.scan(m, i, max(m.rank-reach, 0), min(m.rank+reach, n)); ok {
			return rank, nil
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
	rank, ok := o.scan(m, i, o.bounds[j], o.bounds[j+1])
	if !ok {
		return 0, fmt.Errorf("%w: field %q has two records with the same rank", ErrCorrupt, o.field.Name)
	}
	return rank, nil
}

// appendScanned appends the records at the given positions of the result. There must be at least one.
func (o *sortedResult) appendScanned(records []uint32, from, to int) ([]uint32, error) {
	n := o.sorted.len()
	maxGap := n / (2 * prefixSets) // ranks without a match, after which counting may be faster
	for from < to {
		rank, err := o.scanRank(from)
		if err != nil {
			return nil, err
		}
		for end := rank; rank <= end && rank < n && from < to; rank++ {
			if rec := o.sorted.at(rank); o.has(rec) {
				records, end = append(records, rec), rank+maxGap
				from++
			}
		}
		o.known = mark{rank, from}
	}
	return records, nil
}

// scan searches for the rank of the i-th record of the result, from a mark and within [from, to).
func (o *sortedResult) scan(m mark, i, from, to int) (rank int, ok bool) {
	for ; m.count <= i && m.rank < to; m.rank++ {
		if !o.has(o.sorted.at(m.rank)) {
			continue
		}
		if m.count == i {
			o.known = m
			return m.rank, true
		}
		m.count++
	}
	for m.count > i && m.rank > from {
		m.rank--
		if !o.has(o.sorted.at(m.rank)) {
			continue
		}
		if m.count--; m.count == i {
			o.known = m
			return m.rank, true
		}
	}
	return 0, false
}

// scanBelow returns the number of records of the result below a rank, counted from the nearest mark.
func (o *sortedResult) scanBelow(rank int) (int, error) {
	j := o.part(rank)
	if rank-o.bounds[j] > o.bounds[j+1]-rank {
		j++
	}
	m := o.known
	if away := rank - o.bounds[j]; max(away, -away) < max(rank-m.rank, m.rank-rank) {
		n, err := o.count(j)
		if err != nil {
			return 0, err
		}
		m = mark{o.bounds[j], n}
	}
	for ; m.rank < rank; m.rank++ {
		if o.has(o.sorted.at(m.rank)) {
			m.count++
		}
	}
	for m.rank > rank {
		m.rank--
		if o.has(o.sorted.at(m.rank)) {
			m.count--
		}
	}
	o.known = m
	return m.count, nil
}

// has reports whether a record is in the result. Set lookups are slow and the conversion to bits takes some time, so it
// converts once lookups have taken as long.
func (o *sortedResult) has(record uint32) bool {
	o.steps.add(1)
	if o.dense != nil {
		return o.dense.has(record)
	}
	const asks = 2048 // a lookup takes as long as converting so many records to bits
	if o.lookups++; o.lookups > o.sorted.len()/asks {
		o.dense = o.r.dense(o.set)
	}
	return o.set.Contains(record)
}

// release returns the bits to the pool.
func (o *sortedResult) release() {
	if o.dense != nil {
		o.r.bitsets.Put(new(o.dense))
		o.dense = nil
	}
}

// dense returns a set as bits from the pool.
func (r *Reader) dense(set *roaring.Bitmap) bitset {
	room, _ := r.bitsets.Get().(*bitset)
	if room == nil {
		room = new(newBitset(r.Len()))
	}
	clear(*room)
	set.WriteDenseTo(*room)
	return *room
}
