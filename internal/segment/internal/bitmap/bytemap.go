package bitmap

import (
	"math/bits"
	"slices"
)

// ByteMap maps records to bytes: the members of a set to the values that belong to them, other records to 1. It is read in
// ascending order and holds the bytes of one container at a time.
type ByteMap struct {
	fill   func(m *ByteMap, key uint32) // stores the values of a container
	key    uint32                       // of the container whose bytes are held
	bytes  [ContainerMembers]byte       // values - 1
	stored []uint32                     // records whose bytes must be cleared afterwards
	dense  bool                         // all bytes must be cleared afterwards
}

const noContainer = 1 // is not a key

// NewByteMap returns a map of a list of ascending members.
func NewByteMap(members []uint32, values []byte) *ByteMap {
	return &ByteMap{key: noContainer, fill: func(m *ByteMap, key uint32) {
		from, _ := slices.BinarySearch(members, key)
		to, _ := slices.BinarySearch(members, key+ContainerMembers) // fits, because there are fewer than 2^31 records
		m.store(members[from:to], values[from:to])
	}}
}

// NewDenseByteMap returns a map of all records, of which only those with a value are read.
func NewDenseByteMap(values []byte) *ByteMap {
	return &ByteMap{key: noContainer, fill: func(m *ByteMap, key uint32) {
		m.dense = true
		for i, v := range values[key:min(int(key)+ContainerMembers, len(values))] {
			m.bytes[i] = v - 1
		}
	}}
}

// NewStoredByteMap returns a map of the members of a set, which the values follow.
func NewStoredByteMap(e Encoded) *ByteMap {
	rest, values := openContainers(e), e.trailer()
	var members []uint32
	return &ByteMap{key: noContainer, fill: func(m *ByteMap, key uint32) {
		for len(rest.heads) > 0 && rest.key() <= key {
			c, _ := rest.next()
			switch {
			case c.key < key:
			case c.kind == bitmapContainer:
				m.storeBits(c, values)
			default:
				members = c.appendTo(slices.Grow(members[:0], c.count))
				m.store(members, values[:c.count])
			}
			values = values[c.count:]
		}
	}}
}

// store stores the values of records.
func (m *ByteMap) store(records []uint32, values []byte) {
	m.stored = records
	for i, rec := range records {
		m.bytes[uint16(rec)] = values[i] - 1
	}
}

// storeBits stores the values of the members of a bitmap container.
func (m *ByteMap) storeBits(c container, values []byte) {
	m.dense = true
	for i := range bitmapWords {
		word := c.word(i)
		part, of := (*[64]byte)(m.bytes[64*i:]), values[:bits.OnesCount64(word)]
		values = values[len(of):]
		for _, v := range of {
			part[bits.TrailingZeros64(word)&63] = v - 1
			word &= word - 1
		}
	}
}

// load holds the bytes of a container.
func (m *ByteMap) load(key uint32) {
	if m.dense {
		clear(m.bytes[:])
	}
	for _, rec := range m.stored {
		m.bytes[uint16(rec)] = 0
	}
	m.key, m.stored, m.dense = key, nil, false
	m.fill(m, key)
}

// Read stores the values of records in out. Records must not be less than those of earlier calls.
func (m *ByteMap) Read(records []uint32, out []byte) {
	for len(records) > 0 {
		if key := records[0] >> 16 << 16; key != m.key {
			m.load(key)
		}
		n := len(records)
		if records[n-1]>>16<<16 != m.key {
			n, _ = slices.BinarySearch(records, m.key+ContainerMembers)
		}
		for i, rec := range records[:n] {
			out[i] = m.bytes[uint16(rec)] + 1
		}
		records, out = records[n:], out[n:]
	}
}
