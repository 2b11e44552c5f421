package fulltext

import (
	"encoding/binary"
	"slices"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
)

// Position returns the position of a word in a record, given its index in one of some searchable fields. The position of the next word of
// the field is greater by the number of fields.
func Position(index, field, fields int) uint64 { return uint64(index)*uint64(fields) + uint64(field) }

// AppendPositions appends the positions of a bigram in a record, which it sorts: each as the difference from the one before. A position in a
// field with a weight is given several times and stored once.
func AppendPositions(dst []byte, positions []uint32) []byte {
	slices.Sort(positions)
	before := uint32(0)
	for _, position := range slices.Compact(positions) {
		dst = binary.AppendUvarint(dst, uint64(position-before))
		before = position
	}
	return dst
}

// positionReader reads the positions of a bigram in ascending records.
type positionReader struct {
	steps   *guard.Steps
	members *bitmap.Cursor
	rest    []byte // positions of the members that the cursor has not returned, each after their size
}

// in returns the positions in a record that contains the bigram, which is not before that of the last call.
func (r *positionReader) in(record uint32) []byte {
	for {
		r.steps.Add(1)
		member, ok := r.members.Next()
		if !ok || member > record {
			guard.Corrupt("a bigram has no positions in record %d", record)
		}
		size, rest := cutUvarint(r.rest)
		if r.rest = rest[size:]; member == record {
			return rest[:size]
		}
	}
}

// phraseCounter counts a phrase, all of whose adjacent words are bigrams, by the positions of these.
type phraseCounter struct {
	index   *Index
	steps   *guard.Steps
	field   int // the searchable field in which the phrase must occur, or allParts
	bigrams []positionReader
	found   []uint32 // buffer for the positions of the phrase in a record
}

func (w *Index) newPhraseCounter(st *guard.Steps, bigrams []int, field int) *phraseCounter {
	c := &phraseCounter{index: w, steps: st, field: field}
	for _, number := range bigrams {
		c.bigrams = append(c.bigrams, positionReader{st, w.bigrams.docs.Set(number).Cursor(), w.bigrams.positions.At(number)})
	}
	return c
}

// count returns the number of occurrences in a record that contains all bigrams, up to most. Records must be ascending.
func (c *phraseCounter) count(record uint32, most int) (n int) {
	fields := uint32(c.index.searchable)
	for i := range c.bigrams {
		c.keepContinued(c.bigrams[i].in(record), uint32(i)*fields)
		if len(c.found) == 0 {
			return 0
		}
	}
	for _, position := range c.found {
		if field := int(position % fields); c.field == allParts || c.field == field {
			n += c.index.weights[field]
		}
	}
	return min(n, most)
}

// keepContinued keeps the positions of the phrase that a bigram continues at a distance, given the positions of the bigram. The first one is at
// the distance 0.
func (c *phraseCounter) keepContinued(positions []byte, distance uint32) {
	c.steps.Add(len(positions) / bytesPerStep)
	before, position := c.found, uint32(0)
	c.found = c.found[:0]
	for len(positions) > 0 {
		var difference uint32
		difference, positions = cutUvarint(positions)
		position += difference
		for distance > 0 && len(before) > 0 && before[0]+distance < position {
			before = before[1:]
		}
		if distance == 0 || len(before) > 0 && before[0]+distance == position {
			c.found = append(c.found, position-distance) // not behind before, which is in the same memory
		}
	}
}

// cutUvarint returns the number at the start of b and the bytes after it.
func cutUvarint(b []byte) (uint32, []byte) {
	n, size := binary.Uvarint(b)
	if size <= 0 {
		guard.Corrupt("a bigram has an invalid position")
	}
	return uint32(n), b[size:]
}
