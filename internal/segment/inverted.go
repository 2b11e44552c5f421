package segment

import (
	"bufio"
	"encoding/binary"
	"io"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

// inverted gathers for words or elements the records they stand in. What does not fit the memory is written to spools.
type inverted struct {
	shop   *workshop
	memory int // bytes to keep before spilling
	ids    map[string]uint32
	names  []string // by id
	lists  []postings
	size   int
	runs   []*spool
}

// postings are the records of one word: for each the distance from the one before and a bit that says whether a count
// follows, both as varint.
type postings struct {
	last uint32
	any  bool
	data []byte
}

func newInverted(shop *workshop, memory int) *inverted {
	return &inverted{shop: shop, memory: memory, ids: map[string]uint32{}}
}

// id returns the number of a name, a new one if it was not seen before.
func (v *inverted) id(name string) uint32 {
	if id, ok := v.ids[name]; ok {
		return id
	}
	id := uint32(len(v.names))
	name = strings.Clone(name)
	v.ids[name] = id
	v.names = append(v.names, name)
	v.lists = append(v.lists, postings{})
	return id
}

// add notes that a name stands in a record so many times. Records come in the order of their numbers.
func (v *inverted) add(id, record uint32, count int) {
	p := &v.lists[id]
	distance := uint64(record)
	if p.any {
		distance = uint64(record - p.last)
	}
	before := len(p.data)
	if count == 1 {
		p.data = binary.AppendUvarint(p.data, distance<<1)
	} else {
		p.data = binary.AppendUvarint(p.data, distance<<1|1)
		p.data = binary.AppendUvarint(p.data, uint64(count))
	}
	p.last, p.any = record, true
	v.size += len(p.data) - before
}

// spillIfFull writes everything to a spool if it takes too much memory.
func (v *inverted) spillIfFull() error {
	if v.size < v.memory {
		return nil
	}
	s, err := v.shop.newSpool()
	if err != nil {
		return err
	}
	v.runs = append(v.runs, s)
	var head []byte
	for id := range v.lists {
		p := &v.lists[id]
		if len(p.data) == 0 {
			continue
		}
		head = binary.AppendUvarint(head[:0], uint64(id))
		head = binary.AppendUvarint(head, uint64(len(p.data)))
		if _, err := s.Write(head); err != nil {
			return err
		}
		if _, err := s.Write(p.data); err != nil {
			return err
		}
		*p = postings{}
	}
	v.size = 0
	return nil
}

// sorted returns the names in order with their ids.
func (v *inverted) sorted() (names []string, ids []byte) {
	order := make([]uint32, len(v.names))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return strings.Compare(v.names[a], v.names[b]) })
	names = make([]string, len(order))
	for i, id := range order {
		names[i] = v.names[id]
		ids = binary.LittleEndian.AppendUint32(ids, id)
	}
	return names, ids
}

// each calls f for every name with the records it stands in and, where that is more than once, how often.
func (v *inverted) each(f func(found, twice *roaring.Bitmap, counts []byte) error) error {
	runs := make([]*postingsRun, len(v.runs))
	for i, s := range v.runs {
		r, err := s.reader()
		if err != nil {
			return err
		}
		runs[i] = &postingsRun{r: r}
		if err := runs[i].next(); err != nil {
			return err
		}
	}
	var records, many []uint32
	for id := range v.lists {
		records, many = records[:0], many[:0]
		var counts []byte
		decode := func(data []byte) {
			for record, first := uint32(0), true; len(data) > 0; first = false {
				x, n := binary.Uvarint(data)
				data = data[n:]
				record += uint32(x >> 1)
				if first {
					record = uint32(x >> 1)
				}
				records = append(records, record)
				if x&1 == 1 {
					c, n := binary.Uvarint(data)
					data = data[n:]
					many = append(many, record)
					counts = append(counts, byte(min(c, manyTimes)))
				}
			}
		}
		for _, r := range runs {
			if r.id == uint64(id) && !r.done {
				decode(r.data)
				if err := r.next(); err != nil {
					return err
				}
			}
		}
		decode(v.lists[id].data)
		found, twice := roaring.New(), roaring.New()
		found.AddMany(records)
		twice.AddMany(many)
		if err := f(found, twice, counts); err != nil {
			return err
		}
	}
	return nil
}

// postingsRun reads what was spilled.
type postingsRun struct {
	r    *bufio.Reader
	id   uint64
	data []byte
	done bool
}

func (r *postingsRun) next() error {
	id, err := binary.ReadUvarint(r.r)
	if err == io.EOF {
		r.done = true
		return nil
	}
	if err != nil {
		return err
	}
	size, err := binary.ReadUvarint(r.r)
	if err != nil {
		return err
	}
	r.id, r.data = id, slices.Grow(r.data[:0], int(size))[:size]
	_, err = io.ReadFull(r.r, r.data)
	return err
}
