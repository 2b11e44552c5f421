package build

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
)

// dictionary assigns numbers to names in the order of their first occurrence. Several goroutines
// may look up names while one, always the same, adds new ones; numbers never change. It is a hash
// table without pointers: a map of millions of names takes more than twice the memory, and every
// garbage collection traces it.
type dictionary struct {
	tables *tables
	mu     sync.RWMutex
	seed   maphash.Seed
	slots  []uint64 // hash table: upper bits of the hash of a name, and its place + 1; 0 if free
	blocks [][]byte // names by number: number and length as u32, name, padding
	count  int      // number of names
	places []uint64 // of the names, by number; set by finish
}

const (
	nameHead       = 4 + 4 // fixed, so that comparing a word with a name, which happens for nearly every word, is fast
	nameAlign      = 4
	blockBits      = 16 // of a place: the position of a name in its block, in units of its alignment
	blockSize      = nameAlign << blockBits
	firstBlockSize = 1 << 12 // each block is twice as large as the one before, up to blockSize
	placeBits      = 40      // of a slot
)

func newDictionary(t *tables) dictionary {
	return dictionary{tables: t, seed: maphash.MakeSeed(), slots: newTable[uint64](t, 1<<10)}
}

// nameAt returns the number and the name at a place, and its size with padding.
func (d *dictionary) nameAt(place uint64) (id uint32, name []byte, size int) {
	b := d.blocks[place>>blockBits][place%(1<<blockBits)*nameAlign:]
	size = nameHead + int(binary.LittleEndian.Uint32(b[4:]))
	return binary.LittleEndian.Uint32(b), b[nameHead:size], size + -size&(nameAlign-1)
}

// add appends a name and returns its place.
func (d *dictionary) add(name []byte) (place uint64) {
	need := nameHead + len(name) + nameAlign
	last := len(d.blocks) - 1
	if last < 0 || len(d.blocks[last])+need > cap(d.blocks[last]) {
		size := min(firstBlockSize<<min(len(d.blocks), blockBits), blockSize) // no overflow
		d.blocks = append(d.blocks, newTable[byte](d.tables, max(size, need))[:0])
		last++
	}
	b := d.blocks[last]
	place = uint64(last)<<blockBits | uint64(len(b)/nameAlign)
	b = binary.LittleEndian.AppendUint32(b, uint32(d.count))
	b = append(binary.LittleEndian.AppendUint32(b, uint32(len(name))), name...)
	d.blocks[last] = append(b, make([]byte, -len(b)&(nameAlign-1))...)
	d.count++
	return place
}

// unknown is returned instead of a number for a name that has none yet.
const unknown = 1<<32 - 1

// locate returns the number of a name, or unknown and the index of the slot for it with the bits of
// its hash. The caller must hold mu, unless it adds names.
func (d *dictionary) locate(name []byte) (id uint32, at int, bits uint64) {
	hash := maphash.Bytes(d.seed, name)
	bits = hash >> placeBits << placeBits
	for at = int(hash) & (len(d.slots) - 1); d.slots[at] != 0; at = (at + 1) & (len(d.slots) - 1) {
		if slot := d.slots[at]; slot>>placeBits == hash>>placeBits {
			if id, known, _ := d.nameAt(slot%(1<<placeBits) - 1); string(known) == string(name) {
				return id, at, bits
			}
		}
	}
	return unknown, at, bits
}

// id returns the number of a name and assigns one to a new name. Only the goroutine that adds names
// may call it.
func (d *dictionary) id(name []byte) uint32 {
	id, at, bits := d.locate(name)
	if id != unknown {
		return id
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slots[at] = bits | (d.add(name) + 1)
	if d.count > len(d.slots)/4*3 {
		freeTable(d.tables, d.slots)
		d.slots = newTable[uint64](d.tables, 2*len(d.slots))
		d.each(func(place uint64, name []byte) {
			_, at, bits := d.locate(name)
			d.slots[at] = bits | (place + 1)
		})
	}
	return uint32(d.count - 1)
}

// each calls f for every name, by number.
func (d *dictionary) each(f func(place uint64, name []byte)) {
	for i, b := range d.blocks {
		for at := 0; at < len(b); {
			place := uint64(i)<<blockBits | uint64(at/nameAlign)
			_, name, size := d.nameAt(place)
			f(place, name)
			at += size
		}
	}
}

// finish replaces the hash table by the places of the names. Afterwards, names can be read by
// number but no longer looked up or added.
func (d *dictionary) finish() {
	freeTable(d.tables, d.slots)
	d.slots, d.places = nil, newTable[uint64](d.tables, d.count)[:0]
	d.each(func(place uint64, _ []byte) { d.places = append(d.places, place) })
}

// release frees the names.
func (d *dictionary) release() {
	for _, b := range d.blocks {
		freeTable(d.tables, b)
	}
	freeTable(d.tables, d.places)
	d.blocks, d.places = nil, nil
}

// name returns the name with a number. finish must be called before.
func (d *dictionary) name(id uint32) []byte {
	_, name, _ := d.nameAt(d.places[id])
	return name
}

// tokens is a sequence of lists of numbered names. The goroutines that prepare tokens look up the
// names concurrently, which is most of the work. assignIDs numbers new names later, in the order of
// the records.
type tokens struct {
	ids      []uint32
	ends     []int  // of the lists
	names    []byte // names without a number, concatenated
	nameEnds []int  // end of each name in names
	nextList int    // index of the next list
}

// add looks up a name of the current list. The caller must hold the lock of the dictionary.
func (t *tokens) add(d *dictionary, name []byte) {
	id, _, _ := d.locate(name)
	if id == unknown {
		t.names = append(t.names, name...)
		t.nameEnds = append(t.nameEnds, len(t.names))
	}
	t.ids = append(t.ids, id)
}

// end ends the current list.
func (t *tokens) end() { t.ends = append(t.ends, len(t.ids)) }

// assignIDs assigns numbers to the unknown names.
func (t *tokens) assignIDs(d *dictionary) {
	if len(t.nameEnds) == 0 {
		return
	}
	start, next := 0, 0
	for i, id := range t.ids {
		if id == unknown {
			t.ids[i] = d.id(t.names[start:t.nameEnds[next]])
			start, next = t.nameEnds[next], next+1
		}
	}
}

// next returns the next list.
func (t *tokens) next() []uint32 {
	start := 0
	if t.nextList > 0 {
		start = t.ends[t.nextList-1]
	}
	t.nextList++
	return t.ids[start:t.ends[t.nextList-1]]
}

func (t *tokens) reset() {
	t.ids, t.ends, t.names, t.nameEnds, t.nextList = t.ids[:0], t.ends[:0], t.names[:0], t.nameEnds[:0], 0
}
