package bitmap

import (
	"encoding/binary"
	"math/bits"
	"sort"

	"herbarium/internal/segment/internal/guard"
)

// container is the members of an encoded set with the same upper 16 bits.
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
	maxArrayMembers  = 4096 // members
	bitmapBytes      = 8192
	bitmapWords      = bitmapBytes / 8
	ContainerMembers = 1 << 16
	// MinBitsShare is the size of a set above which most of its containers are bits: one in
	// MinBitsShare of all records.
	MinBitsShare = ContainerMembers / maxArrayMembers
)

// containerIterator iterates over the containers of an encoded set in order.
type containerIterator struct {
	set     []byte
	heads   []byte // for each remaining container, the upper 16 bits of its members and their number - 1
	isRun   []byte // one bit for each container
	offsets []byte // for each container, its start in the set; nil if the set has none
	body    []byte // remaining containers, and the trailer
	i       int    // index of the next container
}

func openContainers(b []byte) containerIterator {
	c := containerIterator{set: b}
	if len(b) == 0 {
		return c
	}
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
		c.offsets, c.body = c.body[:4*n], c.body[4*n:]
	}
	return c
}

// key returns the key of the next container. There must be one.
func (s *containerIterator) key() uint32 { return uint32(binary.LittleEndian.Uint16(s.heads)) << 16 }

// next returns the next container.
func (s *containerIterator) next() (c container, ok bool) {
	if len(s.heads) == 0 {
		return c, false
	}
	u16 := binary.LittleEndian.Uint16
	c.key = s.key()
	c.count = int(u16(s.heads[2:])) + 1
	size := bitmapBytes
	switch {
	case s.isRun != nil && s.isRun[s.i/8]>>(s.i%8)&1 == 1:
		c.kind, size = runContainer, 2+4*int(u16(s.body))
	case c.count <= maxArrayMembers:
		c.kind, size = arrayContainer, 2*c.count
	default:
		c.kind = bitmapContainer
	}
	c.data, s.body = s.body[:size], s.body[size:]
	s.heads = s.heads[4:]
	s.i++
	return c, true
}

// seek skips the containers before that of a record.
func (s *containerIterator) seek(record uint32) {
	n := sort.Search(len(s.heads)/4, func(j int) bool {
		return uint32(binary.LittleEndian.Uint16(s.heads[4*j:])) >= record>>16
	})
	if s.offsets == nil || 4*n == len(s.heads) {
		for range n {
			s.next()
		}
		return
	}
	s.i += n
	s.heads = s.heads[4*n:]
	s.body = s.set[binary.LittleEndian.Uint32(s.offsets[4*s.i:]):]
}

// word returns word i of a bitmap container.
func (c container) word(i int) uint64 { return binary.LittleEndian.Uint64(c.data[8*i:]) }

// member returns member i of an array container, or the start of run i/2 of a run container after
// its head.
func (c container) member(i int) uint16 { return binary.LittleEndian.Uint16(c.data[2*i:]) }

// contains reports whether the container contains a record with its key.
func (c container) contains(record uint32) bool {
	low := uint16(record)
	switch c.kind {
	case bitmapContainer:
		return c.word(int(low/64))>>(low%64)&1 == 1
	case arrayContainer:
		i := sort.Search(c.count, func(i int) bool { return c.member(i) >= low })
		return i < c.count && c.member(i) == low
	default:
		runs := (len(c.data) - 2) / 4
		i := sort.Search(runs, func(i int) bool { return c.member(1+2*i) > low })
		return i > 0 && low-c.member(2*i-1) <= c.member(2*i)
	}
}

// eachRun calls f for the first and the last number of each run of a run container.
func (c container) eachRun(f func(first, last uint32)) {
	for at := 2; at < len(c.data); at += 4 {
		first := c.key + uint32(binary.LittleEndian.Uint16(c.data[at:]))
		f(first, first+uint32(binary.LittleEndian.Uint16(c.data[at+2:])))
	}
}

// appendTo appends the members to a list.
func (c container) appendTo(list []uint32) []uint32 {
	switch c.kind {
	case arrayContainer:
		for b := c.data; len(b) >= 2; b = b[2:] {
			list = append(list, c.key+uint32(binary.LittleEndian.Uint16(b)))
		}
	case bitmapContainer:
		for i := range bitmapWords {
			list = appendWord(list, c.key+uint32(64*i), c.word(i))
		}
	case runContainer:
		c.eachRun(func(first, last uint32) {
			for m := first; m <= last; m++ {
				list = append(list, m)
			}
		})
	}
	return list
}

// addTo adds the members to the words of a bitset for the container's key.
func (c container) addTo(words *[bitmapWords]uint64) {
	switch c.kind {
	case arrayContainer:
		for b := c.data; len(b) >= 2; b = b[2:] {
			low := binary.LittleEndian.Uint16(b)
			words[low/64] |= 1 << (low % 64)
		}
	case bitmapContainer:
		data := (*[bitmapBytes]byte)(c.data)
		for i := range words {
			words[i] |= binary.LittleEndian.Uint64(data[8*i:])
		}
	case runContainer:
		c.eachRun(func(first, last uint32) { Bits(words[:]).AddRange(int(first-c.key), int(last-c.key)+1) })
	}
}

// countIn returns the number of members in the words of a bitset for the container's key.
func (c container) countIn(words *[bitmapWords]uint64) (n int) {
	switch c.kind {
	case arrayContainer:
		b := c.data
		for ; len(b) >= 8; b = b[8:] { // four at a time, which takes two thirds of the time
			four := binary.LittleEndian.Uint64(b)
			v0, v1, v2, v3 := uint16(four), uint16(four>>16), uint16(four>>32), uint16(four>>48)
			n += int(words[v0/64]>>(v0%64)&1 + words[v1/64]>>(v1%64)&1 +
				words[v2/64]>>(v2%64)&1 + words[v3/64]>>(v3%64)&1)
		}
		for ; len(b) >= 2; b = b[2:] {
			v := binary.LittleEndian.Uint16(b)
			n += int(words[v/64] >> (v % 64) & 1)
		}
	case bitmapContainer:
		for i, b := 0, c.data; i < bitmapWords; i, b = i+4, b[32:] { // four at a time, which halves the time
			four, p := (*[32]byte)(b), (*[4]uint64)(words[i:])
			n += bits.OnesCount64(p[0]&binary.LittleEndian.Uint64(four[0:])) +
				bits.OnesCount64(p[1]&binary.LittleEndian.Uint64(four[8:])) +
				bits.OnesCount64(p[2]&binary.LittleEndian.Uint64(four[16:])) +
				bits.OnesCount64(p[3]&binary.LittleEndian.Uint64(four[24:]))
		}
	case runContainer:
		c.eachRun(func(first, last uint32) { n += Bits(words[:]).Count(int(first-c.key), int(last-c.key)+1) })
	}
	return n
}
