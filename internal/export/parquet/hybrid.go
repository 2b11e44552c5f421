package parquet

import (
	"encoding/binary"
	"math/bits"
)

// groupSize is the number of values that are packed together, and the least length of a run.
const groupSize = 8

// appendHybrid appends numbers of a number of bits in the hybrid encoding of runs and packed
// groups.
func appendHybrid[T uint8 | uint16](dst []byte, numbers []T, width int) []byte {
	for i := 0; i < len(numbers); {
		if n := runLength(numbers[i:]); n >= groupSize {
			dst = binary.AppendUvarint(dst, uint64(n)<<1)
			dst = append(dst, byte(numbers[i]))
			if width > groupSize {
				dst = append(dst, byte(uint16(numbers[i])>>8))
			}
			i += n
			continue
		}
		end := i + groupSize
		for end < len(numbers) && runLength(numbers[end:min(end+groupSize, len(numbers))]) < groupSize {
			end += groupSize
		}
		groups := (end - i) / groupSize
		dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
		packed, filled := uint64(0), 0
		for k := i; k < end; k++ {
			if k < len(numbers) {
				packed |= uint64(numbers[k]) << filled
			}
			for filled += width; filled >= 8; filled -= 8 {
				dst = append(dst, byte(packed))
				packed >>= 8
			}
		}
		i = min(end, len(numbers))
	}
	return dst
}

// runLength returns how many equal numbers there are at the start.
func runLength[T uint8 | uint16](numbers []T) int {
	n := 1
	for n < len(numbers) && numbers[n] == numbers[0] {
		n++
	}
	return n
}

// widthOf returns the number of bits of the numbers up to a maximum, at least 1.
func widthOf(maximum int) int { return max(bits.Len(uint(maximum)), 1) }
