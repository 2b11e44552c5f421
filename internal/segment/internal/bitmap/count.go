package bitmap

import (
	"encoding/binary"
	"math/bits"

	"herbarium/internal/segment/internal/guard"
)

// CountIn returns the number of members of an encoded set that are in among; nil counts all. Unlike Table.Get, it caches
// nothing, so that any number of sets can be counted.
func CountIn(st *guard.Steps, b []byte, among Bits) (n int) {
	all := openContainers(b)
	st.Add(1)
	for c, ok := all.next(); ok; c, ok = all.next() {
		st.Add(1 + c.count/64)
		if among == nil {
			n += c.count
			continue
		}
		part := (*[bitmapWords]uint64)(among[c.key/64:])
		switch c.kind {
		case runContainer:
			n += countIntervals(c.data[2:], part)
		case arrayContainer:
			n += countArray(c.data, part)
		case bitmapContainer:
			n += countBits(c.data, part)
		}
	}
	return n
}

func countArray(b []byte, part *[bitmapWords]uint64) (n int) {
	for ; len(b) >= 8; b = b[8:] { // four at a time, which saves a quarter of the time
		v := binary.LittleEndian.Uint64(b)
		v0, v1, v2, v3 := uint16(v), uint16(v>>16), uint16(v>>32), uint16(v>>48)
		n += int(part[v0/64]>>(v0%64)&1 + part[v1/64]>>(v1%64)&1 + part[v2/64]>>(v2%64)&1 + part[v3/64]>>(v3%64)&1)
	}
	for ; len(b) >= 2; b = b[2:] {
		v := binary.LittleEndian.Uint16(b)
		n += int(part[v/64] >> (v % 64) & 1)
	}
	return n
}

func countBits(b []byte, part *[bitmapWords]uint64) (n int) {
	for i := range part {
		n += bits.OnesCount64(part[i] & binary.LittleEndian.Uint64(b[8*i:]))
	}
	return n
}

func countIntervals(b []byte, part *[bitmapWords]uint64) (n int) {
	for ; len(b) >= 4; b = b[4:] {
		first := int(binary.LittleEndian.Uint16(b))
		n += Bits(part[:]).Count(first, first+int(binary.LittleEndian.Uint16(b[2:]))+1)
	}
	return n
}
