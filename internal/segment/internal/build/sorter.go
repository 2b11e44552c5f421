package build

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// sorter sorts the records of a field by key, ties by number. Data that exceeds the memory is
// sorted in runs, which are written to spill files and merged. No key may be a prefix of another
// (see text.AppendSortKey). A sorter is allocated once and used for many fields.
type sorter struct {
	tmp    *tempDir
	limit  int    // maximum size of values; a single value may be larger
	values []byte // for each value: size of its key, size of its payload, key, payload
	items  []item
	spare  []item            // buffer of sortByWindow
	next   []byte            // buffer for a value
	seen   map[string]uint32 // offsets of some values, because many fields have few values; nil if few repeat
	hits   int               // values that were found in seen
	runs   []*spillFile

	key     func(dst, value []byte) ([]byte, error) // appends the sort key of a value
	payload func(dst, value []byte) []byte          // appends what is stored with the key
}

const keyHead = 4 + 4 // size of the two sizes of a value

// item is a record to be sorted.
type item struct {
	window uint64 // the bytes of the key that are being compared, in big-endian order
	at     uint32 // offset of the value
	record uint32
}

const itemSize = 16

// newSorter returns a sorter with room for a number of records, whose keys and payloads have the
// given size together. If that exceeds the memory, it spills.
func newSorter(tmp *tempDir, memory, records int, size int64) *sorter {
	items := min(max(memory/4/itemSize, 1), records)
	limit := int(min(int64(memory/2), size+keyHead*int64(records)))
	return &sorter{
		tmp:    tmp,
		limit:  limit,
		values: make([]byte, 0, limit),
		items:  make([]item, 0, items),
		spare:  make([]item, items),
	}
}

// begin begins a field. finish must be called after it.
func (s *sorter) begin(key func(dst, value []byte) ([]byte, error), payload func(dst, value []byte) []byte) {
	s.key, s.payload, s.seen, s.hits = key, payload, map[string]uint32{}, 0
}

// valueOf returns the value of a record, and the key and the payload in it.
func (s *sorter) valueOf(i item) (stored, key, payload []byte) {
	e := s.values[i.at:]
	keyEnd := keyHead + int(binary.LittleEndian.Uint32(e))
	end := keyEnd + int(binary.LittleEndian.Uint32(e[4:]))
	return e[:end], e[keyHead:keyEnd], e[keyEnd:end]
}

func (s *sorter) keyOf(i item) []byte {
	size := binary.LittleEndian.Uint32(s.values[i.at:])
	return s.values[i.at+keyHead:][:size]
}

// add adds a record. Records must be added in order.
func (s *sorter) add(value []byte, record uint32) error {
	const maxSeen, maxSeenLength, sample = 1 << 16, 64, 1 << 10
	if len(s.items) == cap(s.items) {
		s.spill()
	}
	at, ok := uint32(0), false
	if len(value) <= maxSeenLength {
		at, ok = s.seen[string(value)]
		if ok {
			s.hits++
		}
	}
	if !ok {
		if err := s.setNext(value); err != nil {
			return err
		}
		if len(s.values)+len(s.next) > s.limit && len(s.items) > 0 {
			s.spill()
		}
		at = uint32(len(s.values))
		s.values = append(s.values, s.next...)
		if s.seen != nil && len(value) <= maxSeenLength {
			if len(s.seen) < maxSeen {
				s.seen[string(value)] = at
			}
			if len(s.seen) == sample && s.hits == 0 || len(s.seen) == maxSeen && s.hits < maxSeen {
				s.seen = nil
			}
		}
	}
	s.items = append(s.items, item{at: at, record: record})
	return nil
}

// setNext sets next to a value with its sizes.
func (s *sorter) setNext(value []byte) (err error) {
	var head [keyHead]byte
	s.next, err = s.key(append(s.next[:0], head[:]...), value)
	if err != nil {
		return err
	}
	keyEnd := len(s.next)
	s.next = s.payload(s.next, value)
	binary.LittleEndian.PutUint32(s.next, uint32(keyEnd-keyHead))
	binary.LittleEndian.PutUint32(s.next[4:], uint32(len(s.next)-keyEnd))
	return nil
}

// keyWindow returns eight bytes of a key as a number in big-endian order, padded with zeros.
func keyWindow(key []byte, from int) uint64 {
	if len(key) >= from+8 {
		return binary.BigEndian.Uint64(key[from:])
	}
	var b [8]byte
	copy(b[:], key[min(from, len(key)):])
	return binary.BigEndian.Uint64(b[:])
}

// smallGroup is the number of items below which they are sorted by comparing keys.
const smallGroup = 32

// sort sorts items by key, ties by record. The keys are equal up to an offset, and the items are in
// the order of their records. It sorts by the next eight bytes of the keys, and then each group of
// items that are equal in these bytes by the following bytes, because reading a key takes longer
// than comparing eight bytes.
func (s *sorter) sort(items []item, from int) {
	if len(items) < smallGroup {
		slices.SortFunc(items, func(x, y item) int {
			return cmp.Or(bytes.Compare(s.keyOf(x)[from:], s.keyOf(y)[from:]), cmp.Compare(x.record, y.record))
		})
		return
	}
	from += s.commonLength(items, from)
	if from == len(s.keyOf(items[0])) {
		return // no key is a prefix of another, so all are equal
	}
	for i := range items {
		items[i].window = keyWindow(s.keyOf(items[i]), from)
	}
	sortByWindow(items, s.spare)
	for start := 0; start < len(items); {
		end := start + 1
		for end < len(items) && items[end].window == items[start].window {
			end++
		}
		if end-start > 1 && len(s.keyOf(items[start])) > from+8 {
			s.sort(items[start:end], from+8)
		}
		start = end
	}
}

