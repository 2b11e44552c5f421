package build

import (
	"bytes"
	"cmp"
	"slices"
)

// order returns the numbers of the names, sorted by name, equal names by number. finish must be
// called before. The order is incomplete if the build is canceled.
func (d *dictionary) order(tmp *tempDir) []uint32 {
	order, spare := newTable[uint32](d.tables, d.count), newTable[uint32](d.tables, d.count)
	for id := range order {
		order[id] = uint32(id)
	}
	d.sort(tmp, order, spare, 0)
	freeTable(d.tables, spare)
	return order
}

// Limits of the distribution of names by their bytes.
const (
	maxCompared = 4_096 // up to this number, names fit into the cache and are sorted by comparison
	// steps that leave most names together, after which they are sorted by comparison: long names
	// are few
	maxUneven = 64
)

// sort sorts the numbers of names that share their first bytes. It distributes the names by the
// next byte, and each group again, until groups are small. So it reads each byte a few times only,
// which matters because names are all over the memory. It returns early if the build is canceled.
func (d *dictionary) sort(tmp *tempDir, order, spare []uint32, shared int) {
	for uneven := 0; len(order) > maxCompared && uneven < maxUneven; {
		if tmp.err() != nil {
			return
		}
		shared = d.sharedPrefix(order, shared)
		next := func(id uint32) int { // names that end here come first
			if name := d.name(id); shared < len(name) {
				return 1 + int(name[shared])
			}
			return 0
		}
		var ends [1 + 256]int
		for _, id := range order {
			ends[next(id)]++
		}
		largest, start := 0, 0
		for i, n := range ends {
			if n > ends[largest] {
				largest = i
			}
		}
		if ends[largest] > len(order)/2 {
			uneven++
		}
		for i, n := range ends {
			ends[i], start = start, start+n
		}
		for _, id := range order {
			at := next(id)
			spare[ends[at]] = id
			ends[at]++
		}
		copy(order, spare)
		shared++
		for i := 1; i < len(ends); i++ {
			if i != largest {
				d.sort(tmp, order[ends[i-1]:ends[i]], spare[ends[i-1]:ends[i]], shared)
			}
		}
		if largest == 0 { // equal names are still in the order of their numbers
			return
		}
		from, to := ends[largest-1], ends[largest] // not a call: the stack would grow with the names
		order, spare = order[from:to], spare[from:to]
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(bytes.Compare(d.name(a)[shared:], d.name(b)[shared:]), cmp.Compare(a, b))
	})
}

// sharedPrefix returns the length of the longest common prefix of names that share their first
// bytes.
func (d *dictionary) sharedPrefix(order []uint32, shared int) int {
	first := d.name(order[0])[shared:]
	for _, id := range order {
		first = first[:commonPrefix(first, d.name(id)[shared:])]
		if len(first) == 0 {
			break
		}
	}
	return shared + len(first)
}
