package build

import (
	"hash/maphash"
	"sync"
)

// dictionary assigns numbers to names in the order of their first occurrence. Several goroutines may look up names
// while one, always the same, adds new ones; numbers never change. It is a hash table without pointers: a map of
// millions of names takes more than twice the memory, and every garbage collection traces it.
type dictionary struct {
	mu    sync.RWMutex
	seed  maphash.Seed
	slots []uint64 // half of the hash of a name and its number + 1, or 0; the hash is also the first position to probe
	text  []byte   // all names, concatenated
	ends  []uint64 // of the names in text, by number
}

func newDictionary() dictionary {
	return dictionary{seed: maphash.MakeSeed(), slots: make([]uint64, 1<<10)}
}

// count returns the number of names.
func (d *dictionary) count() int { return len(d.ends) }

// name returns the name with a number.
func (d *dictionary) name(id uint32) []byte {
	start := uint64(0)
	if id > 0 {
		start = d.ends[id-1]
	}
	return d.text[start:d.ends[id]]
}

// unknown is the number of names that have none yet.
const unknown = 1<<32 - 1

// find returns the number of a name, or unknown. The caller must hold mu.
func (d *dictionary) find(name []byte) uint32 {
	id, _, _ := d.locate(name)
	return id
}

// locate returns the number of a name, or unknown and the slot for it without its number.
func (d *dictionary) locate(name []byte) (id uint32, at int, slot uint64) {
	const numberBits = 32
	hash := maphash.Bytes(d.seed, name) >> numberBits
	for at = int(hash) & (len(d.slots) - 1); ; at = (at + 1) & (len(d.slots) - 1) {
		slot = d.slots[at]
		if slot == 0 {
			return unknown, at, hash << numberBits
		}
		if id = uint32(slot) - 1; slot>>numberBits == hash && string(d.name(id)) == string(name) {
			return id, at, slot
		}
	}
}

// id returns the number of a name and assigns one to a new name. Only the goroutine that adds names may call it.
func (d *dictionary) id(name []byte) uint32 {
	id, at, slot := d.locate(name)
	if id != unknown {
		return id
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	id = uint32(d.count())
	d.text = append(d.text, name...)
	d.ends = append(d.ends, uint64(len(d.text)))
	d.slots[at] = slot | uint64(id+1)
	if d.count() > len(d.slots)/4*3 {
		d.grow()
	}
	return id
}

// grow doubles the number of slots.
func (d *dictionary) grow() {
	slots := make([]uint64, 2*len(d.slots))
	for _, slot := range d.slots {
		if slot == 0 {
			continue
		}
		at := int(slot>>32) & (len(slots) - 1)
		for slots[at] != 0 {
			at = (at + 1) & (len(slots) - 1)
		}
		slots[at] = slot
	}
	d.slots = slots
}

// tokens is a sequence of numbered names in parts. Lookups are most of the work and are done by the goroutines that
// prepare tokens; only new names are numbered later, by assignIDs, in the order of the records.
type tokens struct {
	ids      []uint32
	ends     []int  // of the parts
	names    []byte // the unknown ones, concatenated
	cuts     []int  // end of each of them
	nextPart int    // index of the next part
}

// add looks up a name of the current part. The caller must hold the lock of the dictionary.
func (t *tokens) add(d *dictionary, name []byte) {
	id := d.find(name)
	if id == unknown {
		t.names = append(t.names, name...)
		t.cuts = append(t.cuts, len(t.names))
	}
	t.ids = append(t.ids, id)
}

// end ends the current part.
func (t *tokens) end() { t.ends = append(t.ends, len(t.ids)) }

// assignIDs assigns numbers to the unknown names.
func (t *tokens) assignIDs(d *dictionary) {
	if len(t.cuts) == 0 {
		return
	}
	start, next := 0, 0
	for i, id := range t.ids {
		if id == unknown {
			t.ids[i] = d.id(t.names[start:t.cuts[next]])
			start, next = t.cuts[next], next+1
		}
	}
}

// next returns the next part.
func (t *tokens) next() []uint32 {
	start := 0
	if t.nextPart > 0 {
		start = t.ends[t.nextPart-1]
	}
	t.nextPart++
	return t.ids[start:t.ends[t.nextPart-1]]
}

func (t *tokens) reset() {
	t.ids, t.ends, t.names, t.cuts, t.nextPart = t.ids[:0], t.ends[:0], t.names[:0], t.cuts[:0], 0
}
