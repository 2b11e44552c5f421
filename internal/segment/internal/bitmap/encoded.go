package bitmap

import (
	"encoding/binary"
	"math/bits"
	"slices"

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

// intersect removes all numbers from a bitset that are not members, and returns the number of those left.
func (e Encoded) intersect(st *guard.Steps, b Bits) (n int) {
	all, next := openContainers(e), 0
	for c, ok := all.next(); ok; c, ok = all.next() {
		st.Add(1 + len(c.data)/16)
		var members [bitmapWords]uint64
		c.addTo(&members)
		part := b.part(c.key)
		n += Bits(part[:]).And(members[:])
		clear(b[next : c.key/64])
		next = int(c.key/64) + bitmapWords
	}
	clear(b[next:])
	return n
}

// AppendTo appends the members to a list.
func (e Encoded) AppendTo(st *guard.Steps, list []uint32) []uint32 {
	list = slices.Grow(list, e.Len())
	e.Each(st, func(members []uint32) { list = append(list, members...) })
	return list
}

// Each calls f for all members in ascending order, those of a container at a time.
func (e Encoded) Each(st *guard.Steps, f func(members []uint32)) {
	var members []uint32
	all := openContainers(e)
	for c, ok := all.next(); ok; c, ok = all.next() {
		st.Add(1 + c.count)
		members = c.appendTo(slices.Grow(members[:0], c.count))
		f(members)
	}
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
			for members := c.appendTo(nil); i < len(positions) && positions[i] < end; i++ {
				f(i, members[positions[i]-before])
			}
		}
		before = end
	}
}
