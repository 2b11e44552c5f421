package segment

import "encoding/binary"

// repeatsAtOnce is how many records are counted at a time: what is counted in stays in the processor's cache.
const repeatsAtOnce = 16 * containerMembers

// repeats counts how many of some words each record has. It does not count further than three: of the records that have one
// of many words hardly any has three of them, so that three sets say nearly everything.
type repeats struct {
	once, twice, thrice bitset // the records that were counted at least so often
	words               []repeatedWord
}

// repeatedWord is a word that is being counted.
type repeatedWord struct {
	found  containers
	twice  containers
	counts []byte // of the members of twice that are still to come
}

// newRepeats returns repeats, in which no record was counted yet, for a clause to keep.
func (w *words) newRepeats() *repeats {
	records := (w.lengths.len() + containerMembers - 1) / containerMembers * containerMembers // whole containers
	t, _ := w.repeats.Get().(*repeats)
	if t == nil {
		t = &repeats{twice: newBitset(records), thrice: newBitset(records)}
	}
	t.once = newBitset(records) // it becomes a set
	clear(t.twice)
	clear(t.thrice)
	return t
}

// release takes the pool of clauses back, which are then of no use any more.
func (w *words) release(clauses []clause) {
	for i := range clauses {
		if t := clauses[i].sum; t != nil {
			clear(t.words)
			t.once, t.words, clauses[i].sum = nil, t.words[:0], nil
			w.repeats.Put(t)
		}
	}
}

// add adds a word to those to be counted: its sets as they lie in the file, which must have been looked at before.
func (t *repeats) add(found, twice, counts []byte) {
	t.words = append(t.words, repeatedWord{openContainers(found), openContainers(twice), counts})
}

// count counts the words in all records.
func (t *repeats) count(st *steps) {
	for first := 0; first < 64*len(t.once); first += repeatsAtOnce {
		for i := range t.words {
			t.countUpTo(st, &t.words[i], uint64(first+repeatsAtOnce))
		}
	}
}

// countUpTo counts a word in the records up to end that were not counted yet.
func (t *repeats) countUpTo(st *steps, w *repeatedWord, end uint64) {
	st.add(1)
	for c, ok := w.found.next(end); ok; c, ok = w.found.next(end) {
		st.add(1 + c.count/4)
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
		st.add(1 + c.count)
		p := t.part(c.key)
		c.members(func(rec uint32) {
			for range min(w.counts[0], 3) - 1 { // it was counted once with the others
				p.add(uint16(rec))
			}
			w.counts = w.counts[1:]
		})
	}
}

// repeatsPart is the bits of the records that share a container.
type repeatsPart struct{ once, twice, thrice *[bitmapWords]uint64 }

func (t *repeats) part(record uint32) repeatsPart {
	at := func(b bitset) *[bitmapWords]uint64 { return (*[bitmapWords]uint64)(b[record/64:]) }
	return repeatsPart{at(t.once), at(t.twice), at(t.thrice)}
}

// add counts a record, given by the lower half of its number.
func (p repeatsPart) add(record uint16) {
	i, bit := record/64, uint64(1)<<(record%64)
	if p.once[i]&bit == 0 {
		p.once[i] |= bit
		return
	}
	p.thrice[i] |= p.twice[i] & bit
	p.twice[i] |= bit
}
