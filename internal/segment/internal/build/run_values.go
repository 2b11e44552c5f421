package build

import (
	"context"
	"encoding/binary"

	"herbarium/internal/herb"
)

// MaxValueSize is the maximum average size of the values, with their lengths, of a field whose values are stored by run.
const MaxValueSize = 128

// collectRunValues collects the value of the first record of each run, in the order of the runs. Facets read them in sequence
// instead of looking up each value in its record. The values are in the order of the records, so they are divided into
// ranges of ranks that fit the memory.
func (b *columnBuilder) collectRunValues(ctx context.Context, buf *sortBuffer) error {
	if !b.field.Filterable || b.field.Type == herb.TypeList || b.size > MaxValueSize*int64(b.records) {
		return nil
	}
	const minMemory, maxParts = 1 << 16, 1 << 8
	memory := max(cap(buf.keys), minMemory)
	parts := min((int(b.size)+rankSize*b.records)/memory+1, maxParts)
	ranks := b.records/parts + 1 // of a part
	values, sizes := make([]*spillFile, parts), make([]int, parts)
	for i := range values {
		values[i] = b.tmp.newSpillFile()
	}
	if parts == 1 {
		values[0].buf, values[0].limit = buf.keys[:0], memory
	}
	var entry []byte
	err := b.eachRunValue(ctx, func(rank uint32, value []byte) error {
		entry = binary.LittleEndian.AppendUint32(entry[:0], rank)
		entry = append(binary.AppendUvarint(entry, uint64(len(value))), value...)
		part := int(rank) / ranks
		sizes[part] += len(entry)
		_, err := values[part].Write(entry)
		return err
	})
	if err != nil {
		return err
	}
	out := runValuesWriter{at: make([]uint32, ranks), out: b.tmp.newSpillFile()}
	b.runValues = out.out
	for i, part := range values {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		entries, err := part.readAt(buf.keys, 0, sizes[i])
		if err != nil {
			return err
		}
		if err := out.write(entries, uint32(i*ranks)); err != nil {
			return err
		}
		if err := part.remove(); err != nil {
			return err
		}
	}
	return nil
}

// eachRunValue calls f for the value of the first record of each run, in the order of the records.
func (b *columnBuilder) eachRunValue(ctx context.Context, f func(rank uint32, value []byte) error) error {
	ranks, err := b.ranks.reader()
	if err != nil {
		return err
	}
	return b.each(ctx, func(_ uint32, value []byte) error {
		rank, err := ranks.next(rankSize)
		if err != nil {
			return err
		}
		if n := binary.LittleEndian.Uint32(rank); b.runStarts.Has(n) {
			return f(n, value)
		}
		return nil
	})
}

const rankSize = 4

// runValuesWriter writes the values of runs in the order of their ranks.
type runValuesWriter struct {
	at     []uint32 // by rank, the offset of the entry + 1; 0 if there is none
	before []byte   // the preceding value
	entry  []byte
	out    *spillFile
}

// write writes the values of some ranks, the lowest of which is first. entries are in any order: rank, length as varint, value.
func (w *runValuesWriter) write(entries []byte, first uint32) error {
	clear(w.at)
	for at := 0; at < len(entries); {
		w.at[binary.LittleEndian.Uint32(entries[at:])-first] = uint32(at) + 1
		size, n := binary.Uvarint(entries[at+rankSize:])
		at += rankSize + n + int(size)
	}
	for _, at := range w.at {
		if at == 0 {
			continue
		}
		value := entries[at-1+rankSize:]
		size, n := binary.Uvarint(value)
		value = value[n:][:size]
		shared := commonPrefix(w.before, value)
		w.entry = binary.AppendUvarint(w.entry[:0], uint64(shared))
		w.entry = binary.AppendUvarint(w.entry, size-uint64(shared))
		w.entry = append(w.entry, value[shared:]...)
		w.before = append(w.before[:shared], value[shared:]...)
		if _, err := w.out.Write(w.entry); err != nil {
			return err
		}
	}
	return nil
}
