package segment

import (
	"context"
	"encoding/binary"

	"github.com/RoaringBitmap/roaring/v2"
)

// bitTable collects the postings of a few terms that occur in many records, as inverted does for many rare terms: one
// bit per term and record takes less space than a pair and need not be sorted.
type bitTable struct {
	tmp     *tempDir
	numbers int
	size    int      // records per block, a multiple of 64
	block   int      // records in the current block
	first   uint32   // first record of the block
	bits    []byte   // by number, one bit for each record of the block
	many    [][]byte // by number, the records of the block with a frequency above 1: u32 and frequency
	runs    []*spillFile
}

// newBitTable returns a table that uses about the given amount of memory.
func newBitTable(tmp *tempDir, numbers, records, memory int) *bitTable {
	const least = 1 << 12 // minimum number of records: blocks are merged, and each has a buffer
	size := (min(max(memory*8/numbers, least), records) + 63) / 64 * 64
	return &bitTable{tmp: tmp, numbers: numbers, size: size, bits: make([]byte, numbers*size/8), many: make([][]byte, numbers)}
}

// add records an occurrence of a number in a record. Records must be added in order.
func (t *bitTable) add(number, record uint32) {
	at := int(number)*t.size + int(record-t.first)
	if bit := byte(1) << (at % 8); t.bits[at/8]&bit == 0 {
		t.bits[at/8] |= bit
		return
	}
	m := t.many[number]
	if n := len(m); n > 0 && binary.LittleEndian.Uint32(m[n-5:]) == record {
		m[n-1] = addFrequencies(m[n-1], 1)
		return
	}
	t.many[number] = append(binary.LittleEndian.AppendUint32(m, record), 2)
}

// next ends a record.
func (t *bitTable) next() error {
	if t.block++; t.block < t.size {
		return nil
	}
	return t.spill()
}

// spill writes a block: for each number its bits, the number of records with a frequency above 1, and those.
func (t *bitTable) spill() error {
	out := t.tmp.newSpillFile()
	t.runs = append(t.runs, out)
	for number, many := range t.many {
		if _, err := out.Write(t.bits[number*t.size/8:][:t.size/8]); err != nil {
			return err
		}
		if _, err := out.Write(binary.AppendUvarint(nil, uint64(len(many)))); err != nil {
			return err
		}
		if _, err := out.Write(many); err != nil {
			return err
		}
		t.many[number] = many[:0]
	}
	clear(t.bits)
	t.first, t.block = t.first+uint32(t.block), 0
	return nil
}

// sets returns the postings of every number and its term-frequency postings. Nothing can be added afterwards.
func (t *bitTable) sets(ctx context.Context) (found, freqs setsWriter, err error) {
	if t.block > 0 {
		if err := t.spill(); err != nil {
			return found, freqs, err
		}
	}
	t.bits, t.many = nil, nil
	runs := make([]*spillReader, len(t.runs))
	for i, s := range t.runs {
		if runs[i], err = s.reader(); err != nil {
			return found, freqs, err
		}
	}
	found.body, freqs.body = t.tmp.newSpillFile(), t.tmp.newSpillFile()
	bits := newBitset(len(runs) * t.size)
	var records []uint32
	var counts []byte
	for range t.numbers {
		if ctx.Err() != nil {
			return found, freqs, context.Cause(ctx)
		}
		records, counts = records[:0], counts[:0]
		for i, r := range runs {
			if records, counts, err = t.read(r, bits[i*t.size/64:][:t.size/64], records, counts); err != nil {
				return found, freqs, err
			}
		}
		if err := found.add(roaring.FromDense(bits, true), nil); err != nil {
			return found, freqs, err
		}
		if err := freqs.add(roaring.BitmapOf(records...), counts); err != nil {
			return found, freqs, err
		}
	}
	for _, s := range t.runs {
		if err := s.remove(); err != nil {
			return found, freqs, err
		}
	}
	return found, freqs, nil
}

// read reads the part of a number as written by spill.
func (t *bitTable) read(r *spillReader, bits bitset, records []uint32, counts []byte) ([]uint32, []byte, error) {
	b, err := r.next(t.size / 8)
	if err != nil {
		return nil, nil, err
	}
	for i := range bits {
		bits[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	n, err := r.uvarint()
	if err != nil {
		return nil, nil, err
	}
	if b, err = r.next(int(n)); err != nil {
		return nil, nil, err
	}
	for ; len(b) > 0; b = b[5:] {
		records, counts = append(records, binary.LittleEndian.Uint32(b)), append(counts, b[4])
	}
	return records, counts, nil
}
