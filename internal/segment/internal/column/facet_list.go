package column

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

// costOfElement is the cost of counting an element of a record, in the units of countsBySets.
const costOfElement = 4

// lists is the forward index of a list field: the elements of each record by their positions in sort order. Files of earlier
// programs have none.
type lists struct {
	starts  file.U32s // index of the first element of each record, and the end of the last
	encoded []byte    // positions
	size    int       // of a position; see PositionSize
}

// openLists returns the forward index of n records.
func openLists(starts file.U32s, encoded []byte, n, elements int) (lists, error) {
	l := lists{starts, encoded, PositionSize(elements)}
	if len(starts) > 0 && (starts.Len() != n+1 || len(encoded) != l.len()*l.size) {
		return l, fmt.Errorf("%w: elements of records", guard.ErrCorrupt)
	}
	return l, nil
}

// PositionSize returns the number of bytes of a position among so many elements.
func PositionSize(elements int) int {
	switch {
	case elements <= 1<<8:
		return 1
	case elements <= 1<<16:
		return 2
	default:
		return 4
	}
}

// len returns the number of elements of all records. It is 0 if there is no forward index.
func (l *lists) len() int {
	if len(l.starts) == 0 {
		return 0
	}
	return int(l.starts.At(l.starts.Len() - 1))
}

// positionsAtOnce is the number of bytes of positions after which eachPart calls its function.
const positionsAtOnce = 1 << 12

// eachPart calls f for the encoded positions of the elements of the records of a set, those of many records at a time. Copying
// them first takes half the time of a loop for each record, whose length is hard to predict.
func (l *lists) eachPart(st *guard.Steps, set *bitmap.Set, f func(positions []byte)) {
	const word = 8
	part := make([]byte, 0, 2*positionsAtOnce)
	set.Each(st, func(records []uint32) {
		for _, rec := range records {
			from, to := l.size*int(l.starts.At(int(rec))), l.size*int(l.starts.At(int(rec)+1))
			if n := len(part); to-from <= word && from+word <= len(l.encoded) { // most lists
				part = binary.LittleEndian.AppendUint64(part, binary.LittleEndian.Uint64(l.encoded[from:]))[:n+to-from]
			} else {
				part = append(part, l.encoded[from:to]...)
			}
			if len(part) >= positionsAtOnce {
				st.Add(len(part))
				f(part)
				part = part[:0]
			}
		}
	})
	f(part)
}

// at returns an encoded position.
func (l *lists) at(positions []byte, i int) uint32 {
	switch l.size {
	case 1:
		return uint32(positions[i])
	case 2:
		return uint32(binary.LittleEndian.Uint16(positions[2*i:]))
	default:
		return binary.LittleEndian.Uint32(positions[4*i:])
	}
}

// count adds delta to the count of each element of the records of a set.
func (l *lists) count(st *guard.Steps, set *bitmap.Set, counts []uint32, delta uint32) {
	l.eachPart(st, set, func(positions []byte) {
		for i := range len(positions) / l.size {
			counts[l.at(positions, i)] += delta
		}
	})
}

// sorted returns the positions of the elements of the records of a set in ascending order.
func (l *lists) sorted(st *guard.Steps, set *bitmap.Set) (sorted []uint32) {
	l.eachPart(st, set, func(positions []byte) {
		for i := range len(positions) / l.size {
			sorted = append(sorted, l.at(positions, i))
		}
	})
	slices.Sort(sorted)
	return sorted
}

// countElements counts the elements of a list field among the records of a set; nil means all records.
func (c *Column) countElements(st *guard.Steps, set *bitmap.Set, values *valueCollector) {
	const few = 64 // an element of one in so many is counted by sorting, without looking at the others
	if set == nil {
		set = bitmap.All(c.pool)
		defer set.Release()
	}
	inMatches := set.Len() * c.lists.len() / max(c.sorted.Len(), 1) // approximate number of elements
	if c.lists.len() > 0 && inMatches < c.elements.Len()/few {
		for rest := c.lists.sorted(st, set); len(rest) > 0; {
			n := sort.Search(len(rest), func(i int) bool { return rest[i] > rest[0] })
			c.addElement(values, int(rest[0]), n)
			rest = rest[n:]
		}
		return
	}
	for position, n := range c.elementCounts(st, set, inMatches) {
		st.Add(1)
		if n > 0 {
			c.addElement(values, position, int(n))
		}
	}
}

// elementCounts returns the number of records of a set by element, in sort order: by the forward index of these records or of
// all others, which are subtracted from the totals, or by intersecting the postings of each element with the set.
func (c *Column) elementCounts(st *guard.Steps, set *bitmap.Set, inMatches int) []uint32 {
	counts := make([]uint32, c.elements.Len())
	countPostings := func(among bitmap.Bits) {
		for i := range counts {
			counts[i] = uint32(c.postingsAt(i).CountIn(st, among))
		}
	}
	byMatches, byOthers := costOfElement*inMatches, costOfElement*(c.lists.len()-inMatches)+costOfRun*len(counts)
	byPostings := int(costOfByte*float64(c.listed.Size())) + costOfRun*len(counts)
	switch {
	case c.lists.len() == 0 || byPostings < min(byMatches, byOthers):
		countPostings(set.Dense(st))
	case byMatches < byOthers:
		c.lists.count(st, set, counts, 1)
	default:
		countPostings(nil)
		others := bitmap.All(c.pool)
		defer others.Release()
		others.Subtract(st, set)
		c.lists.count(st, others, counts, ^uint32(0))
	}
	return counts
}

// postingsAt returns the postings of an element, given by its position in sort order.
func (c *Column) postingsAt(position int) bitmap.Encoded {
	order := c.elementOrder()
	return c.listed.Set(int(c.numbers.At(int(order.At(position)))))
}

// addElement adds an element, given by its position in sort order.
func (c *Column) addElement(values *valueCollector, position, n int) {
	order := c.elementOrder()
	element := c.elements.At(int(order.At(position)))
	if values.count(element) && values.qualifies(n, position) {
		values.offer(valueCount{n: n, order: position, value: string(element)})
	}
}
