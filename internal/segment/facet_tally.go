package segment

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// matches are the records that meet a request.
type matches struct {
	steps   *steps
	set     *roaring.Bitmap // nil: every record
	n       int
	records int // of the segment
	scratch *scratch
	filled  bool // scratch.dense holds the set
}

// dense returns the set with a bit for each record.
func (m *matches) dense() bitset {
	if !m.filled {
		m.filled = true
		m.scratch.dense.fill(m.set, m.records)
	}
	return bitset(m.scratch.dense)
}

// scratch is memory that requests use one after the other.
type scratch struct {
	dense  denseSet
	marks  bitset
	places []uint32
}

// scratches keeps scratch for reuse.
type scratches struct{ pool sync.Pool }

func (s *scratches) get() *scratch {
	if v, ok := s.pool.Get().(*scratch); ok {
		return v
	}
	return new(scratch)
}

func (s *scratches) put(v *scratch) { s.pool.Put(v) }

// denseSet is a bitset that has room for whole parts.
type denseSet bitset

func (d *denseSet) fill(set *roaring.Bitmap, records int) {
	words := (records>>16 + 1) * bitmapWords
	if len(*d) != words {
		*d = make(denseSet, words)
	} else {
		clear(*d)
	}
	set.WriteDenseTo(*d)
}

// tally counts the records of a request by runs of a field. There is at least one record.
type tally interface {
	// empty returns how many have no value.
	empty() int
	// ends returns the first and the last run that has any, which there must be.
	ends() (first, last int)
	// each calls f with the runs that have any, in ascending order, and how many.
	each(f func(run, n int))
}

// What it costs to count, in nanoseconds, roughly: costs are compared with each other alone. BenchmarkTally shows whether the
// choice is right.
const (
	costOfByte   = 0.4 // of a stored set
	costOfPlace  = 4   // a record of a run without one is looked up
	costOfMark   = 4   // a record is marked in the order
	costOfWord   = 0.5 // of 64 marks
	costOfRun    = 3   // one of which every record is looked at
	costOfSorted = 90  // a record's place is looked up and sorted
)

// tally chooses how to count the records of a request.
func (c *column) tally(m *matches) tally {
	if m.set == nil {
		return tallyAll{c, m.steps}
	}
	n := float64(m.n)
	runs := costOfRun * float64(c.distinct())
	bySets := costOfByte*float64(len(c.often.body)) + costOfPlace*float64(c.short(m.steps)) + runs
	byMarks := costOfMark*n + costOfWord*float64(m.records/64) + runs
	switch least := min(bySets, byMarks, costOfSorted*n); least {
	case bySets:
		return tallySets{c, m.dense(), m.steps}
	case byMarks:
		return newTallyMarks(c, m)
	default:
		return newTallyFew(c, m)
	}
}

// short returns how many records are in runs without a stored set.
func (c *column) short(st *steps) int {
	n := c.order.len()
	for k := range c.long.len() {
		st.add(1)
		from, to := c.run(int(c.long.at(k)))
		n -= to - from
	}
	return n
}

// tallyAll counts all records.
type tallyAll struct {
	c     *column
	steps *steps
}

func (t tallyAll) empty() int              { return t.c.order.len() - t.c.values() }
func (t tallyAll) ends() (first, last int) { return 0, t.c.distinct() - 1 }

func (t tallyAll) each(f func(run, n int)) {
	for run := range t.c.distinct() {
		t.steps.add(1)
		from, to := t.c.run(run)
		f(run, to-from)
	}
}

// tallySets counts each run against the records.
type tallySets struct {
	c       *column
	records bitset
	steps   *steps
}

func (t tallySets) empty() int { return t.count(t.c.distinct()) }

func (t tallySets) ends() (first, last int) {
	last = t.c.distinct() - 1
	for t.count(first) == 0 {
		first++
	}
	for t.count(last) == 0 {
		last--
	}
	return first, last
}

func (t tallySets) count(run int) int {
	if k, ok := t.c.storedSet(run); ok {
		return countSet(t.steps, t.c.often.bytes(k), t.records)
	}
	return t.countPlaces(t.c.run(run))
}

func (t tallySets) countPlaces(from, to int) (n int) {
	t.steps.add(1 + to - from)
	records := t.records
	for order := t.c.order.slice(from, to); len(order) >= 4; order = order[4:] {
		rec := binary.LittleEndian.Uint32(order)
		n += int(records[rec/64] >> (rec % 64) & 1)
	}
	return n
}

func (t tallySets) each(f func(run, n int)) {
	k, from := 0, 0
	for run := range t.c.distinct() {
		to := int(t.c.runs.at(run + 1))
		var n int
		if k < t.c.long.len() && int(t.c.long.at(k)) == run {
			n = countSet(t.steps, t.c.often.bytes(k), t.records)
			k++
		} else {
			n = t.countPlaces(from, to)
		}
		if n > 0 {
			f(run, n)
		}
		from = to
	}
}

// tallyMarks has a bit for each place in the order.
type tallyMarks struct {
	c     *column
	marks bitset
	steps *steps
}

func newTallyMarks(c *column, m *matches) tallyMarks {
	words := (m.records + 63) / 64
	if len(m.scratch.marks) != words {
		m.scratch.marks = newBitset(m.records)
	} else {
		clear(m.scratch.marks)
	}
	marks, places := m.scratch.marks, c.places
	each(m.steps, m.set, func(records []uint32) {
		for _, rec := range records {
			marks.add(places.at(int(rec)))
		}
	})
	return tallyMarks{c, marks, m.steps}
}

