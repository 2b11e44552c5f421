package bitmap

import "math/bits"

// BlockBytes has a byte for each record of a block.
type BlockBytes [BlockRecords]byte

// ByteMap maps records to bytes.
type ByteMap struct {
	// Load returns the bytes of the members of a block; those of other records are undefined. They are valid until the
	// next call. Blocks must be loaded in ascending order.
	Load func(b Block) *BlockBytes
	// Base must be added to the bytes.
	Base byte
}

// NewByteMap returns a map to the results of a function.
func NewByteMap(value func(record uint32) byte) ByteMap {
	bytes := new(BlockBytes)
	return ByteMap{Load: func(b Block) *BlockBytes {
		for i, word := range b.Words {
			for ; word != 0; word &= word - 1 {
				at := 64*i + bits.TrailingZeros64(word)
				bytes[at] = value(b.First + uint32(at))
			}
		}
		return bytes
	}}
}

// NewDenseByteMap returns a map to bytes by record, with room for complete blocks.
func NewDenseByteMap(values []byte) ByteMap {
	return ByteMap{Load: func(b Block) *BlockBytes { return (*BlockBytes)(values[b.First:]) }}
}

// NewStoredByteMap returns a map of the members of a set to the values that follow it, and of other records to 1.
func NewStoredByteMap(e Encoded) ByteMap {
	m := &storedBytes{rest: openContainers(e), restValues: e.trailer(), key: noContainer}
	return ByteMap{Load: m.load, Base: 1}
}

// storedBytes is the state of a stored map. Its bytes are one less than the values.
type storedBytes struct {
	rest       containers
	restValues []byte // of the members of rest
	key        uint32 // of the loaded container
	members    [bitmapWords]uint64
	word       int    // number of words of the members before the next block
	values     []byte // of the members from the next block on
	bytes      BlockBytes
}

const noContainer = 1 // is not a key

func (m *storedBytes) load(b Block) *BlockBytes {
	if key := b.First >> 16 << 16; key != m.key {
		m.loadContainer(key)
	}
	next := int(uint16(b.First) / 64)
	for _, word := range m.members[m.word:next] {
		m.values = m.values[bits.OnesCount64(word):]
	}
	m.word = next + blockWords
	rest := m.values
	for i, members := range m.members[next:m.word] {
		values := rest[:bits.OnesCount64(members)]
		rest = rest[len(values):]
		wanted := b.Words[i%blockWords]
		if wanted == 0 {
			continue
		}
		part := (*[64]byte)(m.bytes[64*i:])
		*part = [64]byte{}
		if wanted &= members; 2*bits.OnesCount64(wanted) < len(values) {
			for ; wanted != 0; wanted &= wanted - 1 {
				at := bits.TrailingZeros64(wanted)
				part[at&63] = values[bits.OnesCount64(members&(1<<at-1))] - 1
			}
			continue
		}
		for _, v := range values { // storing all values is faster than locating those of most
			part[bits.TrailingZeros64(members)&63] = v - 1
			members &= members - 1
		}
	}
	m.values = rest
	return &m.bytes
}

// loadContainer loads the members and values of a container, which may be empty.
func (m *storedBytes) loadContainer(key uint32) {
	m.key, m.word, m.values = key, 0, nil
	clear(m.members[:])
	for len(m.rest.heads) > 0 && m.rest.key() <= key {
		c, _ := m.rest.next()
		if c.key == key {
			m.values = m.restValues[:c.count]
			c.addTo(&m.members)
		}
		m.restValues = m.restValues[c.count:]
	}
}
