package parquet

import (
	"encoding/binary"

	"herbarium/internal/typed"
)

// Limits of a dictionary. Values are numbered with at most 15 bits.
const (
	maxDictionary      = 1 << 15
	maxDictionaryBytes = 1 << 20
)

// dictionary is the distinct values of a row group.
type dictionary struct {
	plain   []byte // in plain encoding
	count   int
	numbers []uint16 // of all values
}

// newDictionary returns the dictionary of the values of a column, or nil if it does not pay: the
// file would not be smaller by a quarter.
func newDictionary(b *columnBuffer) *dictionary {
	n := b.count()
	if b.Kind == typed.Boolean || n == 0 {
		return nil
	}
	d, numbers, plainBytes := &dictionary{numbers: make([]uint16, 0, n)}, map[string]uint16{}, 0
	for i := range n {
		v := b.at(i)
		plainBytes += plainSize(b, v)
		number, ok := numbers[string(v)]
		if !ok {
			number = uint16(len(numbers))
			if len(numbers) == maxDictionary || len(d.plain)+len(v) > maxDictionaryBytes {
				return nil
			}
			numbers[string(v)] = number
			d.plain = appendPlain(d.plain, b, v)
		}
		d.numbers = append(d.numbers, number)
		const sample = 4096
		if i == sample && len(numbers) > sample/2 {
			return nil // most values are distinct
		}
	}
	d.count = len(numbers)
	if len(d.plain)+n*widthOf(d.count-1)/8 > plainBytes/4*3 {
		return nil
	}
	return d
}

// plainSize returns the size of a value in plain encoding.
func plainSize(b *columnBuffer, v []byte) int {
	if b.size == 0 {
		return 4 + len(v)
	}
	return b.size
}

// appendPlain appends a value in plain encoding.
func appendPlain(dst []byte, b *columnBuffer, v []byte) []byte {
	if b.size == 0 {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v)))
	}
	return append(dst, v...)
}
