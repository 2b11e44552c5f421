package segment

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// sorter sorts the records of a field by key, ties by number. Data that exceeds the memory is sorted in runs, which are
// written to spill files and merged. No key may be a prefix of another (see text.AppendSortKey).
type sorter struct {
	tmp    *tempDir
	buf    *sortBuffer
	runs   []*spillFile
	common []byte // common prefix of all keys in the spill files
}

// sortBuffer is the memory of a sorter. It is allocated once and reused for all fields.
type sortBuffer struct {
	memory  int    // maximum size
	limit   int    // maximum size of the keys; a single one may be longer
	keys    []byte // for each record: hash of its value, size of its key, key
	items   []item
	scratch []item
}

const keyHead = 8 + 4

// item is a record to be sorted.
type item struct {
	window uint64 // the bytes of the key that are being compared, in big-endian order
	at     uint32 // offset of the key
	record uint32
}

const itemSize = 16

// newSortBuffer allocates a buffer, limited to what the given number of records and bytes of keys need.
func newSortBuffer(memory, records int, keys int64) *sortBuffer {
	items := min(max(memory/3/(2*itemSize), 1), records)
	limit := int(min(int64(memory/3*2), keys+keyHead*int64(records)))
	return &sortBuffer{
		memory:  memory,
		limit:   limit,
		keys:    make([]byte, 0, limit),
		items:   make([]item, 0, items),
		scratch: make([]item, items),
	}
}

func (b *sortBuffer) head(i item) []byte { return b.keys[i.at : i.at+keyHead] }

func (b *sortBuffer) key(i item) []byte {
	size := binary.LittleEndian.Uint32(b.keys[i.at+8:])
	return b.keys[i.at+keyHead:][:size]
}

