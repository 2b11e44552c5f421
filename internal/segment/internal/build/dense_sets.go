package build

import (
	"context"

	"herbarium/internal/segment/internal/bitmap"
)

// denseSets collects sets that contain many records. The sets of the current block of records are bits in memory, so that
// adding a record takes a fraction of the time of a pair in an inverted; those of the preceding blocks are in a spill file.
type denseSets struct {
	tmp     *tempDir
	records int      // number of all
	word    []uint64 // by set, the bits of the current 64 records, which fit the cache
	sets    []denseSet
	spilled *spillFile
	size    int64 // of spilled
}

type denseSet struct {
	bits    bitmap.Bits // of the current block without the current 64 records; nil until there is a member
	trailer []byte      // follows the set in its table; of the current block
	parts   []densePart
}

// densePart is the part of a set in a preceding block, followed by its part of the trailer.
type densePart struct {
	at   int64 // offset in the spill file
	size int
}

// denseBlock is the number of records in a block.
const denseBlock = bitmap.ContainerMembers

func newDenseSets(tmp *tempDir, records, sets int) *denseSets {
	return &denseSets{tmp: tmp, records: records, word: make([]uint64, sets), sets: make([]denseSet, sets), spilled: tmp.newSpillFile()}
}

// add adds a record to a set. Records must be added in order.
func (s *denseSets) add(set int, record uint32) { s.word[set] |= 1 << (record % 64) }

// addTrailer appends a byte to the trailer of a set.
func (s *denseSets) addTrailer(set int, b byte) { s.sets[set].trailer = append(s.sets[set].trailer, b) }

// endRecord must be called after a record was added to its sets.
func (s *denseSets) endRecord(record uint32) error {
	next := record + 1
	if isLast := int(next) == s.records; isLast || next%64 == 0 {
		s.endWord(record % denseBlock / 64)
		if isLast || next%denseBlock == 0 {
			return s.spill(record / denseBlock * denseBlock)
		}
	}
	return nil
}

// endWord adds the current 64 records to the sets of the block.
func (s *denseSets) endWord(at uint32) {
	for set, word := range s.word {
		if word == 0 {
			continue
		}
		d := &s.sets[set]
		if d.bits == nil {
			d.bits = bitmap.NewBits(min(s.records, denseBlock))
		}
		d.bits[at], s.word[set] = word, 0
	}
}

// spill writes the sets of the block that starts with a record to the spill file.
func (s *denseSets) spill(first uint32) error {
	for i := range s.sets {
		d := &s.sets[i]
		part := bitmap.EncodePart(first, d.bits)
		if part == nil {
			continue
		}
		part = append(part, d.trailer...)
		if _, err := s.spilled.Write(part); err != nil {
			return err
		}
		d.parts = append(d.parts, densePart{s.size, len(part)})
		s.size += int64(len(part))
		clear(d.bits)
		d.trailer = d.trailer[:0]
	}
	return nil
}

// encode encodes all sets after the last record.
func (s *denseSets) encode(ctx context.Context) (*setTable, error) {
	table := newSetTable(s.tmp)
	var buf, trailer []byte
	for _, d := range s.sets {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		trailer = trailer[:0]
		for _, p := range d.parts {
			part, err := s.spilled.readAt(buf, p.at, p.size)
			if err != nil {
				return nil, err
			}
			size, err := table.AppendPart(part)
			if err != nil {
				return nil, err
			}
			buf, trailer = part, append(trailer, part[size:]...)
		}
		if err := table.End(trailer); err != nil {
			return nil, err
		}
	}
	return table, s.spilled.remove()
}
