package build

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/maphash"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/text"
)

// columnBuilder builds the sections of one field from its values.
type columnBuilder struct {
	field    herb.Field
	tmp      *tempDir
	values   *spillFile // all values: length as varint, and bytes
	size     int64      // of the values
	elements *inverted
	lists    *spillFile // u32: for each record, the number of its elements and their ids
	listed   int        // number of elements of all records
	records  int

	sorted     *spillFile // u32
	ranks      *spillFile // u32
	runs       *spillFile // u32
	runCount   int        // number of entries in runs
	nonUniform []byte
	sets       *sortedSets
	runValues  *spillFile // nil if there are none
}

func newColumnBuilder(f herb.Field, tmp *tempDir, memory int) *columnBuilder {
	b := &columnBuilder{field: f, tmp: tmp, values: tmp.newSpillFile(), runs: tmp.newSpillFile()}
	if f.Type == herb.TypeList {
		b.elements, b.lists = newInverted(tmp, memory), tmp.newSpillFile()
	}
	return b
}

// add adds the values of the next records and, for a list field, their elements.
func (b *columnBuilder) add(values []byte, elements *tokens, records int) error {
	if _, err := b.values.Write(values); err != nil {
		return err
	}
	b.size += int64(len(values))
	if b.elements != nil {
		elements.assignIDs(&b.elements.dictionary)
		for i := range records {
			ids := elements.next()
			if err := b.lists.writeU32(uint32(len(ids))); err != nil {
				return err
			}
			b.listed += len(ids)
			for _, id := range ids {
				b.elements.addPair(id, uint32(b.records+i))
				if err := b.lists.writeU32(id); err != nil {
					return err
				}
			}
			if err := b.elements.spillIfFull(); err != nil {
				return err
			}
		}
	}
	b.records += records
	return nil
}

// each calls f for every value. The bytes are only valid until f returns.
func (b *columnBuilder) each(ctx context.Context, f func(record uint32, value []byte) error) error {
	in, err := b.values.reader()
	if err != nil {
		return err
	}
	for record := range b.records {
		if record%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		size, err := in.uvarint()
		if err != nil {
			return err
		}
		value, err := in.next(int(size))
		if err != nil {
			return err
		}
		if err := f(uint32(record), value); err != nil {
			return err
		}
	}
	return nil
}

// sort sorts the records by value and divides them into runs.
func (b *columnBuilder) sort(ctx context.Context, s *sorter) (err error) {
	b.beginSort(s)
	defer func() { err = errors.Join(err, s.finish()) }()
	missing := make([]*spillFile, len(b.field.Notation.Missing)+1) // records whose value is missing, by text.MissingRank
	for i := range missing {
		missing[i] = b.tmp.newSpillFile()
	}
	err = b.each(ctx, func(record uint32, value []byte) error {
		if rank := text.MissingRank(&b.field, value); rank >= 0 {
			return missing[rank].writeU32(record)
		}
		return s.add(value, record)
	})
	if err != nil {
		return err
	}
	if err := b.values.remove(); err != nil {
		return err
	}
	b.sorted, b.sets = b.tmp.newSpillFile(), newSortedSets(b.tmp, b.records)
	if err := b.placeSorted(ctx, s); err != nil {
		return err
	}
	if err := b.beginRun(); err != nil { // the missing values
		return err
	}
	b.markNonUniform(-1)
	for _, m := range missing {
		if err := m.eachU32(b.place); err != nil {
			return err
		}
		if err := m.remove(); err != nil {
			return err
		}
	}
	if err := b.sets.finish(); err != nil {
		return err
	}
	b.ranks, err = b.tmp.invert(b.sorted, b.records, s.limit/2)
	return err
}

// beginSort configures a sorter. Its payload distinguishes values with the same key: their text if it is stored with the key, or
// else a hash of it. Of scalars, the value is stored instead of the key, so it is the payload too.
func (b *columnBuilder) beginSort(s *sorter) {
	if b.storesRunValues() {
		b.runValues = b.tmp.newSpillFile()
	}
	seed, storesKeys := maphash.MakeSeed(), column.ValuesTag(b.field.Type) == file.TagKeys
	payload := func(dst, value []byte) []byte {
		switch isAmbiguous := column.KeyIsAmbiguous(b.field.Type, value); {
		case b.runValues != nil && (isAmbiguous || !storesKeys):
			return append(dst, value...)
		case isAmbiguous:
			return binary.LittleEndian.AppendUint64(dst, maphash.Bytes(seed, value))
		}
		return dst
	}
	s.begin(func(dst, value []byte) ([]byte, error) { return column.AppendSortKey(dst, &b.field, value) }, payload)
}

// placeSorted appends the records of a sorter to the sorted rows.
func (b *columnBuilder) placeSorted(ctx context.Context, s *sorter) error {
	var runKey, runPayload []byte // of the first record of the current run
	values, storesKeys := runValuesWriter{out: b.runValues}, column.ValuesTag(b.field.Type) == file.TagKeys
	return s.each(func(key, payload []byte, record uint32) error {
		if b.runCount == 0 || string(key) != string(runKey) {
			if err := b.beginRun(); err != nil {
				return err
			}
			runKey, runPayload = append(runKey[:0], key...), append(runPayload[:0], payload...)
			if b.runValues != nil {
				value := runPayload
				if storesKeys {
					value = append(runKey, runPayload...)
				}
				if err := values.add(value); err != nil {
					return err
				}
			}
		} else if !column.EqualByKey(b.field.Type) && string(payload) != string(runPayload) {
			b.markNonUniform(b.runCount - 1)
		}
		if b.sets.placed%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return b.place(record)
	})
}

// place appends a record to the sorted rows.
func (b *columnBuilder) place(record uint32) error {
	if err := b.sets.add(record); err != nil {
		return err
	}
	return b.sorted.writeU32(record)
}

// beginRun begins a run after the rows so far. The last one consists of the missing values.
func (b *columnBuilder) beginRun() error {
	if b.runCount++; b.runCount > 1 {
		if err := b.sets.endRun(); err != nil {
			return err
		}
	}
	return b.runs.writeU32(uint32(b.sets.placed))
}

// markNonUniform marks a run as non-uniform; -1 only allocates the bits of all runs.
func (b *columnBuilder) markNonUniform(run int) {
	for len(b.nonUniform) < (b.runCount+6)/8 || run >= 8*len(b.nonUniform) {
		b.nonUniform = append(b.nonUniform, 0)
	}
	if run >= 0 {
		b.nonUniform[run/8] |= 1 << (run % 8)
	}
}

// writeTo writes the sections of the field.
func (b *columnBuilder) writeTo(w *file.Writer, field uint32) error {
	sections := []section{
		{file.TagSorted, b.sorted}, {file.TagRanks, b.ranks}, {file.TagRuns, b.runs},
		{file.TagNonUniform, bytes.NewReader(b.nonUniform)}, {file.TagLongRuns, bytes.NewReader(b.sets.longRuns)},
		{file.TagLongRunSets, b.sets.longRunSets},
	}
	if b.records > 0 {
		sections = append(sections, section{file.TagPrefix, b.sets.prefix})
	}
	if b.runValues != nil {
		sections = append(sections, section{column.ValuesTag(b.field.Type), b.runValues})
	}
	if b.elements != nil {
		elements, err := b.elementSections()
		if err != nil {
			return err
		}
		sections = append(sections, elements...)
	}
	return writeSections(w, field, sections...)
}
