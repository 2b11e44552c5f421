package bitmap

import (
	"math/bits"
	"slices"
)

// ContainerBytes has a byte for each record of a container, by the lower 16 bits of its number.
type ContainerBytes [ContainerMembers]byte

// ByteMap maps records to bytes.
type ByteMap struct {
	// Load returns the bytes of ascending records of one container; those of other records are undefined. They are valid
	// until the next call for a map with the same buffer. Records must not be less than those of earlier calls.
	Load func(records []uint32) *ContainerBytes
	// Base must be added to the bytes.
	Base byte
}

// NewByteMap returns a map to the results of a function. It uses buf for the bytes.
func NewByteMap(value func(record uint32) byte, buf *ContainerBytes) ByteMap {
	return ByteMap{Load: func(records []uint32) *ContainerBytes {
		for _, rec := range records {
			buf[uint16(rec)] = value(rec)
		}
		return buf
	}}
}

// NewDenseByteMap returns a map to bytes by record, with room for complete containers.
func NewDenseByteMap(values []byte) ByteMap {
	return ByteMap{Load: func(records []uint32) *ContainerBytes {
		return (*ContainerBytes)(values[records[0]>>16<<16:])
	}}
}

// NewStoredByteMap returns a map of the members of a set to the values that follow it, and of other records to 1. The
// bytes of about n records are read: if they are few, only theirs are stored, in buf.
func NewStoredByteMap(e Encoded, n int, buf *ContainerBytes) ByteMap {
	m := &storedBytes{rest: openContainers(e), restValues: e.trailer(), key: noContainer, bytes: buf, sparse: true}
	if n > e.Len()/4 {
		m.bytes, m.sparse = new(ContainerBytes), false
	}
	return ByteMap{Load: m.load, Base: 1}
}

// storedBytes is the state of a stored map. Its bytes are one less than the values.
type storedBytes struct {
	rest       containers
	restValues []byte // of the members of rest
	bytes      *ContainerBytes
	sparse     bool

	key     uint32    // of the loaded container
	bitmap  container // its members, if it is a bitmap container
	members []uint32  // its members, if it is another one
	values  []byte    // of its members
	word    int       // words before it contain
	before  int       // so many members; they are less than all records to read
}

const noContainer = 1 // is not a key

func (m *storedBytes) load(records []uint32) *ContainerBytes {
	if key := records[0] >> 16 << 16; key != m.key {
		m.key = key
		m.loadContainer()
		if !m.sparse {
			clear(m.bytes[:])
			m.storeAll()
		}
	}
	if m.sparse {
		m.store(records)
	}
	return m.bytes
}

// loadContainer loads the container with the current key.
func (m *storedBytes) loadContainer() {
	m.bitmap, m.members, m.values, m.word, m.before = container{}, m.members[:0], nil, 0, 0
	for len(m.rest.heads) > 0 && m.rest.key() <= m.key {
		c, _ := m.rest.next()
		if c.key == m.key {
			m.values = m.restValues[:c.count]
			if c.kind == bitmapContainer {
				m.bitmap = c
			} else {
				m.members = c.appendTo(slices.Grow(m.members, c.count))
			}
		}
		m.restValues = m.restValues[c.count:]
	}
}

// storeAll stores the values of all members.
func (m *storedBytes) storeAll() {
	if m.bitmap.count == 0 {
		for i, rec := range m.members {
			m.bytes[uint16(rec)] = m.values[i] - 1
		}
		return
	}
	values := m.values
	for i := range bitmapWords {
		word := m.bitmap.word(i)
		part, of := (*[64]byte)(m.bytes[64*i:]), values[:bits.OnesCount64(word)]
		values = values[len(of):]
		for _, v := range of {
			part[bits.TrailingZeros64(word)&63] = v - 1
			word &= word - 1
		}
	}
}

// store stores the values of records.
func (m *storedBytes) store(records []uint32) {
	for _, rec := range records {
		value := byte(1)
		if m.bitmap.count == 0 {
			for m.before < len(m.members) && m.members[m.before] < rec {
				m.before++
			}
			if m.before < len(m.members) && m.members[m.before] == rec {
				value = m.values[m.before]
			}
		} else {
			for ; m.word < int(uint16(rec)/64); m.word++ {
				m.before += bits.OnesCount64(m.bitmap.word(m.word))
			}
			word, bit := m.bitmap.word(m.word), uint64(1)<<(rec%64)
			if word&bit != 0 {
				value = m.values[m.before+bits.OnesCount64(word&(bit-1))]
			}
		}
		m.bytes[uint16(rec)] = value - 1
	}
}
