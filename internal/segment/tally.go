package segment

import (
	"encoding/binary"
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"
)

// tallyRecords is how many records are counted at a time: what is counted in stays in the processor's cache.
const tallyRecords = 16 * containerMembers

// tally counts in how many of some words each record has. It does not count further than three: of the records that have
// one of many words hardly any has three of them, so that three sets say nearly everything.
type tally struct {
	bits  [3][tallyRecords / 64]uint64 // the records that were counted at least once, twice, three times
	words []talliedWord
}

// talliedWord is a word that is being counted.
type talliedWord struct {
	found  containers
	twice  containers
	counts []byte // of the members of twice that are still to come
}

// add adds a word to those to be counted: its sets as they lie in the file, which must have been looked at before.
func (t *tally) add(found, twice, counts []byte) {
	t.words = append(t.words, talliedWord{openContainers(found), openContainers(twice), counts})
}

// count returns the records that have one of the words, that have two or one of them twice, and that have three.
func (t *tally) count(records int) (out [3]*roaring.Bitmap) {
	once := make(bitset, 0, (records+tallyRecords-1)/tallyRecords*len(t.bits[0]))
	out[1], out[2] = roaring.New(), roaring.New()
	var members []uint32
	for first := 0; first < records; first += tallyRecords {
		for i := range t.bits {
			clear(t.bits[i][:])
		}
		for i := range t.words {
			t.countUpTo(&t.words[i], uint64(first+tallyRecords))
		}
		once = append(once, t.bits[0][:]...)
		for i := range out[1:] {
			members = members[:0]
			for k, word := range t.bits[i+1] {
				for ; word != 0; word &= word - 1 {
					members = append(members, uint32(first+64*k+bits.TrailingZeros64(word)))
				}
			}
			out[i+1].AddMany(members)
		}
	}
	out[0] = once.set()
	clear(t.words)
	t.words = t.words[:0]
	return out
}

// countUpTo counts a word in the records up to end that were not counted yet.
func (t *tally) countUpTo(w *talliedWord, end uint64) {
	for c, ok := w.found.next(end); ok; c, ok = w.found.next(end) {
		p := t.part(c.key)
		switch c.kind {
		case arrayContainer:
			for b := c.data; len(b) >= 2; b = b[2:] {
				p.add(binary.LittleEndian.Uint16(b))
			}
		case bitmapContainer:
			for i := range p.once {
				more := c.word(i)
				again := p.once[i] & more
				p.once[i] |= more
				p.thrice[i] |= p.twice[i] & again
				p.twice[i] |= again
			}
		default:
			c.members(func(rec uint32) { p.add(uint16(rec)) })
		}
	}
	for c, ok := w.twice.next(end); ok; c, ok = w.twice.next(end) {
		p := t.part(c.key)
		c.members(func(rec uint32) {
			for range min(w.counts[0], 3) - 1 { // it was counted once with the others
				p.add(uint16(rec))
			}
			w.counts = w.counts[1:]
		})
	}
}

// tallyPart is the bits of the records that share a container.
type tallyPart struct{ once, twice, thrice *[bitmapWords]uint64 }

func (t *tally) part(record uint32) tallyPart {
	first := int(record%tallyRecords) / 64
	at := func(i int) *[bitmapWords]uint64 { return (*[bitmapWords]uint64)(t.bits[i][first:]) }
	return tallyPart{at(0), at(1), at(2)}
}

// add counts a record, given by the lower half of its number.
func (p tallyPart) add(record uint16) {
	i, bit := record/64, uint64(1)<<(record%64)
	if p.once[i]&bit == 0 {
		p.once[i] |= bit
		return
	}
	p.thrice[i] |= p.twice[i] & bit
	p.twice[i] |= bit
}
