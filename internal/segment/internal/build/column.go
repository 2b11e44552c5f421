package build

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/text"
	"herbarium/internal/typed"
)

// columnBuilder builds the sections of one field from its values.
type columnBuilder struct {
	field    herb.Field
	label    []byte // what precedes a value in the JSON of a record
	tmp      *tempDir
	values   *spillFile // all values: length as varint, and bytes
	size     int64      // of the values
	elements *invertedIndex
	lists    *spillFile // u32: for each record, the number of its elements and their ids
	listed   int        // number of elements of all records
	records  int
	facts    typed.Facts

	sorted     *spillFile // u32: by rank, the record
	ranks      *spillFile // u32: by record, the rank
	runs       *spillFile // u32: first rank of each run, and then of the missing values
	runCount   int        // number of starts in runs
	nonUniform []byte     // one bit for each run with different payloads
	sets       *sortedSets
	runValues  *spillFile // nil if there are none
}

func newColumnBuilder(f herb.Field, tmp *tempDir, memory int) *columnBuilder {
	b := &columnBuilder{field: f, tmp: tmp, values: tmp.newSpillFile(), runs: tmp.newSpillFile()}
	if f.Type == herb.TypeList {
		b.elements, b.lists = newInvertedIndex(tmp, memory), tmp.newSpillFile()
	}
	return b
}

// add adds the values of the next records, their facts and, for a list field, their elements.
func (b *columnBuilder) add(values []byte, facts typed.Facts, elements *tokens, records int) error {
	b.values.Write(values)
	b.facts.Merge(facts)
	b.size += int64(len(values))
	if b.elements != nil {
		elements.assignIDs(&b.elements.dictionary)
		for i := range records {
			ids := elements.next()
			b.lists.writeU32(uint32(len(ids)))
			b.listed += len(ids)
			if b.listed > file.MaxElements {
				return herb.Invalidf("field %q has more than %d elements in all records; a list cannot have more",
					b.field.Name, file.MaxElements)
			}
			for _, id := range ids {
				b.elements.addPair(id, uint32(b.records+i), 0)
				b.lists.writeU32(id)
			}
			b.elements.spillIfFull(uint32(b.records + i + 1))
		}
	}
	b.records += records
	return nil
}

// recordsPerCheck is the number of records between checks whether the build is canceled.
const recordsPerCheck = 4096

// sort sorts the records by value and divides them into runs.
func (b *columnBuilder) sort(s *sorter) (err error) {
	b.beginSort(s)
	// records whose value is missing, by text.MissingPosition
	missing := make([]*spillFile, len(b.field.Notation.Missing)+1)
	for i := range missing {
		missing[i] = b.tmp.newSpillFile()
	}
	if err := b.addValues(s, missing); err != nil {
		return err
	}
	b.sorted, b.sets = b.tmp.newSpillFile(), newSortedSets(b.tmp, b.records)
	if err := b.appendSorted(s); err != nil {
		return err
	}
	if err := s.finish(); err != nil {
		return err
	}
	b.beginRun() // the missing values
	for _, m := range missing {
		if err := m.eachU32(b.appendRecord); err != nil {
			return err
		}
		if err := m.remove(); err != nil {
			return err
		}
	}
	b.sets.finish()
	b.ranks, err = b.tmp.invert(b.sorted, b.records, s.limit/2)
	return err
}

// addValues adds each value to a sorter or, if it is missing, its record to missing. It removes the
// values.
func (b *columnBuilder) addValues(s *sorter, missing []*spillFile) error {
	in := b.values.reader()
	for record := range uint32(b.records) {
		if record%recordsPerCheck == 0 && b.tmp.err() != nil {
			return b.tmp.err()
		}
		value, err := in.nextSized()
		if err != nil {
			return err
		}
		if position := text.MissingPosition(&b.field, value); position >= 0 {
			missing[position].writeU32(record)
		} else if err := s.add(value, record); err != nil {
			return err
		}
	}
	return b.values.remove()
}

// beginSort configures a sorter. The payload of a value distinguishes it from others with the same
// key: it is the text if the file stores it with the key, or else a hash of the text. If the file
// stores the value instead of the key, the payload is the value.
func (b *columnBuilder) beginSort(s *sorter) {
	if b.storesRunValues() {
		b.runValues = b.tmp.newSpillFile()
	}
	seed, storesKeys := maphash.MakeSeed(), file.ValuesTag(b.field.Type) == file.TagValueKeys
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

// appendSorted appends the records of a sorter to the sorted rows.
func (b *columnBuilder) appendSorted(s *sorter) error {
	var runKey, runPayload []byte // of the first record of the current run
	values, storesKeys := runValuesWriter{out: b.runValues}, file.ValuesTag(b.field.Type) == file.TagValueKeys
	return s.each(func(key, payload []byte, record uint32) {
		if b.runCount == 0 || string(key) != string(runKey) {
			if b.runCount%8 == 0 {
				b.nonUniform = append(b.nonUniform, 0)
			}
			b.beginRun()
			runKey, runPayload = append(runKey[:0], key...), append(runPayload[:0], payload...)
			if b.runValues != nil {
				value := runPayload
				if storesKeys {
					value = append(runKey, runPayload...)
				}
				values.add(value)
			}
		} else if !column.EqualByKey(b.field.Type) && string(payload) != string(runPayload) {
			run := b.runCount - 1
			b.nonUniform[run/8] |= 1 << (run % 8)
		}
		b.appendRecord(record)
	})
}

// appendRecord appends a record to the sorted rows.
func (b *columnBuilder) appendRecord(record uint32) {
	b.sets.add(record)
	b.sorted.writeU32(record)
}

// beginRun begins a run at the next row. The last run consists of the missing values.
func (b *columnBuilder) beginRun() {
	b.runCount++
	if b.runCount > 1 {
		b.sets.endRun()
	}
	b.runs.writeU32(uint32(b.sets.added))
}

// writeTo writes the sections of the field.
func (b *columnBuilder) writeTo(w *file.Writer, field uint32) error {
	sections := []section{
		{file.TagSortedRows, b.sorted}, {file.TagRanks, b.ranks}, {file.TagRuns, b.runs},
		{file.TagNonUniformRuns, bytes.NewReader(b.nonUniform)}, {file.TagLongRuns, bytes.NewReader(b.sets.longRuns)},
		{file.TagLongRunSets, b.sets.longRunSets}, {file.TagLeadingSets, b.sets.leading},
	}
	switch {
	case b.elements != nil:
		elements, err := b.elementSections()
		if err != nil {
			return err
		}
		sections = append(sections, elements...)
	case b.runValues != nil:
		sections = append(sections, section{file.ValuesTag(b.field.Type), b.runValues})
	case b.field.Filterable:
		sections = append(sections, section{file.ValuesTag(b.field.Type), bytes.NewReader(nil)})
	}
	return writeSections(w, field, sections...)
}