// sortByWindow sorts items by their windows with a radix sort; ties keep their order. spare must
// have as many items.
func sortByWindow(items, spare []item) {
	varying := uint64(0)
	for _, x := range items {
		varying |= x.window ^ items[0].window
	}
	from, to := items, spare[:len(items)]
	for shift := 0; shift < 64; shift += 8 {
		if byte(varying>>shift) == 0 {
			continue
		}
		var starts [256]int
		for _, x := range from {
			starts[byte(x.window>>shift)]++
		}
		at := 0
		for i, n := range starts {
			starts[i] = at
			at += n
		}
		for _, x := range from {
			digit := byte(x.window >> shift)
			to[starts[digit]] = x
			starts[digit]++
		}
		from, to = to, from
	}
	if &from[0] != &items[0] {
		copy(items, from)
	}
}

// commonLength returns the length of the common prefix of all keys after an offset.
func (s *sorter) commonLength(items []item, from int) int {
	first := s.keyOf(items[0])[from:]
	n := len(first)
	for _, i := range items[1:] {
		if n == 0 {
			break
		}
		n = commonPrefix(first[:n], s.keyOf(i)[from:])
	}
	return n
}

// commonPrefix returns the length of the common prefix of a and b.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// spill writes the records in memory to a spill file, which keeps an error until each reads it.
func (s *sorter) spill() {
	s.sort(s.items, 0)
	out := s.tmp.newSpillFile()
	s.runs = append(s.runs, out)
	for _, i := range s.items {
		out.writeU32(i.record)
		stored, _, _ := s.valueOf(i)
		out.Write(stored)
	}
	s.reset()
	clear(s.seen)
}

// reset empties the memory. It replaces a buffer that had to grow for a long key.
func (s *sorter) reset() {
	s.values, s.items = s.values[:0], s.items[:0]
	if cap(s.values) > 2*s.limit {
		s.values = make([]byte, 0, s.limit)
	}
}

// each calls f for every record in order. Key and payload are only valid until f returns.
func (s *sorter) each(f func(key, payload []byte, record uint32)) error {
	if len(s.runs) > 0 {
		return s.eachMerged(f)
	}
	s.sort(s.items, 0)
	for n, i := range s.items {
		if n%recordsPerCheck == 0 && s.tmp.err() != nil {
			return s.tmp.err()
		}
		_, key, payload := s.valueOf(i)
		f(key, payload, i.record)
	}
	return nil
}

// eachMerged does what each does if there are records in spill files.
func (s *sorter) eachMerged(f func(key, payload []byte, record uint32)) error {
	if len(s.items) > 0 {
		s.spill()
	}
	var m runHeap
	for _, run := range s.runs {
		c := &sortedRun{r: run.reader()}
		if c.next() {
			m = append(m, c)
		} else if run.err != nil {
			return run.err
		}
	}
	slices.SortFunc(m, (*sortedRun).compare) // a sorted list is a heap
	for n := 0; len(m) > 0; n++ {
		if n%recordsPerCheck == 0 && s.tmp.err() != nil {
			return s.tmp.err()
		}
		top := m[0]
		f(top.key, top.payload, top.record)
		if !top.next() {
			if err := top.r.file.err; err != nil {
				return err
			}
			m[0] = m[len(m)-1]
			m = m[:len(m)-1]
		}
		m.fix()
	}
	return nil
}

// finish removes the records of a field.
func (s *sorter) finish() error {
	s.reset()
	for _, r := range s.runs {
		if err := r.remove(); err != nil {
			return err
		}
	}
	s.runs = nil
	return nil
}

// sortedRun reads a spill file of sorted records.
type sortedRun struct {
	r            *spillReader
	key, payload []byte
	record       uint32
}

// next reads the next record and reports whether there is one; after an error of the spill file
// there is none. Its key and payload are only valid until the next call.
func (c *sortedRun) next() bool {
	if !c.r.more(1) {
		return false
	}
	head, err := c.r.next(4 + keyHead)
	if err != nil {
		return false
	}
	c.record = binary.LittleEndian.Uint32(head)
	keySize, payloadSize := binary.LittleEndian.Uint32(head[4:]), binary.LittleEndian.Uint32(head[8:])
	stored, err := c.r.next(int(keySize + payloadSize))
	if err != nil {
		return false
	}
	c.key, c.payload = stored[:keySize], stored[keySize:]
	return true
}

func (c *sortedRun) compare(d *sortedRun) int {
	return cmp.Or(bytes.Compare(c.key, d.key), cmp.Compare(c.record, d.record))
}

// runHeap is a heap of runs, ordered by their current records.
type runHeap []*sortedRun

// fix restores the order of the heap after its first run has changed.
func (m runHeap) fix() {
	for i := 0; ; {
		least := 2*i + 1
		if least >= len(m) {
			return
		}
		if least+1 < len(m) && m[least+1].compare(m[least]) < 0 {
			least++
		}
		if m[i].compare(m[least]) < 0 {
			return
		}
		m[i], m[least] = m[least], m[i]
		i = least
	}
}
