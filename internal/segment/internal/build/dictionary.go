package build

import "sync"

// dictionary assigns numbers to names in the order of their first occurrence. Several goroutines may look up names
// while one, always the same, adds new ones; numbers never change.
type dictionary struct {
	mu    sync.RWMutex
	ids   map[string]uint32
	names []string // by id
}

// id returns the number of a name and assigns one to a new name. Only the goroutine that adds names may call it.
func (d *dictionary) id(name []byte) uint32 {
	if id, ok := d.ids[string(name)]; ok {
		return id
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	id, s := uint32(len(d.names)), string(name)
	if d.ids == nil {
		d.ids = map[string]uint32{}
	}
	d.ids[s] = id
	d.names = append(d.names, s)
	return id
}

// unknown is the number of names that have none yet.
const unknown = 1<<32 - 1

// find returns the number of a name, or unknown. The caller must hold mu.
func (d *dictionary) find(name []byte) uint32 {
	if id, ok := d.ids[string(name)]; ok {
		return id
	}
	return unknown
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
