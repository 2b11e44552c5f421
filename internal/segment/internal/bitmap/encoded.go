package bitmap

import (
	"encoding/binary"
	"math/bits"

	"herbarium/internal/segment/internal/guard"
)

// Encoded is a set of record numbers in the portable roaring format. It is read in place, without decoding, so that
// nothing has to be cached. An empty slice is the empty set.
type Encoded []byte

// Len returns the number of members.
func (e Encoded) Len() (n int) {
	for heads := openContainers(e).heads; len(heads) > 0; heads = heads[4:] {
		n += int(binary.LittleEndian.Uint16(heads[2:])) + 1
	}
	return n
}

// Contains reports whether a record is a member.
func (e Encoded) Contains(record uint32) bool {
	all := openContainers(e)
	all.seek(record)
	c, ok := all.next()
	return ok && c.key == record>>16<<16 && c.contains(record)
}

// AddTo adds the members to a bitset with room for complete containers.
func (e Encoded) AddTo(st *guard.Steps, b Bits) {
	all := openContainers(e)
	for c, ok := all.next(); ok; c, ok = all.next() {
		st.Add(1 + len(c.data)/16)
		c.addTo(b.part(c.key))
	}
}

// AppendTo appends the members to a list.
func (e Encoded) AppendTo(st *guard.Steps, list []uint32) []uint32 {
	all := openContainers(e)
	for c, ok := all.next(); ok; c, ok = all.next() {
		st.Add(1 + c.count)
		list = c.appendTo(list)
	}
	return list
}

// CountIn returns the number of members that are in among, a bitset with room for complete containers; nil counts all.
func (e Encoded) CountIn(st *guard.Steps, among Bits) (n int) {
	if among == nil {
		st.Add(1)
		return e.Len()
	}
	all := openContainers(e)
	for c, ok := all.next(); ok; c, ok = all.next() {
		st.Add(1 + len(c.data)/16)
		n += c.countIn(among.part(c.key))
	}
	return n
}

// trailer returns the bytes that follow the set.
func (e Encoded) trailer() []byte {
	all := openContainers(e)
	if 4 <= len(all.heads) && all.offsets != nil {
		all.i = len(all.heads)/4 - 1
		all.body = e[binary.LittleEndian.Uint32(all.offsets[4*all.i:]):]
		all.heads = all.heads[4*all.i:]
	}
	for _, ok := all.next(); ok; _, ok = all.next() {
	}
	return all.body
}

// Picked calls f for some members, given by their ascending positions in the set.
func (e Encoded) Picked(positions []uint32, f func(i int, member uint32)) {
	before, i := uint32(0), 0 // members of the preceding containers; index in positions
	all := openContainers(e)
	for c, ok := all.next(); ok && i < len(positions); c, ok = all.next() {
		end := before + uint32(c.count)
		switch c.kind {
		case arrayContainer:
			for ; i < len(positions) && positions[i] < end; i++ {
				f(i, c.key+uint32(c.member(int(positions[i]-before))))
			}
		case bitmapContainer:
			at, first := before, c.key // position and number of the first bit of the word
			for w := 0; w < bitmapWords && i < len(positions) && positions[i] < end; w++ {
				word := c.word(w)
				next := at + uint32(bits.OnesCount64(word))
				for ; i < len(positions) && positions[i] < next; i++ {
					for ; at < positions[i]; at++ {
						word &= word - 1
					}
					f(i, first+uint32(bits.TrailingZeros64(word)))
				}
				at, first = next, first+64
			}
		case runContainer:
			at := before
			c.eachRun(func(first, last uint32) {
				next := at + last - first + 1
				for ; i < len(positions) && positions[i] < next; i++ {
					f(i, first+positions[i]-at)
				}
				at = next
			})
		}
		before = end
	}
}

// ByteMap maps the members of an encoded set to the bytes that follow it, one per member. It is read in ascending order.
type ByteMap struct {
	rest   containers
	c      container
	values []byte // of the members of c and of the following containers
	at     int    // array: index of the next member; bitmap: index of a word; run: index of a run
	before int    // bitmap, run: members before at
	done   bool
}

// NewByteMap returns the map of a set and its trailer.
func NewByteMap(e Encoded) ByteMap {
	m := ByteMap{rest: openContainers(e), values: e.trailer()}
	m.advance()
	return m
}

// advance moves to the next container.
func (m *ByteMap) advance() {
	m.values = m.values[min(m.c.count, len(m.values)):]
	m.at, m.before = 0, 0
	var ok bool
	if m.c, ok = m.rest.next(); !ok {
		m.done = true
	}
}

// Read stores the values of ascending records that are members in the corresponding elements of out. Records must not be
// less than those of earlier calls.
func (m *ByteMap) Read(records []uint32, out []byte) {
	for i := 0; i < len(records); {
		key := records[i] >> 16 << 16
		for !m.done && m.c.key < key {
			m.advance()
		}
		end := i + 1
		for end < len(records) && records[end]>>16<<16 == key {
			end++
		}
		if !m.done && m.c.key == key {
			m.read(records[i:end], out[i:end])
		}
		i = end
	}
}

// read is Read for records of the current container.
func (m *ByteMap) read(records []uint32, out []byte) {
	const stride = 16
	c := &m.c
	switch c.kind {
	case arrayContainer:
		at := m.at
		for i, rec := range records {
			low := uint16(rec)
			for at+stride < c.count && c.member(at+stride) < low {
				at += stride
			}
			for at < c.count && c.member(at) < low {
				at++
			}
			if at < c.count && c.member(at) == low {
				out[i] = m.values[at]
			}
		}
		m.at = at
	case bitmapContainer:
		at, before := m.at, m.before
		word := c.word(at)
		for i, rec := range records {
			low := int(uint16(rec))
			for at < low/64 {
				before += bits.OnesCount64(word)
				at++
				word = c.word(at)
			}
			// Whether a record is a member is unpredictable, so this selects the byte without a branch.
			member := byte(word >> (low % 64) & 1)
			value := m.values[min(before+bits.OnesCount64(word&(1<<(low%64)-1)), c.count-1)]
			out[i] ^= (out[i] ^ value) & -member
		}
		m.at, m.before = at, before
	case runContainer:
		runs := (len(c.data) - 2) / 4
		for i, rec := range records {
			low := uint16(rec)
			for m.at < runs && int(c.member(1+2*m.at))+int(c.member(2+2*m.at)) < int(low) {
				m.before += int(c.member(2+2*m.at)) + 1
				m.at++
			}
			if m.at < runs && c.member(1+2*m.at) <= low {
				out[i] = m.values[m.before+int(low-c.member(1+2*m.at))]
			}
		}
	}
}
