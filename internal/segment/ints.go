package segment

import "encoding/binary"

// u32s is an encoded array of 32-bit integers.
type u32s []byte

func (a u32s) len() int            { return len(a) / 4 }
func (a u32s) at(i int) uint32     { return binary.LittleEndian.Uint32(a[4*i:]) }
func (a u32s) slice(i, j int) u32s { return a[4*i : 4*j] }

// appendTo appends the integers to a slice.
func (a u32s) appendTo(dst []uint32) []uint32 {
	for ; len(a) >= 4; a = a[4:] {
		dst = append(dst, binary.LittleEndian.Uint32(a))
	}
	return dst
}

// u64s is an encoded array of 64-bit integers.
type u64s []byte

func (a u64s) len() int        { return len(a) / 8 }
func (a u64s) at(i int) uint64 { return binary.LittleEndian.Uint64(a[8*i:]) }
