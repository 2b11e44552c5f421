package fulltext

import (
	"bytes"
	"encoding/binary"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
)

// pattern matches adjacent words in the forward index, of which the last may be any of several.
type pattern struct {
	index     *Index
	steps     *guard.Steps
	fieldCopy int         // index of the copy of a field in which it must occur, or allCopies
	words     []byte      // the words, or those before the last, as encoded in the forward index
	last      *termRange  // the terms of the last word if it may be any of several, such as those with a prefix
	ids       bitmap.Bits // their numbers + 1; nil if not collected yet; see lastIDs

	// The last result is kept, because many records have the same words as the one before.
	counted []byte // words of the record
	most, n int    // argument and result of countIn
}

// allCopies means all copies of all fields.
const allCopies = -1

// bytesPerStep is the number of bytes of encoded words that count as a step.
const bytesPerStep = 16

// count returns the number of occurrences in a record, up to most; 0 means no limit.
func (p *pattern) count(record uint32, most int) int {
	w := p.index
	b := w.forward[w.starts.At(int(record)):w.starts.At(int(record)+1)]
	if most != p.most || !bytes.Equal(b, p.counted) {
		p.steps.Add(1 + len(b)/bytesPerStep)
		p.counted, p.most, p.n = b, most, p.countIn(b, most)
	}
	return p.n
}

// lastIDs returns the numbers + 1 of the terms of the last word.
func (p *pattern) lastIDs() bitmap.Bits {
	if p.ids == nil {
		p.ids = bitmap.NewBits(p.index.terms.Len() + 1)
		for t := p.last.from; t < p.last.to; t++ {
			p.ids.Add(p.index.ids.At(t) + 1)
		}
	}
	return p.ids
}

// countIn returns the number of occurrences in the words of a record, up to most; 0 means no limit.
func (p *pattern) countIn(b []byte, most int) int {
	if p.fieldCopy != allCopies {
		b = cutCopy(b, p.fieldCopy)
	}
	if len(p.words) == 0 {
		return p.countLast(b, most)
	}
	// The words of a phrase are adjacent in the forward index, so it is found by a byte search. A
	// match must start at a word boundary, which is after a byte without the continuation bit.
	n := 0
	for at := 0; at < len(b); at++ {
		i := bytes.Index(b[at:], p.words)
		if i < 0 {
			break
		}
		at += i
		if at > 0 && b[at-1] >= 0x80 || p.last != nil && !p.beginsWithLast(b[at+len(p.words):]) {
			continue
		}
		n++
		if n == most {
			break
		}
	}
	return n
}

// countLast returns the number of words in b that match the last one, up to most; 0 means no limit.
func (p *pattern) countLast(b []byte, most int) (n int) {
	ids := p.lastIDs()
	for i := 0; i < len(b); i++ {
		id := uint32(b[i])
		if id >= 0x80 {
			id &= 0x7f
			for shift := 7; ; shift += 7 {
				i++
				id |= uint32(b[i]&0x7f) << shift
				if b[i] < 0x80 {
					break
				}
			}
		}
		if ids.Has(id) {
			n++
			if n == most {
				break
			}
		}
	}
	return n
}

func (p *pattern) beginsWithLast(b []byte) bool {
	id, _ := binary.Uvarint(b) // 0 at the end of a field, which is no number
	return p.lastIDs().Has(uint32(id))
}
