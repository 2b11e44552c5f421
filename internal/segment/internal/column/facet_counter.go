package column

import (
	"encoding/binary"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
)

// Matches is the set of records that match a request.
type Matches struct {
	steps *guard.Steps
	set   *bitmap.Set // nil means all records
	n     int
	all   int // number of all records
}

// NewMatches returns the matches of a set; nil means all records.
func NewMatches(st *guard.Steps, pool *bitmap.Pool, set *bitmap.Set) *Matches {
	m := &Matches{steps: st, set: set, n: pool.Records, all: pool.Records}
	if set != nil {
		if m.n = set.Len(); m.n == m.all {
			m.set = nil
		}
	}
	return m
}

// Len returns the number of records.
func (m *Matches) Len() int { return m.n }

// dense returns the set as one bit per record.
func (m *Matches) dense() bitmap.Bits { return m.set.Dense(m.steps) }

// facetCounter counts the matches by value runs of a field. There is at least one match.
type facetCounter interface {
	// empty returns the number of records without a value.
	empty() int
	// ends returns the first and the last run with a match. There must be one.
	ends() (first, last int)
	// each calls f for each run with matches, in ascending order, and their number.
	each(f func(run, n int))
	// release recycles memory.
	release()
}

// Approximate costs of counting in nanoseconds. They are only compared with each other; BenchmarkFacetCounter shows
// whether the choice is right.
const (
	costOfByte = 0.4 // of a stored set
	costOfRank = 4   // lookup of a record of a run without a stored set
	costOfMark = 4   // marking a record in the sorted rows
	costOfWord = 0.5 // of 64 marks
	costOfRun  = 3   // of a run whose records are all examined
)

// facetCounter selects the cheapest counter for the matches of a request.
func (c *Column) facetCounter(m *Matches) facetCounter {
	if m.set == nil {
		return allCounter{c, m.steps}
	}
	n := float64(m.n)
	bySets := costOfByte*float64(c.longRunSets.Size()) + costOfRank*float64(c.short(m.steps)) + costOfRun*float64(c.Distinct())
	byMarks := costOfMark*n + costOfWord*float64(m.all/64) + costOfRun*min(n, float64(c.Distinct()))
	if bySets < byMarks {
		return setCounter{c, m.dense(), m.steps}
	}
	return newMarkCounter(c, m)
}

// short returns the number of records in runs without a stored set.
func (c *Column) short(st *guard.Steps) int {
	n := c.sorted.Len()
	for k := range c.longRuns.Len() {
		st.Add(1)
		from, to := c.run(int(c.longRuns.At(k)))
		n -= to - from
	}
	return n
}

// allCounter counts all records.
type allCounter struct {
	c     *Column
	steps *guard.Steps
}

func (t allCounter) release()                {}
func (t allCounter) empty() int              { return t.c.sorted.Len() - t.c.Values() }
func (t allCounter) ends() (first, last int) { return 0, t.c.Distinct() - 1 }

func (t allCounter) each(f func(run, n int)) {
	for run := range t.c.Distinct() {
		t.steps.Add(1)
		from, to := t.c.run(run)
		f(run, to-from)
	}
}

// setCounter intersects each run with the matches.
type setCounter struct {
	c       *Column
	records bitmap.Bits
	steps   *guard.Steps
}

func (t setCounter) release()   {}
func (t setCounter) empty() int { return t.count(t.c.Distinct()) }

func (t setCounter) ends() (first, last int) {
	last = t.c.Distinct() - 1
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
		return t.c.longRunSets.Set(k).CountIn(t.steps, t.records)
	}
	return t.countRanks(t.c.run(run))
}

func (t setCounter) countRanks(from, to int) (n int) {
	t.steps.Add(1 + to - from)
	records := t.records
	for order := t.c.sorted.Slice(from, to); len(order) >= 4; order = order[4:] {
		rec := binary.LittleEndian.Uint32(order)
		n += int(records[rec/64] >> (rec % 64) & 1)
	}
	return n
}

func (t setCounter) each(f func(run, n int)) {
	k, from := 0, 0
	for run := range t.c.Distinct() {
		to := int(t.c.runs.At(run + 1))
		var n int
		if k < t.c.longRuns.Len() && int(t.c.longRuns.At(k)) == run {
			n = t.c.longRunSets.Set(k).CountIn(t.steps, t.records)
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
	c     *Column
	marks bitmap.Bits
	steps *guard.Steps
}

func newMarkCounter(c *Column, m *Matches) markCounter {
	t := markCounter{c, c.pool.Get(), m.steps}
	c.markRanks(m.steps, m.set, t.marks)
	return t
}

func (t markCounter) release() { t.c.pool.Put(t.marks) }

func (t markCounter) empty() int { return t.marks.Count(t.c.run(t.c.Distinct())) }

func (t markCounter) ends() (first, last int) {
	end := t.c.Values()
	return t.c.runAt(0, t.marks.Next(t.steps, 0, end)), t.c.runAt(0, t.marks.Last(t.steps, end))
}

func (t markCounter) each(f func(run, n int)) {
	end := t.c.Values()
	for run, rank := 0, t.marks.Next(t.steps, 0, end); rank < end; {
		run = t.c.runAt(run, rank)
		to := int(t.c.runs.At(run + 1))
		f(run, t.marks.Count(rank, to))
		rank = t.marks.Next(t.steps, to, end)
	}
}
