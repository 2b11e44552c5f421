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

// Approximate costs of counting in nanoseconds. They are only compared with each other; BenchmarkFacetCounter shows
// whether the choice is right.
const (
	costOfByte = 0.4 // of a stored set
	costOfRank = 4   // lookup of a record of a run without a stored set
	costOfMark = 4   // marking a record in the sorted rows
	costOfWord = 0.5 // of 64 marks
	costOfRun  = 3   // of a run whose records are all examined
)

// countsBySets reports whether intersecting the matches with each run is cheaper than marking them in the sorted rows.
func (c *Column) countsBySets(m *Matches) bool {
	inShortRuns := c.sorted.Len()
	for k := range c.longRuns.Len() {
		m.steps.Add(1)
		from, to := c.run(int(c.longRuns.At(k)))
		inShortRuns -= to - from
	}
	n := float64(m.n)
	bySets := costOfByte*float64(c.longRunSets.Size()) + costOfRank*float64(inShortRuns) + costOfRun*float64(c.Distinct())
	byMarks := costOfMark*n + costOfWord*float64(m.all/64) + costOfRun*min(n, float64(c.Distinct()))
	return bySets < byMarks
}

// eachRun calls f for all runs in ascending order with their lengths.
func (c *Column) eachRun(st *guard.Steps, f func(run, n int)) {
	from := 0
	for run := range c.Distinct() {
		st.Add(1)
		to := int(c.runs.At(run + 1))
		f(run, to-from)
		from = to
	}
}

// eachIntersection calls f for each run with matches, in ascending order, and their number. It intersects the matches with
// every run.
func (c *Column) eachIntersection(m *Matches, f func(run, n int)) {
	records, k, from := m.dense(), 0, 0
	for run := range c.Distinct() {
		to := int(c.runs.At(run + 1))
		n := 0
		if k < c.longRuns.Len() && int(c.longRuns.At(k)) == run {
			n = c.longRunSets.Set(k).CountIn(m.steps, records)
			k++
		} else {
			n = c.countRanks(m.steps, from, to, records)
		}
		if n > 0 {
			f(run, n)
		}
		from = to
	}
}

// countRanks returns the number of records with ranks in [from, to) in a bitset.
func (c *Column) countRanks(st *guard.Steps, from, to int, records bitmap.Bits) (n int) {
	st.Add(1 + to - from)
	for order := c.sorted.Slice(from, to); len(order) >= 4; order = order[4:] {
		rec := binary.LittleEndian.Uint32(order)
		n += int(records[rec/64] >> (rec % 64) & 1)
	}
	return n
}

// eachMarked calls f for each run with marks in the sorted rows, in ascending order, and their number.
func (c *Column) eachMarked(st *guard.Steps, marks bitmap.Bits, f func(run, n int)) {
	end := c.Values()
	for run, rank := 0, marks.Next(st, 0, end); rank < end; {
		run = c.runAt(run, rank)
		to := int(c.runs.At(run + 1))
		f(run, marks.Count(rank, to))
		rank = marks.Next(st, to, end)
	}
}
