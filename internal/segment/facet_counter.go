package segment

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// matches is the set of records that match a request.
type matches struct {
	steps   *steps
	set     *roaring.Bitmap // nil means all records
	n       int
	records int // number of records in the segment
	scratch *scratch
	filled  bool // whether scratch.dense contains the set
}

// dense returns the set as one bit per record.
func (m *matches) dense() bitset {
	if !m.filled {
		m.filled = true
		m.scratch.dense.fill(m.set, m.records)
	}
	return bitset(m.scratch.dense)
}

// scratch is memory reused by consecutive requests.
type scratch struct {
	dense denseSet
	marks bitset
	ranks []uint32
}

// scratches pools scratch memory.
type scratches struct{ pool sync.Pool }

func (s *scratches) get() *scratch {
	if v, ok := s.pool.Get().(*scratch); ok {
		return v
	}
	return new(scratch)
}

func (s *scratches) put(v *scratch) { s.pool.Put(v) }

// denseSet is a bitset with room for whole containers.
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

// facetCounter counts the matches by value runs of a field. There is at least one match.
type facetCounter interface {
	// empty returns the number of records without a value.
	empty() int
	// ends returns the first and the last run with a match. There must be one.
	ends() (first, last int)
	// each calls f for each run with matches, in ascending order, and their number.
	each(f func(run, n int))
}

// Approximate costs of counting in nanoseconds. They are only compared with each other; BenchmarkFacetCounter shows
// whether the choice is right.
const (
	costOfByte   = 0.4 // of a stored set
	costOfRank   = 4   // lookup of a record of a run without a stored set
	costOfMark   = 4   // marking a record in the sorted rows
	costOfWord   = 0.5 // of 64 marks
	costOfRun    = 3   // of a run whose records are all examined
	costOfSorted = 90  // looking up and sorting the rank of a record
)

// facetCounter selects the cheapest counter for the matches of a request.
func (c *column) facetCounter(m *matches) facetCounter {
	if m.set == nil {
		return allCounter{c, m.steps}
	}
	n := float64(m.n)
	runs := costOfRun * float64(c.distinct())
	bySets := costOfByte*float64(len(c.longRunSets.body)) + costOfRank*float64(c.short(m.steps)) + runs
	byMarks := costOfMark*n + costOfWord*float64(m.records/64) + runs
	switch least := min(bySets, byMarks, costOfSorted*n); least {
	case bySets:
		return setCounter{c, m.dense(), m.steps}
	case byMarks:
		return newMarkCounter(c, m)
	default:
		return newRankCounter(c, m)
	}
}

// short returns the number of records in runs without a stored set.
func (c *column) short(st *steps) int {
	n := c.sorted.len()
	for k := range c.longRuns.len() {
		st.add(1)
		from, to := c.run(int(c.longRuns.at(k)))
		n -= to - from
	}
	return n
}

// allCounter counts all records.
type allCounter struct {
	c     *column
	steps *steps
}

func (t allCounter) empty() int              { return t.c.sorted.len() - t.c.values() }
func (t allCounter) ends() (first, last int) { return 0, t.c.distinct() - 1 }

func (t allCounter) each(f func(run, n int)) {
	for run := range t.c.distinct() {
		t.steps.add(1)
		from, to := t.c.run(run)
		f(run, to-from)
	}
}

// setCounter intersects each run with the matches.
type setCounter struct {
	c       *column
	records bitset
	steps   *steps
}

func (t setCounter) empty() int { return t.count(t.c.distinct()) }

func (t setCounter) ends() (first, last int) {
	last = t.c.distinct() - 1
	for t.count(first) == 0 {
		first++
	}
	for t.count(last) == 0 {
		last--
	}
	return first, last
}

func (t setCounter) count(run int) int {
	if k, ok := t.c.storedSet(run); ok {
		return countSet(t.steps, t.c.longRunSets.bytes(k), t.records)
	}
	return t.countRanks(t.c.run(run))
}

func (t setCounter) countRanks(from, to int) (n int) {
	t.steps.add(1 + to - from)
	records := t.records
	for order := t.c.sorted.slice(from, to); len(order) >= 4; order = order[4:] {
		rec := binary.LittleEndian.Uint32(order)
		n += int(records[rec/64] >> (rec % 64) & 1)
	}
	return n
}

func (t setCounter) each(f func(run, n int)) {
	k, from := 0, 0
	for run := range t.c.distinct() {
		to := int(t.c.runs.at(run + 1))
		var n int
		if k < t.c.longRuns.len() && int(t.c.longRuns.at(k)) == run {
			n = countSet(t.steps, t.c.longRunSets.bytes(k), t.records)
			k++
		} else {
			n = t.countRanks(from, to)
		}
		if n > 0 {
			f(run, n)
		}
		from = to
	}
}

// markCounter has one bit per rank.
type markCounter struct {
	c     *column
	marks bitset
	steps *steps
}

func newMarkCounter(c *column, m *matches) markCounter {
	words := (m.records + 63) / 64
	if len(m.scratch.marks) != words {
		m.scratch.marks = newBitset(m.records)
	} else {
		clear(m.scratch.marks)
	}
	marks, ranks := m.scratch.marks, c.ranks
	each(m.steps, m.set, func(records []uint32) {
		for _, rec := range records {
			marks.add(ranks.at(int(rec)))
		}
	})
	return markCounter{c, marks, m.steps}
}

func (t markCounter) empty() int { return t.marks.between(t.c.run(t.c.distinct())) }

func (t markCounter) ends() (first, last int) {
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

func (t markCounter) each(f func(run, n int)) {
	from := 0
	for run := range t.c.distinct() {
		to := int(t.c.runs.at(run + 1))
		n := 0
		t.steps.add(1)
		if to == from+1 { // as in fields with unique values
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

// between returns the number of set bits in [from, to).
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

// rankCounter has the ranks of all matches.
type rankCounter struct {
	c     *column
	steps *steps
	ranks []uint32 // of records with a value, ascending
	n     int      // including records without a value
}

func newRankCounter(c *column, m *matches) rankCounter {
	ranks := m.scratch.ranks[:0]
	each(m.steps, m.set, func(records []uint32) {
		for _, rec := range records {
			ranks = append(ranks, c.ranks.at(int(rec)))
		}
	})
	m.scratch.ranks = ranks
	t := rankCounter{c: c, steps: m.steps, n: len(ranks)}
	t.ranks = slices.DeleteFunc(ranks, func(p uint32) bool { return int(p) >= c.values() })
	slices.Sort(t.ranks)
	return t
}

func (t rankCounter) empty() int { return t.n - len(t.ranks) }

func (t rankCounter) ends() (first, last int) {
	return t.c.runAt(int(t.ranks[0])), t.c.runAt(int(t.ranks[len(t.ranks)-1]))
}

func (t rankCounter) each(f func(run, n int)) {
	for i := 0; i < len(t.ranks); {
		run := t.c.runAt(int(t.ranks[i]))
		_, to := t.c.run(run)
		start := i
		for i < len(t.ranks) && int(t.ranks[i]) < to {
			t.steps.add(1)
			i++
		}
		if i == start {
			panic(corruption{errors.New("a rank is in no value run")})
		}
		f(run, i-start)
	}
}

// countSet returns the number of members of an encoded set that are in among; nil counts all. Unlike sets.get it caches
// nothing, so that any number of sets can be counted.
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
	for ; len(b) >= 8; b = b[8:] { // four at a time, which saves a quarter of the time
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
