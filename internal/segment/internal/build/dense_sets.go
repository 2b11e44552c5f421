package build

import (
	"context"
	"encoding/binary"

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

// densePart is the part of a set in a preceding block: its members, as u16 if that is shorter than bits, and its trailer.
type densePart struct {
	first         uint32 // record of the block
	at            int64  // offset in the spill file
	size, trailer int    // of the members and of the trailer
	isBits        bool
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
	words := (min(denseBlock, s.records-int(first)) + 63) / 64
	var members []uint32
	var data []byte
	for i := range s.sets {
		d := &s.sets[i]
		if members = d.bits.AppendTo(members[:0]); len(members) == 0 {
			continue
		}
		data = data[:0]
		isBits := 2*len(members) > 8*words
		if isBits {
			for _, w := range d.bits[:words] {
				data = binary.LittleEndian.AppendUint64(data, w)
			}
		} else {
			for _, m := range members {
				data = binary.LittleEndian.AppendUint16(data, uint16(m))
			}
		}
		d.parts = append(d.parts, densePart{first, s.size, len(data), len(d.trailer), isBits})
		data = append(data, d.trailer...)
		if _, err := s.spilled.Write(data); err != nil {
			return err
		}
		s.size += int64(len(data))
		clear(d.bits)
		d.trailer = d.trailer[:0]
	}
	return nil
}

// encode encodes all sets after the last record.
func (s *denseSets) encode(ctx context.Context) (*setTable, error) {
	table, all := newSetTable(s.tmp), bitmap.NewBits(s.records)
	var buf, trailer []byte
	for i := range s.sets {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		clear(all)
		trailer = trailer[:0]
		for _, p := range s.sets[i].parts {
			data, err := s.spilled.readAt(buf, p.at, p.size+p.trailer)
			if err != nil {
				return nil, err
			}
			buf = data
			trailer = append(trailer, data[p.size:]...)
			p.addTo(all[p.first/64:], data[:p.size])
		}
		table.AppendBits(all)
		if err := table.End(trailer); err != nil {
			return nil, err
		}
	}
	return table, s.spilled.remove()
}

// addTo adds the members to the bits of the block.
func (p densePart) addTo(block bitmap.Bits, members []byte) {
	if p.isBits {
		for i := range len(members) / 8 {
			block[i] = binary.LittleEndian.Uint64(members[8*i:])
		}
		return
	}
	for ; len(members) > 0; members = members[2:] {
		block.Add(uint32(binary.LittleEndian.Uint16(members)))
	}
}
