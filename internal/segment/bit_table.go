package segment

import (
	"context"
	"encoding/binary"

	"github.com/RoaringBitmap/roaring/v2"
)

// bitTable gathers for a few numbers that stand in many records the records they stand in, as inverted does for many that stand in
// few: a bit for each number and record takes less room than a pair, and is not sorted.
type bitTable struct {
	shop    *workshop
	numbers int
	size    int      // records of a block, a multiple of 64
	block   int      // records of it that were told of
	first   uint32   // of them
	bits    []byte   // of each number, a bit for each record of the block
	many    [][]byte // of each number, the records of the block in which it stands more than once: u32, and how often
	runs    []*spool
}

// newBitTable returns a table of so many records, which takes about so much memory.
func newBitTable(shop *workshop, numbers, records, memory int) *bitTable {
	const least = 1 << 12 // records: blocks are merged, and each has a buffer
	size := (min(max(memory*8/numbers, least), records) + 63) / 64 * 64
	return &bitTable{shop: shop, numbers: numbers, size: size, bits: make([]byte, numbers*size/8), many: make([][]byte, numbers)}
}

// add notes that a number stands in a record. Records come in the order of their numbers.
func (t *bitTable) add(number, record uint32) {
	at := int(number)*t.size + int(record-t.first)
	if bit := byte(1) << (at % 8); t.bits[at/8]&bit == 0 {
		t.bits[at/8] |= bit
		return
	}
	m := t.many[number]
	if n := len(m); n > 0 && binary.LittleEndian.Uint32(m[n-5:]) == record {
		m[n-1] = atMostMany(m[n-1], 1)
		return
	}
	t.many[number] = append(binary.LittleEndian.AppendUint32(m, record), 2)
}

// next comes behind each record.
func (t *bitTable) next() error {
	if t.block++; t.block < t.size {
		return nil
	}
	return t.spill()
}

// spill writes a block: for each number its bits, how many records have it more than once, and those.
func (t *bitTable) spill() error {
	out := t.shop.newSpool()
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

// sets returns the records of every number, and those of them in which it stands more than once, followed by how often. Nothing
// can be added after it.
func (t *bitTable) sets(ctx context.Context) (found, twice setsWriter, err error) {
	if t.block > 0 {
		if err := t.spill(); err != nil {
			return found, twice, err
		}
	}
	t.bits, t.many = nil, nil
	runs := make([]*spoolReader, len(t.runs))
	for i, s := range t.runs {
		if runs[i], err = s.reader(); err != nil {
			return found, twice, err
		}
	}
	found.body, twice.body = t.shop.newSpool(), t.shop.newSpool()
	bits := newBitset(len(runs) * t.size)
	var records []uint32
	var counts []byte
	for range t.numbers {
		if ctx.Err() != nil {
			return found, twice, context.Cause(ctx)
		}
		records, counts = records[:0], counts[:0]
		for i, r := range runs {
			if records, counts, err = t.read(r, bits[i*t.size/64:][:t.size/64], records, counts); err != nil {
				return found, twice, err
			}
		}
		if err := found.add(roaring.FromDense(bits, true), nil); err != nil {
			return found, twice, err
		}
		if err := twice.add(roaring.BitmapOf(records...), counts); err != nil {
			return found, twice, err
		}
	}
	for _, s := range t.runs {
		if err := s.remove(); err != nil {
			return found, twice, err
		}
	}
	return found, twice, nil
}

// read reads what spill wrote of a number.
func (t *bitTable) read(r *spoolReader, bits bitset, records []uint32, counts []byte) ([]uint32, []byte, error) {
	b, err := r.take(t.size / 8)
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
	if b, err = r.take(int(n)); err != nil {
		return nil, nil, err
	}
	for ; len(b) > 0; b = b[5:] {
		records, counts = append(records, binary.LittleEndian.Uint32(b)), append(counts, b[4])
	}
	return records, counts, nil
}
