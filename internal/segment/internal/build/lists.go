package build

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"

	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/file"
)

// elementSections returns the sections of the elements of a list field.
func (b *columnBuilder) elementSections() ([]section, error) {
	listed := newSetTable(b.tmp)
	if _, err := b.elements.encode(context.Background(), listed, nil); err != nil {
		return nil, err
	}
	names, ids := b.elements.sorted()
	order := column.ElementOrder(names)
	sections := []section{
		{file.TagElement, bytes.NewReader(file.EncodeStrings(names))}, {file.TagNumbers, bytes.NewReader(ids)},
		{file.TagListed, listed}, {file.TagElementOrder, bytes.NewReader(order)},
	}
	if b.listed > math.MaxUint32 { // more than starts can address
		return sections, b.lists.remove()
	}
	positions := make([]uint32, len(names)) // in sort order, by id
	for p := range positions {
		positions[file.U32s(ids).At(int(order.At(p)))] = uint32(p)
	}
	forward, err := b.forwardSections(positions)
	return append(sections, forward...), err
}

// forwardSections returns the forward index of the elements, given the position of each in sort order by id.
func (b *columnBuilder) forwardSections(positions []uint32) ([]section, error) {
	starts, encoded := b.tmp.newSpillFile(), b.tmp.newSpillFile()
	size := column.PositionSize(len(positions))
	var buf [4]byte
	at, left := uint32(0), uint32(0) // elements written, and elements of the record to write
	err := b.lists.eachU32(func(n uint32) error {
		if left == 0 { // a record begins
			left = n
			return starts.writeU32(at)
		}
		at++
		left--
		_, err := encoded.Write(binary.LittleEndian.AppendUint32(buf[:0], positions[n])[:size])
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := starts.writeU32(at); err != nil {
		return nil, err
	}
	return []section{{file.TagListStarts, starts}, {file.TagPositions, encoded}}, b.lists.remove()
}
