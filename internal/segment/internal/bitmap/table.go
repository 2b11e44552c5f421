// Package bitmap implements sets of record numbers: encoded tables of roaring bitmaps, direct access to their containers,
// and dense bitsets.
package bitmap

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

// Table is an encoded table of sets of record numbers: their number, the start of each and the end of the last, and the
// aligned sets in the portable roaring format.
type Table struct {
	records int // number of records in the segment; all members are less
	starts  file.U64s
	body    []byte
	opened  []atomic.Pointer[roaring.Bitmap] // cached sets; nil disables caching
}

// OpenTable returns the table encoded in b, of a segment with the given number of records.
func OpenTable(b []byte, records int) (t Table, err error) {
	t.records = records
	t.starts, t.body, err = file.SplitTable(b)
	t.opened = make([]atomic.Pointer[roaring.Bitmap], t.Len())
	return t, err
}

// Len returns the number of sets.
func (s *Table) Len() int { return max(s.starts.Len()-1, 0) }

// Size returns the number of bytes of all sets.
func (s *Table) Size() int { return len(s.body) }

// Bytes returns an encoded set.
func (s *Table) Bytes(i int) []byte { return s.body[s.starts.At(i):s.starts.At(i+1)] }

// DisableCache makes Get decode sets on every call: for tables with many sets of which few are used.
func (s *Table) DisableCache() { s.opened = nil }

// Get returns a set, which must not be modified.
func (s *Table) Get(i int) *roaring.Bitmap {
	if s.opened != nil {
		if b := s.opened[i].Load(); b != nil {
			return b
		}
	}
	b := roaring.New()
	if raw := s.validated(i); len(raw) > 0 {
		if _, err := b.FromBuffer(raw); err != nil {
			guard.Corrupt("a set: %v", err)
		}
	}
	if s.opened != nil {
		s.opened[i].Store(b)
	}
	return b
}

// validated returns an encoded set after validation.
func (s *Table) validated(i int) []byte {
	raw := s.Bytes(i)
	if len(raw) > 0 {
		if end := validateSet(raw); end > s.records {
			guard.Corrupt("a set has record %d of %d", end-1, s.records)
		}
	}
	return raw
}

// Each calls f for the members of a set. Unlike Get, it caches nothing, so that it can be called for any number of sets.
func (s *Table) Each(st *guard.Steps, i int, f func(record uint32)) {
	all := openContainers(s.validated(i))
	for c, ok := all.next(); ok; c, ok = all.next() {
		st.Add(1 + c.count)
		c.members(f)
	}
}

// validateSet validates an encoded set and returns its greatest member + 1. It panics if the set violates what roaring
// assumes: members in order, correct counts. It is called once per set, on first use.
func validateSet(b []byte) (end int) {
	u16 := binary.LittleEndian.Uint16
	ascend := func(member int) {
		if member < end {
			guard.Corrupt("a set is out of order")
		}
		end = member + 1
	}
	all := openContainers(b)
	for c, ok := all.next(); ok; c, ok = all.next() {
		key, count := int(c.key), c.count
		if key < end {
			guard.Corrupt("a set is out of order")
		}
		switch c.kind {
		case runContainer:
			for at := 2; at < len(c.data); at += 4 {
				ascend(key + int(u16(c.data[at:])))
				end += int(u16(c.data[at+2:]))
			}
		case arrayContainer:
			for at := 0; at < len(c.data); at += 2 {
				ascend(key + int(u16(c.data[at:])))
			}
		case bitmapContainer:
			for i := range bitmapWords {
				if word := c.word(i); word != 0 {
					ascend(key + 64*i + bits.Len64(word) - 1)
					count -= bits.OnesCount64(word)
				}
			}
			if count != 0 {
				guard.Corrupt("a set has a wrong count")
			}
		}
		if end <= key || end > key+ContainerMembers {
			guard.Corrupt("a part of a set is empty or too long")
		}
	}
	return end
}

// Trailer returns the bytes that follow a set.
func (s *Table) Trailer(i int, set *roaring.Bitmap) []byte {
	raw := s.Bytes(i)
	if len(raw) == 0 {
		return nil
	}
	return raw[set.GetSerializedSizeInBytes():]
}
