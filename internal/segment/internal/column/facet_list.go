package column

import (
	"encoding/binary"

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

// isValid reports whether it is the forward index of n records, or none.
func (l *lists) isValid(n int) bool {
	return len(l.starts) == 0 || l.starts.Len() == n+1 && len(l.encoded) == l.len()*l.size
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

// len returns the number of elements of all records. It is 0 if there is no forward index.
func (l *lists) len() int {
	if len(l.starts) == 0 {
		return 0
	}
	return int(l.starts.At(l.starts.Len() - 1))
}

// hasBetween reports whether a record has an element at a position in [from, to).
func (l *lists) hasBetween(record, from, to uint32) bool {
	for i := int(l.starts.At(int(record))); i < int(l.starts.At(int(record)+1)); i++ {
		if l.at(i)-from < to-from {
			return true
		}
	}
	return false
}

// at returns the position of an element, given by its index.
func (l *lists) at(i int) uint32 {
	switch b := l.encoded[i*l.size:]; l.size {
	case 1:
		return uint32(b[0])
	case 2:
		return uint32(binary.LittleEndian.Uint16(b))
	default:
		return binary.LittleEndian.Uint32(b)
	}
}

// count counts each element of the records of a set. It copies the elements of many records before it counts them,
// which takes half the time of a loop for each record, whose length is hard to predict.
func (l *lists) count(st *guard.Steps, set *bitmap.Set, counts []uint32) {
	const word, atOnce = 8, 1 << 12
	elements := make([]byte, 0, atOnce+word)
	set.Each(st, func(records []uint32) {
		for i, rec := range records {
			from, to := l.size*int(l.starts.At(int(rec))), l.size*int(l.starts.At(int(rec)+1))
			if n := len(elements); to-from <= word && from+word <= len(l.encoded) { // most records
				elements = binary.LittleEndian.AppendUint64(elements, binary.LittleEndian.Uint64(l.encoded[from:]))[:n+to-from]
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
}

// addCounts counts each of some encoded elements.
func (l *lists) addCounts(elements []byte, counts []uint32) {
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

// countElements counts the elements of a list field among the records of a set; nil means all records. It counts the elements of
// each of these records, or intersects the postings of each element with the set.
func (c *Column) countElements(st *guard.Steps, set *bitmap.Set, values *valueCollector) {
	counts := make([]uint32, c.elements.Len())
	if set != nil && c.countsByRecord(set) {
		c.lists.count(st, set, counts)
	} else {
		var among bitmap.Bits // nil means all records
		if set != nil {
			among = set.Dense(st)
		}
		for i := range counts {
			counts[i] = uint32(c.postingsAt(i).CountIn(st, among))
		}
	}
	for i, n := range counts {
		if st.Add(1); n == 0 {
			continue
		}
		element := c.elementAt(i)
		if values.count(element) && values.qualifies(int(n), i) {
			values.offer(valueCount{n: int(n), order: i, value: string(element)})
		}
	}
}

// countsByRecord reports whether counting the elements of each record of a set is cheaper than intersecting the set with the postings
// of each element.
func (c *Column) countsByRecord(set *bitmap.Set) bool {
	elements := set.Len() * c.lists.len() / max(c.sorted.Len(), 1) // of the records, approximately
	byPostings := costOfByte*float64(c.listed.Size()) + costOfRun*float64(c.elements.Len())
	return c.lists.len() > 0 && costOfElement*float64(elements) < byPostings
}

// postingsAt returns the postings of an element, given by its position in sort order.
func (c *Column) postingsAt(position int) bitmap.Encoded {
	return c.listed.Set(int(c.numbers.At(int(c.elementOrder.At(position)))))
}
