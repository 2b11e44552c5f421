package column

import (
	"encoding/binary"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

// forwardIndex is the forward index of a list field: by record, the positions of its elements in
// sort order, ascending.
type forwardIndex struct {
	starts  file.U32s // index of the first element of each record, and the end of the last
	encoded []byte    // positions
	size    int       // of a position; see PositionSize
}

// isValid reports whether it is the forward index of n records.
func (l *forwardIndex) isValid(n int) bool {
	return l.starts.Len() == n+1 && len(l.encoded) == l.len()*l.size
}

// PositionSize returns the number of bytes of a position among a number of elements.
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

// len returns the number of elements of all records.
func (l *forwardIndex) len() int { return int(l.starts.At(l.starts.Len() - 1)) }

// at returns the position of an element, given by its index among those of all records.
func (l *forwardIndex) at(i uint32) uint32 {
	switch l.size {
	case 1:
		return uint32(l.encoded[i])
	case 2:
		return uint32(binary.LittleEndian.Uint16(l.encoded[2*int(i):]))
	default:
		return binary.LittleEndian.Uint32(l.encoded[4*int(i):])
	}
}

// hasBetween reports whether a record has an element at a position in [from, to).
func (l *forwardIndex) hasBetween(record, from, to uint32) bool {
	first, end := l.starts.At(int(record)), l.starts.At(int(record)+1)
	if first == end || l.at(end-1) < from { // decides most ranges without an upper bound
		return false
	}
	for low := end - 1; first < low; { // the first position from which on all are at least from is in [first, low]
		if middle := (first + low) / 2; l.at(middle) < from {
			first = middle + 1
		} else {
			low = middle
		}
	}
	return l.at(first) < to
}

// hasAny reports whether a record has an element at one of some positions.
func (l *forwardIndex) hasAny(record uint32, positions bitmap.Bits) bool {
	for i, end := l.starts.At(int(record)), l.starts.At(int(record)+1); i < end; i++ {
		if positions.Has(l.at(i)) {
			return true
		}
	}
	return false
}

// count returns, by position of an element, the number of records of a set that have it; n is the
// number of elements. It copies the elements of many records before it counts them: that takes half
// the time of a loop for each record, whose length the processor cannot predict.
func (l *forwardIndex) count(st *guard.Steps, set *bitmap.Set, n int) []uint32 {
	const word, atOnce = 8, 1 << 12
	st.Announce(n)
	st.Reserve(4 * n)
	counts := make([]uint32, n)
	elements := make([]byte, 0, atOnce+word)
	set.Each(st, func(records []uint32) {
		for i, rec := range records {
			from, to := l.size*int(l.starts.At(int(rec))), l.size*int(l.starts.At(int(rec)+1))
			if end := len(elements); to-from <= word && from+word <= len(l.encoded) { // most records
				elements = binary.LittleEndian.AppendUint64(elements,
					binary.LittleEndian.Uint64(l.encoded[from:]))[:end+to-from]
			} else {
				elements = append(elements, l.encoded[from:to]...)
			}
			if len(elements) >= atOnce || i == len(records)-1 {
				st.Add(len(elements))
				l.addCounts(elements, counts)
				elements = elements[:0]
			}
		}
	})
	return counts
}

// addCounts counts each of some encoded elements.
func (l *forwardIndex) addCounts(elements []byte, counts []uint32) {
	switch l.size {
	case 1:
		for _, position := range elements {
			counts[position]++
		}
	case 2:
		for ; len(elements) >= 2; elements = elements[2:] {
			counts[binary.LittleEndian.Uint16(elements)]++
		}
	default:
		for ; len(elements) >= 4; elements = elements[4:] {
			counts[binary.LittleEndian.Uint32(elements)]++
		}
	}
}

// countElements counts the elements of a list field among the records of a set; nil means all
// records.
func (c *Column) countElements(st *guard.Steps, set *bitmap.Set, values *valueCollector) {
	for i, n := range c.elementCounts(st, set) {
		st.Add(1)
		if n == 0 {
			continue
		}
		found := values.find == nil || values.find.In(c.elements.At(i))
		if values.countFound(found) && values.qualifies(int(n), i) {
			values.offer(valueCount{n: int(n), order: i, column: c, run: i})
		}
	}
}

// elementCounts returns the number of records of a set that have each element, by position. It
// counts the elements of each of these records, or of each other record if these are fewer, or
// intersects the postings of each element with the set.
func (c *Column) elementCounts(st *guard.Steps, set *bitmap.Set) []uint32 {
	if set == nil {
		return c.countPostings(st, nil)
	}
	n, all := set.Len(), c.sorted.Len()
	byRecord := cost.CountElement * min(n, all-n) * c.lists.len() / max(all, 1)
	switch {
	case byRecord > c.costOfPostings(c.elements.Len()):
		return c.countPostings(st, set.Dense(st))
	case n <= all/2:
		return c.lists.count(st, set, c.elements.Len())
	}
	others := set.Complement(st)
	defer others.Release()
	counts := c.countPostings(st, nil)
	for i, n := range c.lists.count(st, others, len(counts)) {
		counts[i] -= n
	}
	return counts
}

// countPostings returns the number of records in the postings of each element that are in among, by
// position; nil counts all. It reads the postings in stored order: in sort order, reading 100,000
// of them takes several times as long.
func (c *Column) countPostings(st *guard.Steps, among bitmap.Bits) []uint32 {
	st.Announce(c.elements.Len())
	st.Reserve(8 * c.elements.Len())
	counts, positions := make([]uint32, c.elements.Len()), make([]uint32, c.elements.Len())
	for position := range counts {
		positions[c.numbers.At(position)] = uint32(position)
	}
	for number, position := range positions {
		counts[position] = uint32(c.listed.Set(number).CountIn(st, among))
	}
	return counts
}

// costOfPostings returns the approximate time to read the postings of some elements in nanoseconds.
// Most of it is to open their containers.
func (c *Column) costOfPostings(elements int) int {
	size := c.listed.Size() / max(c.listed.Len(), 1)
	containers := min(size/cost.MinContainer, c.sorted.Len()/bitmap.ContainerMembers+1)
	return elements * (cost.OpenPostings + cost.OpenContainer*containers + int(cost.PostingsByte*float64(size)))
}

// postingsAt returns the postings of an element, given by its position.
func (c *Column) postingsAt(position int) bitmap.EncodedSet {
	return c.listed.Set(int(c.numbers.At(position)))
}
