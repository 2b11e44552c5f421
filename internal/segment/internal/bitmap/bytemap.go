package bitmap

import "math/bits"

// ByteMap maps the members of a stored set to the bytes that follow it, and other records to 1. It
// is read in ascending order of records.
type ByteMap struct {
	rest      containerIterator
	restBytes []byte // of the members of rest

	// The loaded container.
	key     uint32
	members [bitmapWords]uint64
	before  [bitmapWords]uint16 // by word, number of members in those before it
	bytes   []byte              // of the members; empty if there are none
}

// NewByteMap returns the map that is stored as e.
func NewByteMap(e EncodedSet) *ByteMap {
	const none = 1 // is not the key of a container
	return &ByteMap{rest: openContainers(e), restBytes: e.trailer(), key: none}
}

// Load stores the byte of each record in bytes.
func (m *ByteMap) Load(records []uint32, bytes []byte) {
	for len(records) > 0 {
		m.loadContainer(records[0] >> 16 << 16)
		n := len(records)
		if records[n-1]-m.key >= ContainerMembers {
			for n = 1; records[n]-m.key < ContainerMembers; n++ {
			}
		}
		m.load(records[:n], bytes[:n])
		records, bytes = records[n:], bytes[n:]
	}
}

// load is Load for records in the loaded container. Its loop has no branches, which would be
// unpredictable.
func (m *ByteMap) load(records []uint32, bytes []byte) {
	last := len(m.bytes) - 1
	if last < 0 {
		for i := range bytes {
			bytes[i] = 1
		}
		return
	}
	for i, rec := range records {
		at, bit := uint16(rec)/64, rec%64
		word := m.members[at]
		value := m.bytes[min(int(m.before[at])+bits.OnesCount64(word&(1<<bit-1)), last)]
		isMember := byte(word >> bit & 1)
		bytes[i] = (value-1)&-isMember + 1
	}
}

// loadContainer loads a container, which may have no members, unless it is loaded already.
func (m *ByteMap) loadContainer(key uint32) {
	if key == m.key {
		return
	}
	m.key, m.bytes = key, nil
	for len(m.rest.heads) > 0 && m.rest.key() <= key {
		c, _ := m.rest.next()
		if c.key == key {
			m.bytes = m.restBytes[:c.count]
			clear(m.members[:])
			c.addTo(&m.members)
			n := 0
			for i, word := range m.members {
				m.before[i] = uint16(n)
				n += bits.OnesCount64(word)
			}
		}
		m.restBytes = m.restBytes[c.count:]
	}
}
