package segment

import "encoding/binary"

// tallyRecords is how many records are counted at a time: what is counted in stays in the processor's cache.
const tallyRecords = 16 * containerMembers

// tally counts how many of some words each record has. It does not count further than three: of the records that have one
// of many words hardly any has three of them, so that three sets say nearly everything.
type tally struct {
	once, twice, thrice bitset // the records that were counted at least so often
	words               []talliedWord
}

// talliedWord is a word that is being counted.
type talliedWord struct {
	found  containers
	twice  containers
	counts []byte // of the members of twice that are still to come
}

// newTally returns a tally, in which no record was counted yet, for a clause to keep.
func (w *words) newTally() *tally {
	records := (w.lengths.len() + containerMembers - 1) / containerMembers * containerMembers // whole containers
	t, _ := w.tallies.Get().(*tally)
	if t == nil {
		t = &tally{twice: newBitset(records), thrice: newBitset(records)}
	}
	t.once = newBitset(records) // it becomes a set
	clear(t.twice)
	clear(t.thrice)
	return t
}

// release takes the tallies of clauses back, which are then of no use any more.
func (w *words) release(clauses []clause) {
	for i := range clauses {
		if t := clauses[i].sum; t != nil {
			clear(t.words)
			t.once, t.words, clauses[i].sum = nil, t.words[:0], nil
			w.tallies.Put(t)
		}
	}
}

// add adds a word to those to be counted: its sets as they lie in the file, which must have been looked at before.
func (t *tally) add(found, twice, counts []byte) {
	t.words = append(t.words, talliedWord{openContainers(found), openContainers(twice), counts})
}

// count counts the words in all records.
func (t *tally) count() {
	for first := 0; first < 64*len(t.once); first += tallyRecords {
		for i := range t.words {
			t.countUpTo(&t.words[i], uint64(first+tallyRecords))
		}
	}
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
	at := func(b bitset) *[bitmapWords]uint64 { return (*[bitmapWords]uint64)(b[record/64:]) }
	return tallyPart{at(t.once), at(t.twice), at(t.thrice)}
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
