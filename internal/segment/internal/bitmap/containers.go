package bitmap

import (
	"encoding/binary"
	"math/bits"

	"herbarium/internal/segment/internal/guard"
)

// container is a part of an encoded set: the members with the same upper 16 bits. The roaring library does not export
// its containers; direct access is faster for processing many sets.
type container struct {
	key   uint32 // the upper 16 bits, shifted
	count int    // number of members
	kind  containerKind
	data  []byte
}

type containerKind byte

// Kinds of containers.
const (
	arrayContainer  containerKind = iota // u16: the lower bits of each member
	bitmapContainer                      // one bit for each possible member
	runContainer                         // u16: number of runs; then start and length - 1 of each
)

// Parameters of the portable roaring format.
const (
	cookieRuns       = 12347
	cookieNoRuns     = 12346
	offsetsFrom      = 4    // minimum number of containers for offsets if there are run containers
	MaxArrayMembers  = 4096 // members
	bitmapBytes      = 8192
	bitmapWords      = bitmapBytes / 8
	ContainerMembers = 1 << 16
)

// containers iterates over the containers of an encoded set in order. The set must have been validated; see
// validateSet.
type containers struct {
	heads []byte // for each remaining container, the upper half of its members and their number - 1
	isRun []byte // one bit for each container
	body  []byte
	i     int
}

func openContainers(b []byte) containers {
	if len(b) == 0 {
		return containers{}
	}
	var c containers
	var n int
	switch cookie := binary.LittleEndian.Uint32(b); {
	case cookie&0xffff == cookieRuns:
		n = int(cookie>>16) + 1
		c.isRun, b = b[4:4+(n+7)/8], b[4+(n+7)/8:]
	case cookie == cookieNoRuns:
		n, b = int(binary.LittleEndian.Uint32(b[4:])), b[8:]
	default:
		guard.Corrupt("not a set")
	}
	c.heads, c.body = b[:4*n], b[4*n:]
	if c.isRun == nil || n >= offsetsFrom {
		c.body = c.body[4*n:]
	}
	return c
}

// next returns the next container.
func (s *containers) next() (c container, ok bool) {
	if len(s.heads) == 0 {
		return c, false
	}
	u16 := binary.LittleEndian.Uint16
	c.key = uint32(u16(s.heads)) << 16
	c.count = int(u16(s.heads[2:])) + 1
	size := bitmapBytes
	switch {
	case s.isRun != nil && s.isRun[s.i/8]>>(s.i%8)&1 == 1:
		c.kind, size = runContainer, 2+4*int(u16(s.body))
	case c.count <= MaxArrayMembers:
		c.kind, size = arrayContainer, 2*c.count
	default:
		c.kind = bitmapContainer
	}
	c.data, s.body = s.body[:size], s.body[size:]
	s.heads = s.heads[4:]
	s.i++
	return c, true
}

// word returns word i of a bitmap container.
func (c container) word(i int) uint64 { return binary.LittleEndian.Uint64(c.data[8*i:]) }

// eachRun calls f for the first and the last number of each run of a run container.
func (c container) eachRun(f func(first, last uint32)) {
	for at := 2; at < len(c.data); at += 4 {
		first := c.key + uint32(binary.LittleEndian.Uint16(c.data[at:]))
		f(first, first+uint32(binary.LittleEndian.Uint16(c.data[at+2:])))
	}
}

// members calls f for every member.
func (c container) members(f func(member uint32)) {
	switch c.kind {
	case arrayContainer:
		for b := c.data; len(b) >= 2; b = b[2:] {
			f(c.key + uint32(binary.LittleEndian.Uint16(b)))
		}
	case bitmapContainer:
		for i := range bitmapWords {
			for word := c.word(i); word != 0; word &= word - 1 {
				f(c.key + uint32(64*i+bits.TrailingZeros64(word)))
			}
		}
	case runContainer:
		c.eachRun(func(first, last uint32) {
			for m := first; m <= last; m++ {
				f(m)
			}
		})
	}
}

// Pick calls f for some members of an encoded set, given by their ascending ranks in the set.
func Pick(set []byte, ranks []uint32, f func(i int, member uint32)) {
	before, i := uint32(0), 0 // members of the preceding containers; index in ranks
	all := openContainers(set)
	for c, ok := all.next(); ok && i < len(ranks); c, ok = all.next() {
		end := before + uint32(c.count)
		switch c.kind {
		case arrayContainer:
			for ; i < len(ranks) && ranks[i] < end; i++ {
				f(i, c.key+uint32(binary.LittleEndian.Uint16(c.data[2*(ranks[i]-before):])))
			}
		case bitmapContainer:
			at, first := before, c.key // rank and number of the first bit of the word
			for b := c.data; len(b) >= 8 && i < len(ranks) && ranks[i] < end; b = b[8:] {
				word := binary.LittleEndian.Uint64(b)
				next := at + uint32(bits.OnesCount64(word))
				for ; i < len(ranks) && ranks[i] < next; i++ {
					for ; at < ranks[i]; at++ {
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
				for ; i < len(ranks) && ranks[i] < next; i++ {
					f(i, first+ranks[i]-at)
				}
				at = next
			})
		}
		before = end
	}
}
