package file

import (
	"encoding/binary"
	"slices"
)

// U32s is an encoded array of 32-bit integers.
type U32s []byte

func (a U32s) Len() int            { return len(a) / 4 }
func (a U32s) At(i int) uint32     { return binary.LittleEndian.Uint32(a[4*i : 4*i+4 : 4*i+4]) }
func (a U32s) Slice(i, j int) U32s { return a[4*i : 4*j] }

// AppendTo appends the integers to a slice.
func (a U32s) AppendTo(dst []uint32) []uint32 {
	dst = slices.Grow(dst, a.Len())
	for ; len(a) >= 4; a = a[4:] {
		dst = append(dst, binary.LittleEndian.Uint32(a))
	}
	return dst
}

// U64s is an encoded array of 64-bit integers.
type U64s []byte

func (a U64s) Len() int        { return len(a) / 8 }
func (a U64s) At(i int) uint64 { return binary.LittleEndian.Uint64(a[8*i:]) }
