package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
)

// sets is an encoded table of sets of record numbers: their number, the start of each and the end of the last, and the
// aligned sets in the portable roaring format.
type sets struct {
	records int // number of records in the segment; all members are less
	starts  u64s
	body    []byte
	opened  []atomic.Pointer[roaring.Bitmap] // cached sets; nil disables caching
}

func openSets(b []byte, records int) (sets, error) {
	if len(b) == 0 {
		return sets{}, nil
	}
	if len(b) < 8 {
		return sets{}, fmt.Errorf("%w: table of sets", ErrCorrupt)
	}
	n := binary.LittleEndian.Uint64(b)
	if n > uint64(len(b))/8 || 8*(n+2) > uint64(len(b)) {
		return sets{}, fmt.Errorf("%w: table of sets", ErrCorrupt)
	}
	return sets{
		records: records,
		starts:  u64s(b[8 : 8*(n+2)]),
		body:    b[8*(n+2):],
		opened:  make([]atomic.Pointer[roaring.Bitmap], n),
	}, nil
}

func (s *sets) len() int { return max(s.starts.len()-1, 0) }

// bytes returns an encoded set.
func (s *sets) bytes(i int) []byte { return s.body[s.starts.at(i):s.starts.at(i+1)] }

// get returns a set, which must not be modified.
func (s *sets) get(i int) (*roaring.Bitmap, error) {
	if s.opened != nil {
		if b := s.opened[i].Load(); b != nil {
			return b, nil
		}
	}
	b := roaring.New()
	if raw := s.bytes(i); len(raw) > 0 {
		if end := validateSet(raw); end > s.records {
			return nil, fmt.Errorf("%w: a set has record %d of %d", ErrCorrupt, end-1, s.records)
		}
		if _, err := b.FromBuffer(raw); err != nil {
			return nil, fmt.Errorf("%w: a set: %w", ErrCorrupt, err)
		}
	}
	if s.opened != nil {
		s.opened[i].Store(b)
	}
	return b, nil
}

// addTo adds the members of a set to dense. Unlike get it caches nothing, so that any number of sets can be added.
func (s *sets) addTo(st *steps, dense bitset, i int) error {
	raw := s.bytes(i)
	if len(raw) == 0 {
		return nil
	}
	if end := validateSet(raw); end > s.records {
		return fmt.Errorf("%w: a set has record %d of %d", ErrCorrupt, end-1, s.records)
	}
	all := openContainers(raw)
	for c, ok := all.next(noEnd); ok; c, ok = all.next(noEnd) {
		st.add(1 + c.count)
		c.members(dense.add)
	}
	return nil
}

// validateSet validates an encoded set and returns its greatest member + 1. It panics if the set violates what roaring
// takes for granted: members in order, correct counts. It is called once per set, on first use.
func validateSet(b []byte) (end int) {
	u16 := binary.LittleEndian.Uint16
	ascend := func(member int) {
		if member < end {
			panic(corruption{errors.New("a set is out of order")})
		}
		end = member + 1
	}
	all := openContainers(b)
	for c, ok := all.next(noEnd); ok; c, ok = all.next(noEnd) {
		key, count := int(c.key), c.count
		if key < end {
			panic(corruption{errors.New("a set is out of order")})
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
				panic(corruption{errors.New("a set has a wrong count")})
			}
		}
		if end <= key || end > key+containerMembers {
			panic(corruption{errors.New("a part of a set is empty or too long")})
		}
	}
	return end
}

// trailer returns the bytes that follow a set.
func (s *sets) trailer(i int, set *roaring.Bitmap) []byte {
	raw := s.bytes(i)
	if len(raw) == 0 {
		return nil
	}
	return raw[set.GetSerializedSizeInBytes():]
}

// setsWriter writes a table of sets to a spill file, because the table precedes the sets but is complete only after
// them.
type setsWriter struct {
	starts []uint64
	at     uint64
	body   *spillFile
}

// add appends a set in its smallest encoding, followed by a trailer.
func (w *setsWriter) add(b *roaring.Bitmap, behind []byte) error {
	b.RunOptimize()
	return w.write(b, behind)
}

// write appends a set in its current encoding, followed by a trailer. Empty sets take no space.
func (w *setsWriter) write(b *roaring.Bitmap, behind []byte) error {
	w.starts = append(w.starts, w.at)
	if b.IsEmpty() {
		return nil
	}
	n, err := b.WriteTo(w.body)
	if err != nil {
		return err
	}
	n += int64(len(behind))
	pad := -n & (alignment - 1)
	if _, err := w.body.Write(append(behind, make([]byte, pad)...)); err != nil {
		return err
	}
	w.at += uint64(n + pad)
	return nil
}

// writeTo writes the table as a section.
func (w *setsWriter) writeTo(f *fileWriter, t tag, field uint32) error {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(w.starts)))
	for _, s := range w.starts {
		b = binary.LittleEndian.AppendUint64(b, s)
	}
	b = binary.LittleEndian.AppendUint64(b, w.at)
	return f.section(t, field, bytes.NewReader(b), w.body)
}
