package build

import (
	"context"
	"encoding/binary"
	"errors"

	"herbarium/internal/herb"
)

// MaxValueSize is the maximum average size of the values, with their lengths, of a field whose values are stored by run.
const MaxValueSize = 128

// collectRunValues collects the value of the first record of each run, in the order of the runs. Facets read them in sequence
// instead of looking up each value in its record. Values in records are in another order, so they are sorted by rank.
func (b *columnBuilder) collectRunValues(ctx context.Context, buf *sortBuffer) (err error) {
	if !b.field.Filterable || b.field.Type == herb.TypeList || b.size > MaxValueSize*int64(b.records) {
		return nil
	}
	ranks, err := b.ranks.reader()
	if err != nil {
		return err
	}
	s := newSorter(b.tmp, buf, func(dst, value []byte) ([]byte, error) { return append(dst, value...), nil })
	defer func() { err = errors.Join(err, s.close()) }()
	var ranked []byte // rank and value
	err = b.each(ctx, func(record uint32, value []byte) error {
		rank, err := ranks.next(4)
		if err != nil {
			return err
		}
		n := binary.LittleEndian.Uint32(rank)
		if !b.runStarts.Has(n) {
			return nil
		}
		ranked = append(binary.BigEndian.AppendUint32(ranked[:0], n), value...)
		return s.add(ranked, record)
	})
	if err != nil {
		return err
	}
	b.runValues = b.tmp.newSpillFile()
	var before, entry []byte
	return s.each(func(ranked []byte, _ uint32, _ uint64) error {
		value := ranked[4:]
		shared := commonPrefix(before, value)
		entry = binary.AppendUvarint(entry[:0], uint64(shared))
		entry = binary.AppendUvarint(entry, uint64(len(value)-shared))
		entry = append(entry, value[shared:]...)
		before = append(before[:shared], value[shared:]...)
		_, err := b.runValues.Write(entry)
		return err
	})
}
