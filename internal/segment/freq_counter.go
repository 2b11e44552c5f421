package segment

import "encoding/binary"

// recordsPerPass is the number of records per counting pass, chosen so that the counters fit the processor cache.
const recordsPerPass = 16 * containerMembers

// freqCounter counts how many occurrences of some terms each record has, up to three: of the records with one of many
// terms hardly any has three, so that three sets contain nearly all information.
type freqCounter struct {
	atLeast1, atLeast2, atLeast3 bitset // the records with at least that many occurrences
	words                        []countedTerm
}

// countedTerm is a term that is being counted.
type countedTerm struct {
	docs   containers
	freqs  containers
	counts []byte // frequencies of the remaining members of freqs
}

// newFreqCounter returns an empty counter for a clause.
func (w *words) newFreqCounter() *freqCounter {
	records := (w.lengths.len() + containerMembers - 1) / containerMembers * containerMembers // whole containers
	t, _ := w.freqCounters.Get().(*freqCounter)
	if t == nil {
		t = &freqCounter{atLeast2: newBitset(records), atLeast3: newBitset(records)}
	}
	t.atLeast1 = newBitset(records) // it becomes a set
	clear(t.atLeast2)
	clear(t.atLeast3)
	return t
}

// release returns the counters of clauses to the pool. The clauses must not be used afterwards.
func (w *words) release(clauses []clause) {
	for i := range clauses {
		if t := clauses[i].sum; t != nil {
			clear(t.words)
			t.atLeast1, t.words, clauses[i].sum = nil, t.words[:0], nil
			w.freqCounters.Put(t)
		}
	}
}

// add adds a term: its encoded postings, which must have been validated.
func (t *freqCounter) add(found, freqs, counts []byte) {
	t.words = append(t.words, countedTerm{openContainers(found), openContainers(freqs), counts})
}

// count counts the terms in all records.
func (t *freqCounter) count(st *steps) {
	for first := 0; first < 64*len(t.atLeast1); first += recordsPerPass {
		for i := range t.words {
			t.countUpTo(st, &t.words[i], uint64(first+recordsPerPass))
		}
	}
}

// countUpTo counts a term in the remaining records below end.
func (t *freqCounter) countUpTo(st *steps, w *countedTerm, end uint64) {
	st.add(1)
	for c, ok := w.docs.next(end); ok; c, ok = w.docs.next(end) {
		st.add(1 + c.count/4)
		p := t.part(c.key)
		switch c.kind {
		case arrayContainer:
			for b := c.data; len(b) >= 2; b = b[2:] {
				p.add(binary.LittleEndian.Uint16(b))
			}
		case bitmapContainer:
			for i := range p.atLeast1 {
				more := c.word(i)
				again := p.atLeast1[i] & more
				p.atLeast1[i] |= more
				p.atLeast3[i] |= p.atLeast2[i] & again
				p.atLeast2[i] |= again
			}
		default:
			c.members(func(rec uint32) { p.add(uint16(rec)) })
		}
	}
	for c, ok := w.freqs.next(end); ok; c, ok = w.freqs.next(end) {
		st.add(1 + c.count)
		p := t.part(c.key)
		c.members(func(rec uint32) {
			for range min(w.counts[0], 3) - 1 { // its first occurrence has already been counted
				p.add(uint16(rec))
			}
			w.counts = w.counts[1:]
		})
	}
}

// freqCounterPart is the bits of the records that share a container.
type freqCounterPart struct{ atLeast1, atLeast2, atLeast3 *[bitmapWords]uint64 }

func (t *freqCounter) part(record uint32) freqCounterPart {
	at := func(b bitset) *[bitmapWords]uint64 { return (*[bitmapWords]uint64)(b[record/64:]) }
	return freqCounterPart{at(t.atLeast1), at(t.atLeast2), at(t.atLeast3)}
}

// add counts a record, given by the lower half of its number.
func (p freqCounterPart) add(record uint16) {
	i, bit := record/64, uint64(1)<<(record%64)
	if p.atLeast1[i]&bit == 0 {
		p.atLeast1[i] |= bit
		return
	}
	p.atLeast3[i] |= p.atLeast2[i] & bit
	p.atLeast2[i] |= bit
}
