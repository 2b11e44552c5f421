package bitmap

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"herbarium/internal/segment/internal/guard"
)

// EncodedSet is a set of record numbers in the portable roaring format. It is read in place,
// without decoding, so that nothing has to be cached. An empty slice is the empty set.
type EncodedSet []byte

// Len returns the number of members.
func (e EncodedSet) Len() (n int) {
	for heads := openContainers(e).heads; len(heads) > 0; heads = heads[4:] {
		n += int(binary.LittleEndian.Uint16(heads[2:])) + 1
	}
	return n
}

// Contains reports whether a record is a member.
func (e EncodedSet) Contains(record uint32) bool {
	all := openContainers(e)
	all.seek(record)
	c, ok := all.next()
	return ok && c.key == record>>16<<16 && c.contains(record)
}

// AddTo adds the members to a bitset with room for complete containers.
func (e EncodedSet) AddTo(st *guard.Steps, b Bits) {
	all := openContainers(e)
	for c, ok := all.next(); ok; c, ok = all.next() {
		st.Add(1 + len(c.data)/16)
		c.addTo(b.container(c.key))
	}
}

// Each calls f for all members in ascending order, those of a container at a time.
func (e EncodedSet) Each(st *guard.Steps, f func(members []uint32)) {
	var members []uint32
	all := openContainers(e)
	for c, ok := all.next(); ok; c, ok = all.next() {
		st.Add(1 + c.count)
		members = c.appendTo(slices.Grow(members[:0], c.count))
		f(members)
	}
}

// CountIn returns the number of members that are in among, a bitset with room for complete
// containers; nil counts all.
func (e EncodedSet) CountIn(st *guard.Steps, among Bits) (n int) {
	if among == nil {
		st.Add(1)
		return e.Len()
	}
	all := openContainers(e)
	for c, ok := all.next(); ok; c, ok = all.next() {
		st.Add(1 + len(c.data)/16)
		n += c.countIn(among.container(c.key))
	}
	return n
}

// trailer returns the bytes that follow the set.
func (e EncodedSet) trailer() []byte {
	all := openContainers(e)
	if n := len(all.heads); n > 0 {
		all.seek(uint32(binary.LittleEndian.Uint16(all.heads[n-4:])) << 16) // the last one
		all.next()
	}
	return all.body
}

// Pick calls f for some members, given by their ascending positions in the set.
func (e EncodedSet) Pick(positions []uint32, f func(i int, member uint32)) {
	p := picker{positions: positions, f: f}
	all := openContainers(e)
	for c, ok := all.next(); ok && p.i < len(positions); c, ok = all.next() {
		switch c.kind {
		case arrayContainer:
			p.members(c.count, func(i int) uint32 { return c.key + uint32(c.member(i)) })
		case bitmapContainer:
			for i := range bitmapWords {
				p.word(c.key+uint32(64*i), c.word(i))
			}
		case runContainer:
			c.eachRun(func(first, last uint32) {
				p.members(int(last-first)+1, func(i int) uint32 { return first + uint32(i) })
			})
		}
	}
}

// picker calls a function for the members of a set at some positions. Its methods get the
// containers of the set in order.
type picker struct {
	positions []uint32 // ascending
	f         func(i int, member uint32)
	i         int    // index of the next position
	before    uint32 // number of members of the containers so far
}

// members picks from n members.
func (p *picker) members(n int, member func(i int) uint32) {
	end := p.before + uint32(n)
	for ; p.i < len(p.positions) && p.positions[p.i] < end; p.i++ {
		p.f(p.i, member(int(p.positions[p.i]-p.before)))
	}
	p.before = end
}

// word picks from the members among 64 numbers, which are the bits of a word.
func (p *picker) word(first uint32, word uint64) {
	end := p.before + uint32(bits.OnesCount64(word))
	for at := p.before; p.i < len(p.positions) && p.positions[p.i] < end; p.i++ {
		for ; at < p.positions[p.i]; at++ {
			word &= word - 1
		}
		p.f(p.i, first+uint32(bits.TrailingZeros64(word)))
	}
	p.before = end
}
