package build

import (
	"encoding/binary"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/text"
)

// elementSections returns the sections of the elements of a list field.
func (b *columnBuilder) elementSections() ([]section, error) {
	listed := newSetTable(b.tmp)
	if _, err := b.elements.encode(listed, nil); err != nil {
		return nil, err
	}
	ids := b.elementOrder()
	table, numbers := b.elements.tables(ids)
	b.elements.release()
	positions := newTable[uint32](&b.tmp.tables, len(ids)) // by id
	for position, id := range ids {
		positions[id] = uint32(position)
	}
	freeTable(&b.tmp.tables, ids)
	sections := []section{{file.TagElements, table}, {file.TagElementNumbers, numbers},
		{file.TagElementPostings, listed}}
	forward, err := b.forwardSections(positions)
	if err != nil {
		return nil, err
	}
	return append(sections, forward...), b.lists.remove()
}

// elementOrder returns the numbers of the elements, sorted by sort key, then by their bytes.
func (b *columnBuilder) elementOrder() []uint32 {
	ids := b.elements.order()
	keys := newDictionary(&b.tmp.tables)
	for _, id := range ids {
		key, _ := text.Key(herb.TypeText, string(b.elements.name(id)))
		keys.add([]byte(key))
	}
	keys.finish()
	order := keys.order(b.tmp)
	keys.release()
	for position, i := range order {
		order[position] = ids[i]
	}
	freeTable(&b.tmp.tables, ids)
	return order
}

// forwardSections returns the forward index of the elements, given the position of each in sort
// order by id.
func (b *columnBuilder) forwardSections(positions []uint32) ([]section, error) {
	starts, encoded := b.tmp.newSpillFile(), b.tmp.newSpillFile()
	size := column.PositionSize(len(positions))
	var buf [4]byte
	var list []uint32                // positions of the elements of a record
	at, left := uint32(0), uint32(0) // elements written, and elements of the record to collect
	err := b.lists.eachU32(func(n uint32) {
		if left == 0 { // a record begins
			left = n
			starts.writeU32(at)
			return
		}
		list = append(list, positions[n])
		left--
		if left > 0 {
			return
		}
		slices.Sort(list)
		for _, position := range list {
			encoded.Write(binary.LittleEndian.AppendUint32(buf[:0], position)[:size])
		}
		at += uint32(len(list))
		list = list[:0]
	})
	starts.writeU32(at)
	return []section{{file.TagElementOffsets, starts}, {file.TagElementPositions, encoded}}, err
}
