package segment

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// sorter sorts the records of a field by key, ties by number. What does not fit the memory is sorted in parts, which are
// written to spools and merged.
type sorter struct {
	shop   *workshop
	memory int
	keys   []byte
	items  []item
	runs   []*spool
}

// item is a record to be sorted.
type item struct {
	prefix uint64 // of the key: its first bytes behind what all keys have in common
	at     uint32 // of the key
	size   uint32
	record uint32
	hash   uint64 // of the value as it is written
}

const itemSize = 32

func (s *sorter) key(i item) []byte { return s.keys[i.at : i.at+i.size] }

// add adds a record. Records come in the order of their numbers.
func (s *sorter) add(key string, record uint32, hash uint64) error {
	if len(s.keys)+len(key)+itemSize*(len(s.items)+1) > s.memory && len(s.items) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.items = append(s.items, item{at: uint32(len(s.keys)), size: uint32(len(key)), record: record, hash: hash})
	s.keys = append(s.keys, key...)
	return nil
}

// keyPrefix returns the first eight bytes of a key as a number that compares alike.
func keyPrefix(key []byte) uint64 {
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// sort sorts what is in memory. What all keys begin with, as addresses do, is left out of the comparison.
func (s *sorter) sort() {
	if len(s.items) == 0 {
		return
	}
	common := len(s.key(s.items[0]))
	for _, i := range s.items[1:] {
		common = min(common, commonPrefix(s.key(s.items[0])[:common], s.key(i)))
	}
	for i := range s.items {
		s.items[i].prefix = keyPrefix(s.key(s.items[i])[common:])
	}
	slices.SortFunc(s.items, func(a, b item) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return cmp.Or(bytes.Compare(s.key(a)[common:], s.key(b)[common:]), cmp.Compare(a.record, b.record))
	})
}

// commonPrefix returns how many bytes a and b have in common at their beginning.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// spill writes what is in memory to a spool.
func (s *sorter) spill() error {
	s.sort()
	out, err := s.shop.newSpool()
	if err != nil {
		return err
	}
	s.runs = append(s.runs, out)
	var head []byte
	for _, i := range s.items {
		head = binary.LittleEndian.AppendUint32(head[:0], i.record)
		head = binary.LittleEndian.AppendUint64(head, i.hash)
		head = binary.AppendUvarint(head, uint64(i.size))
		if _, err := out.Write(head); err != nil {
			return err
		}
		if _, err := out.Write(s.key(i)); err != nil {
			return err
		}
	}
	s.keys, s.items = s.keys[:0], s.items[:0]
	return nil
}

// each calls f for every record in order. The key is valid until f returns.
func (s *sorter) each(f func(key []byte, record uint32, hash uint64) error) error {
	s.sort()
	if len(s.runs) == 0 {
		for _, i := range s.items {
			if err := f(s.key(i), i.record, i.hash); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	s.keys, s.items = nil, nil
	var m merge
	for _, run := range s.runs {
		r, err := run.reader()
		if err != nil {
			return err
		}
		c := &sortedRun{r: r}
		if err := c.next(); err != nil {
			return err
		}
		m = append(m, c)
	}
	heap.Init(&m)
	for len(m) > 0 {
		top := m[0]
		if err := f(top.key, top.record, top.hash); err != nil {
			return err
		}
		switch err := top.next(); {
		case err == io.EOF:
			heap.Pop(&m)
		case err != nil:
			return err
		default:
			heap.Fix(&m, 0)
		}
	}
	return nil
}

func (s *sorter) close() error {
	var errs []error
	for _, r := range s.runs {
		errs = append(errs, r.remove())
	}
	return errors.Join(errs...)
}

// sortedRun reads what was spilled.
type sortedRun struct {
	r      *bufio.Reader
	key    []byte
	record uint32
	hash   uint64
}

func (c *sortedRun) next() error {
	var head [12]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		return err
	}
	c.record, c.hash = binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint64(head[4:])
	size, err := binary.ReadUvarint(c.r)
	if err != nil {
		return err
	}
	c.key = slices.Grow(c.key[:0], int(size))[:size]
	_, err = io.ReadFull(c.r, c.key)
	return err
}

// merge is a heap of runs by their first records.
type merge []*sortedRun

// Len, Less, Swap, Push and Pop are heap.Interface.
func (m merge) Len() int      { return len(m) }
func (m merge) Swap(i, j int) { m[i], m[j] = m[j], m[i] }
func (m merge) Less(i, j int) bool {
	c := bytes.Compare(m[i].key, m[j].key)
	return c < 0 || c == 0 && m[i].record < m[j].record
}
func (m *merge) Push(x any) { *m = append(*m, x.(*sortedRun)) }
func (m *merge) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
