package segment

import (
	"encoding/binary"

	"github.com/RoaringBitmap/roaring/v2"
)

// frequencyTable contains the records in which a clause may occur more than once, in the order of their numbers, and
// for each clause its frequency in each of them.
type frequencyTable struct {
	set     *roaring.Bitmap
	records []uint32
	lengths []uint32
	counts  [][]byte // maxFrequency means that or more
}

func (v *relevance) frequencies(set *roaring.Bitmap) (frequencyTable, error) {
	all, numbered, members := make([]*roaring.Bitmap, len(v.clauses)), true, int(set.GetCardinality())
	for i := range v.clauses {
		c := &v.clauses[i]
		again, err := v.recordsWithRepeats(c)
		if err != nil {
			return frequencyTable{}, err
		}
		all[i], numbered = again, numbered && c.in != nil
		members += int(again.GetCardinality())
	}
	if numbered && members < v.records/(containerMembers/mostInArray) {
		return v.frequenciesOf(set, all), nil // iterating over arrays is faster than roaring intersections
	}
	for i, again := range all {
		v.steps.check()
		all[i] = roaring.And(again, set)
	}
	more := frequencyTable{set: roaring.FastOr(all...)}
	more.records = more.set.ToArray()
	for i := range v.clauses {
		counts, err := v.counts(&v.clauses[i], len(v.clauses) == 1, more.records)
		if err != nil {
			return frequencyTable{}, err
		}
		more.counts = append(more.counts, counts)
	}
	v.measure(&more)
	return more, nil
}

// measure sets the lengths of the records.
func (v *relevance) measure(more *frequencyTable) {
	more.lengths = make([]uint32, len(more.records))
	for i, rec := range more.records {
		v.steps.add(1)
		more.lengths[i] = v.lengths.at(int(rec))
	}
}

// frequenciesOf is frequencies for few records and clauses with postings, given the records in which each occurs more
// than once. It iterates over the containers of the set and of each clause in parallel.
func (v *relevance) frequenciesOf(set *roaring.Bitmap, all []*roaring.Bitmap) frequencyTable {
	var more frequencyTable
	found := make([]frequencyScan, len(v.clauses))
	for i := range v.clauses {
		c := &v.clauses[i]
		found[i] = frequencyScan{sets: openContainers(c.in.freqs.bytes(c.term)), counts: c.in.freqs.trailer(c.term, all[i])}
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
					more.counts[i] = append(more.counts[i], found[i].frequency(rec))
				}
			}
		}
		records = records[n:]
	}
	more.set = roaring.BitmapOf(more.records...)
	v.measure(&more)
	return more
}

// frequencyScan is the state of one clause while its frequencies are collected.
type frequencyScan struct {
	sets    containers // remaining containers
	counts  []byte     // frequencies of their members
	records []uint32   // collected records
	times   []byte     // their frequencies
	taken   int        // number of those consumed
}

// collect collects and marks the records of a container in which the clause occurs more than once.
func (f *frequencyScan) collect(st *steps, key uint32, wanted, hit *[bitmapWords]uint64) {
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

func (f *frequencyScan) note(key uint32, low uint16, times byte, hit *[bitmapWords]uint64) {
	hit[low/64] |= 1 << (low % 64)
	f.records, f.times = append(f.records, key|uint32(low)), append(f.times, times)
}

// frequency returns the frequency of the clause in the next marked record, which this clause or another has marked.
func (f *frequencyScan) frequency(record uint32) byte {
	if f.taken == len(f.records) || f.records[f.taken] != record {
		return 1
	}
	f.taken++
	return f.times[f.taken-1]
}