// add adds a record. Records must be added in order.
func (s *sorter) add(key []byte, record uint32, hash uint64) error {
	b := s.buf
	full := len(b.items) == cap(b.items) || len(b.keys)+keyHead+len(key) > b.limit
	if full && len(b.items) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	b.items = append(b.items, item{at: uint32(len(b.keys)), record: record})
	b.keys = binary.LittleEndian.AppendUint64(b.keys, hash)
	b.keys = binary.LittleEndian.AppendUint32(b.keys, uint32(len(key)))
	b.keys = append(b.keys, key...)
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

// sort sorts the items, which are in the order of their records and whose keys have the first from bytes in common.
//
// It compares eight bytes of the keys at a time, after their common prefix, and continues with the items for which
// these are equal. Most of the keys are not read again. A comparison sort takes four times as long.
func (b *sortBuffer) sort(items []item, from int) {
	const few, some = 16, 1024
	if len(items) < few {
		slices.SortFunc(items, func(x, y item) int {
			return cmp.Or(bytes.Compare(b.key(x)[from:], b.key(y)[from:]), cmp.Compare(x.record, y.record))
		})
		return
	}
	from = b.common(items, from)
	if from == len(b.key(items[0])) { // all keys are equal
		return
	}
	for i := range items {
		items[i].window = keyWindow(b.key(items[i]), from)
	}
	if len(items) < some {
		slices.SortFunc(items, func(x, y item) int {
			return cmp.Or(cmp.Compare(x.window, y.window), cmp.Compare(x.record, y.record))
		})
	} else {
		radixSort(items, b.scratch[:len(items)])
	}
	for i := 0; i < len(items); {
		j := i + 1
		for j < len(items) && items[j].window == items[i].window {
			j++
		}
		// If one ends within the window, all do, because none is a prefix of another.
		if j-i > 1 && len(b.key(items[i])) > from+8 {
			b.sort(items[i:j], from+8)
		}
		i = j
	}
}

// common returns the length of the common prefix of the keys of items, of which from bytes are known.
func (b *sortBuffer) common(items []item, from int) int {
	if len(items) == 0 {
		return 0
	}
	first := b.key(items[0])
	n := len(first)
	for _, i := range items[1:] {
		if n = from + commonPrefix(first[from:n], b.key(i)[from:]); n == from {
			break
		}
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

// radixSort stably sorts items by their windows, byte by byte from the last.
func radixSort(items, scratch []item) {
	var counts [8][256]uint32
	for i := range items {
		w := items[i].window
		for k := range counts {
			counts[k][byte(w>>(8*k))]++
		}
	}
	from, to := items, scratch
	for k := range counts {
		c, shift := &counts[k], 8*k
		if c[byte(items[0].window>>shift)] == uint32(len(items)) {
			continue // all have the same byte
		}
		at := uint32(0)
		for v, n := range c {
			c[v] = at
			at += n
		}
		for _, i := range from {
			v := byte(i.window >> shift)
			to[c[v]] = i
			c[v]++
		}
		from, to = to, from
	}
	if &from[0] != &items[0] {
		copy(items, from)
	}
}

// spill writes the buffer to a spill file.
func (s *sorter) spill() error {
	b := s.buf
	common := b.common(b.items, 0)
	b.sort(b.items, 0)
	out := s.tmp.newSpillFile()
	first := b.key(b.items[0])
	if len(s.runs) == 0 {
		s.common = bytes.Clone(first[:common])
	}
	s.common = s.common[:commonPrefix(s.common, first[:common])]
	s.runs = append(s.runs, out)
	var record [4]byte
	for _, i := range b.items {
		binary.LittleEndian.PutUint32(record[:], i.record)
		if _, err := out.Write(record[:]); err != nil {
			return err
		}
		if _, err := out.Write(b.head(i)); err != nil {
			return err
		}
		if _, err := out.Write(b.key(i)); err != nil {
			return err
		}
	}
	b.reset()
	return nil
}

// reset empties the buffer. It replaces one that had to grow for a long key.
func (b *sortBuffer) reset() {
	b.keys, b.items = b.keys[:0], b.items[:0]
	if cap(b.keys) > 2*b.limit {
		b.keys = make([]byte, 0, b.limit)
	}
}

// each calls f for every record in order. The key is only valid until f returns.
func (s *sorter) each(f func(key []byte, record uint32, hash uint64) error) error {
	b := s.buf
	if len(s.runs) == 0 {
		b.sort(b.items, 0)
		for _, i := range b.items {
			if err := f(b.key(i), i.record, binary.LittleEndian.Uint64(b.head(i))); err != nil {
				return err
			}
		}
		return nil
	}
	if len(b.items) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	var m merge
	for _, run := range s.runs {
		r, err := run.reader()
		if err != nil {
			return err
		}
		c := &sortedRun{r: r, common: len(s.common)}
		if err := c.next(); err != nil {
			return err
		}
		m = append(m, c)
	}
	for i := len(m) - 1; i >= 0; i-- {
		m.sink(i)
	}
	for len(m) > 0 {
		top := m[0]
		if err := f(top.key, top.record, top.hash); err != nil {
			return err
		}
		switch err := top.next(); {
		case err == io.EOF:
			m[0] = m[len(m)-1]
			m = m[:len(m)-1]
		case err != nil:
			return err
		}
		m.sink(0)
	}
	return nil
}

func (s *sorter) close() error {
	s.buf.reset()
	var errs []error
	for _, r := range s.runs {
		errs = append(errs, r.remove())
	}
	return errors.Join(errs...)
}

// sortedRun reads a spill file of sorted records.
type sortedRun struct {
	r      *spillReader
	common int    // length of the common prefix of all keys
	window uint64 // the bytes after it
	key    []byte
	record uint32
	hash   uint64
}

// next reads the next record. Its key is only valid until the next call.
func (c *sortedRun) next() error {
	head, err := c.r.next(4 + keyHead)
	if err != nil {
		return err
	}
	c.record, c.hash = binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint64(head[4:])
	if c.key, err = c.r.next(int(binary.LittleEndian.Uint32(head[12:]))); err != nil {
		return err
	}
	c.window = keyWindow(c.key, c.common)
	return nil
}

func (c *sortedRun) less(d *sortedRun) bool {
	if c.window != d.window {
		return c.window < d.window
	}
	order := bytes.Compare(c.key, d.key)
	return order < 0 || order == 0 && c.record < d.record
}

// merge is a heap of runs, ordered by their first records.
type merge []*sortedRun

// sink restores the heap order after run i has advanced.
func (m merge) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m); child++ {
			if m[child].less(m[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		m[i], m[least] = m[least], m[i]
		i = least
	}
}
