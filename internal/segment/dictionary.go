package segment

import "sync"

// dictionary numbers names in the order in which they are first seen. Several goroutines may look names up while one,
// always the same, adds new ones: a number never changes.
type dictionary struct {
	mu    sync.RWMutex
	ids   map[string]uint32
	names []string // by id
}

// id returns the number of a name, a new one if it was not seen before. It is for the goroutine that adds names.
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

// unknown stands for a name that has no number yet.
const unknown = 1<<32 - 1

// find returns the number of a name, or unknown. The caller holds mu.
func (d *dictionary) find(name []byte) uint32 {
	if id, ok := d.ids[string(name)]; ok {
		return id
	}
	return unknown
}

// tokens are the numbers of names, part by part. Looking a name up is most of the work, so that it is done by whoever
// prepares the tokens; only names that are new are numbered later, by settle, in the order of the records.
type tokens struct {
	ids   []uint32
	ends  []int  // of the parts
	names []byte // those that are unknown, one after the other
	cuts  []int  // where each of them ends
	taken int    // how many parts were taken
}

// add looks up a name of the current part. The caller holds the lock of the dictionary.
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

// settle gives a number to every name.
func (t *tokens) settle(d *dictionary) {
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
	if t.taken > 0 {
		start = t.ends[t.taken-1]
	}
	t.taken++
	return t.ids[start:t.ends[t.taken-1]]
}

func (t *tokens) reset() {
	t.ids, t.ends, t.names, t.cuts, t.taken = t.ids[:0], t.ends[:0], t.names[:0], t.cuts[:0], 0
}
