package bitmap

// Members reports which records are members of a stored set. It is read in ascending order of
// records.
type Members struct {
	rest  containerIterator
	key   uint32 // of the loaded container
	words [bitmapWords]uint64
}

// NewMembers returns the members of a set.
func NewMembers(e EncodedSet) *Members {
	const none = 1 // is not the key of a container
	return &Members{rest: openContainers(e), key: none}
}

// Mask sets the bytes of records that are not members to 0.
func (m *Members) Mask(records []uint32, bytes []byte) {
	bytes = bytes[:len(records)]
	for i, rec := range records {
		if key := rec >> 16 << 16; key != m.key {
			m.load(key)
		}
		at := uint16(rec)
		bytes[i] &= -byte(m.words[at/64] >> (at % 64) & 1)
	}
}

// load loads a container, which may have no members.
func (m *Members) load(key uint32) {
	m.key = key
	clear(m.words[:])
	for len(m.rest.heads) > 0 && m.rest.key() <= key {
		if c, _ := m.rest.next(); c.key == key {
			c.addTo(&m.words)
		}
	}
}
