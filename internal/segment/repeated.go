package segment

import (
	"encoding/binary"

	"github.com/RoaringBitmap/roaring/v2"
)

// repeated are the records in which a clause may stand more than once, in the order of their numbers, and for each clause
// how often it stands in each of them.
type repeated struct {
	set     *roaring.Bitmap
	records []uint32
	lengths []uint32
	counts  [][]byte // manyTimes: that often or more
}

func (v *relevance) moreThanOnce(set *roaring.Bitmap) (repeated, error) {
	all, numbered, members := make([]*roaring.Bitmap, len(v.clauses)), true, int(set.GetCardinality())
	for i := range v.clauses {
		c := &v.clauses[i]
		again, err := v.again(c)
		if err != nil {
			return repeated{}, err
		}
		all[i], numbered = again, numbered && c.in != nil
		members += int(again.GetCardinality())
	}
	if numbered && members < v.records/(containerMembers/mostInArray) {
		return v.repeatedOf(set, all), nil // arrays are gone through faster than roaring intersects them
	}
	for i, again := range all {
		v.steps.check()
		all[i] = roaring.And(again, set)
	}
	more := repeated{set: roaring.FastOr(all...)}
	more.records = more.set.ToArray()
	for i := range v.clauses {
		counts, err := v.counts(&v.clauses[i], len(v.clauses) == 1, more.records)
		if err != nil {
			return repeated{}, err
		}
		more.counts = append(more.counts, counts)
	}
	v.measure(&more)
	return more, nil
}

// measure finds the lengths of the records.
func (v *relevance) measure(more *repeated) {
	more.lengths = make([]uint32, len(more.records))
	for i, rec := range more.records {
		v.steps.add(1)
		more.lengths[i] = v.lengths.at(int(rec))
	}
}

// repeatedOf is moreThanOnce for few records and clauses with numbers, given the records in which each stands more than once. It
// takes one container of the set after the other, and goes through those of each clause beside it.
func (v *relevance) repeatedOf(set *roaring.Bitmap, all []*roaring.Bitmap) repeated {
	var more repeated
	found := make([]foundAgain, len(v.clauses))
	for i := range v.clauses {
		c := &v.clauses[i]
		found[i] = foundAgain{sets: openContainers(c.in.twice.bytes(c.term)), counts: c.in.twice.behind(c.term, all[i])}
	}
	more.counts = make([][]byte, len(found))
	for records := set.ToArray(); len(records) > 0; {
		var wanted, hit [bitmapWords]uint64
		v.steps.check() // a container has up to 65,536 records
		key, n := records[0]&^(containerMembers-1), 0
		for ; n < len(records) && records[n]&^(containerMembers-1) == key; n++ {
			low := records[n] % containerMembers
			wanted[low/64] |= 1 << (low % 64)
		}
		for i := range found {
			found[i].collect(v.steps, key, &wanted, &hit)
		}
		for _, rec := range records[:n] {
			if low := rec % containerMembers; hit[low/64]>>(low%64)&1 == 1 {
				more.records = append(more.records, rec)
				for i := range found {
					more.counts[i] = append(more.counts[i], found[i].take(rec))
				}
			}
		}
		records = records[n:]
	}
	more.set = roaring.BitmapOf(more.records...)
	v.measure(&more)
	return more
}

// foundAgain is what a clause has in the records that are looked for.
type foundAgain struct {
	sets    containers // those that are still to come
	counts  []byte     // of their members
	records []uint32   // that were collected
	times   []byte     // of each of them
	taken   int        // so many of them
}

// collect notes those records of a container in which the clause stands more than once, and marks them.
func (f *foundAgain) collect(st *steps, key uint32, wanted, hit *[bitmapWords]uint64) {
	f.records, f.times, f.taken = f.records[:0], f.times[:0], 0
	for c, ok := f.sets.next(uint64(key) + containerMembers); ok; c, ok = f.sets.next(uint64(key) + containerMembers) {
		st.add(1 + c.count)
		counts := f.counts[:c.count]
		f.counts = f.counts[c.count:]
		if c.key != key {
			continue
		}
		if c.kind == arrayContainer {
			for i := range counts {
				low := binary.LittleEndian.Uint16(c.data[2*i:])
				if wanted[low/64]>>(low%64)&1 == 1 {
					f.note(key, low, counts[i], hit)
				}
			}
			continue
		}
		i := 0
		c.members(func(rec uint32) {
			if low := uint16(rec); wanted[low/64]>>(low%64)&1 == 1 {
				f.note(key, low, counts[i], hit)
			}
			i++
		})
	}
}

func (f *foundAgain) note(key uint32, low uint16, times byte, hit *[bitmapWords]uint64) {
	hit[low/64] |= 1 << (low % 64)
	f.records, f.times = append(f.records, key|uint32(low)), append(f.times, times)
}

// take returns how often the clause stands in the next of the records that were marked, for this clause or another.
func (f *foundAgain) take(record uint32) byte {
	if f.taken == len(f.records) || f.records[f.taken] != record {
		return 1
	}
	f.taken++
	return f.times[f.taken-1]
}