func (t tallyMarks) empty() int { return t.marks.between(t.c.run(t.c.distinct())) }

func (t tallyMarks) ends() (first, last int) {
	i, end := 0, t.c.values()
	for t.marks[i] == 0 {
		t.steps.add(1)
		i++
	}
	j := (end - 1) / 64
	word := t.marks[j] & (^uint64(0) >> (63 - (end-1)%64))
	for word == 0 {
		t.steps.add(1)
		j--
		word = t.marks[j]
	}
	return t.c.runAt(64*i + bits.TrailingZeros64(t.marks[i])), t.c.runAt(64*j + bits.Len64(word) - 1)
}

func (t tallyMarks) each(f func(run, n int)) {
	from := 0
	for run := range t.c.distinct() {
		to := int(t.c.runs.at(run + 1))
		n := 0
		t.steps.add(1)
		if to == from+1 { // as in all of a field whose values differ
			n = int(t.marks[from/64] >> (from % 64) & 1)
		} else {
			n = t.marks.between(from, to)
		}
		if n > 0 {
			f(run, n)
		}
		from = to
	}
}

// between returns how many bits are set from one up to another.
func (b bitset) between(from, to int) (n int) {
	if from >= to {
		return 0
	}
	i, j := from/64, (to-1)/64
	low, high := ^uint64(0)<<(from%64), ^uint64(0)>>(63-(to-1)%64)
	if i == j {
		return bits.OnesCount64(b[i] & low & high)
	}
	n = bits.OnesCount64(b[i]&low) + bits.OnesCount64(b[j]&high)
	for _, w := range b[i+1 : j] {
		n += bits.OnesCount64(w)
	}
	return n
}

// tallyFew has the place of every record.
type tallyFew struct {
	c      *column
	steps  *steps
	places []uint32 // with a value, in ascending order
	n      int      // with and without a value
}

func newTallyFew(c *column, m *matches) tallyFew {
	places := m.scratch.places[:0]
	each(m.steps, m.set, func(records []uint32) {
		for _, rec := range records {
			places = append(places, c.places.at(int(rec)))
		}
	})
	m.scratch.places = places
	t := tallyFew{c: c, steps: m.steps, n: len(places)}
	t.places = slices.DeleteFunc(places, func(p uint32) bool { return int(p) >= c.values() })
	slices.Sort(t.places)
	return t
}

func (t tallyFew) empty() int { return t.n - len(t.places) }

func (t tallyFew) ends() (first, last int) {
	return t.c.runAt(int(t.places[0])), t.c.runAt(int(t.places[len(t.places)-1]))
}

func (t tallyFew) each(f func(run, n int)) {
	for i := 0; i < len(t.places); {
		run := t.c.runAt(int(t.places[i]))
		_, to := t.c.run(run)
		start := i
		for i < len(t.places) && int(t.places[i]) < to {
			t.steps.add(1)
			i++
		}
		if i == start {
			panic(corruption{errors.New("a place is in no run")})
		}
		f(run, i-start)
	}
}

// countSet returns how many members of a set, as it lies in the file, are among some records; nil: how many it has. It
// leaves nothing behind, unlike a look at the set with sets.get, so that any number of sets can be counted.
func countSet(st *steps, b []byte, among bitset) (n int) {
	all := openContainers(b)
	st.add(1)
	for c, ok := all.next(noEnd); ok; c, ok = all.next(noEnd) {
		st.add(1 + c.count/64)
		if among == nil {
			n += c.count
			continue
		}
		part := (*[bitmapWords]uint64)(among[c.key/64:])
		switch c.kind {
		case runContainer:
			n += countIntervals(c.data[2:], part)
		case arrayContainer:
			n += countArray(c.data, part)
		case bitmapContainer:
			n += countBits(c.data, part)
		}
	}
	return n
}

func countArray(b []byte, part *[bitmapWords]uint64) (n int) {
	for ; len(b) >= 8; b = b[8:] { // four at a time, in three quarters of the time
		v := binary.LittleEndian.Uint64(b)
		v0, v1, v2, v3 := uint16(v), uint16(v>>16), uint16(v>>32), uint16(v>>48)
		n += int(part[v0/64]>>(v0%64)&1 + part[v1/64]>>(v1%64)&1 + part[v2/64]>>(v2%64)&1 + part[v3/64]>>(v3%64)&1)
	}
	for ; len(b) >= 2; b = b[2:] {
		v := binary.LittleEndian.Uint16(b)
		n += int(part[v/64] >> (v % 64) & 1)
	}
	return n
}

func countBits(b []byte, part *[bitmapWords]uint64) (n int) {
	for i := range part {
		n += bits.OnesCount64(part[i] & binary.LittleEndian.Uint64(b[8*i:]))
	}
	return n
}

func countIntervals(b []byte, part *[bitmapWords]uint64) (n int) {
	for ; len(b) >= 4; b = b[4:] {
		first := int(binary.LittleEndian.Uint16(b))
		n += bitset(part[:]).between(first, first+int(binary.LittleEndian.Uint16(b[2:]))+1)
	}
	return n
}
