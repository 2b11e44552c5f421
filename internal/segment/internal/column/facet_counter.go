package column

import (
	"encoding/binary"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
)

// Matches is the set of records that match a request. Release it after use.
type Matches struct {
	steps *guard.Steps
	set   *bitmap.Set // nil means all records
	n     int
	all   int // number of all records
}

// NewMatches returns the matches of a set; nil means all records. The set then belongs to the matches.
func NewMatches(st *guard.Steps, pool *bitmap.Pool, set *bitmap.Set) *Matches {
	m := &Matches{steps: st, set: set, n: pool.Records, all: pool.Records}
	if set != nil {
		if m.n = set.Len(); m.n == m.all {
			m.Release()
			m.set = nil
		}
	}
	return m
}

// Release recycles memory.
func (m *Matches) Release() { m.set.Release() }

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
	if m.set == nil {
		return false
	}
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

// runSequence returns the next run with matches, in ascending order, and their number. ok is false at the end.
type runSequence func() (run, n int, ok bool)

// runCounts returns the runs with matches. o locates the matches; they are marked unless countsBySets.
func (c *Column) runCounts(m *Matches, o *sortedResult) runSequence {
	switch {
	case m.set == nil:
		return c.allRuns(m.steps)
	case o.marks == nil:
		return c.intersections(m)
	default:
		return c.markedRuns(m.steps, o.marks)
	}
}

// allRuns returns all runs with their lengths.
func (c *Column) allRuns(st *guard.Steps) runSequence {
	run, from := -1, 0
	return func() (int, int, bool) {
		if run++; run >= c.Distinct() {
			return 0, 0, false
		}
		st.Add(1)
		to := int(c.runs.At(run + 1))
		n := to - from
		from = to
		return run, n, true
	}
}

// intersections intersects the matches with every run.
func (c *Column) intersections(m *Matches) runSequence {
	records, k, run, from := m.dense(), 0, -1, 0
	return func() (int, int, bool) {
		for run++; run < c.Distinct(); run++ {
			to := int(c.runs.At(run + 1))
			n := 0
			if k < c.longRuns.Len() && int(c.longRuns.At(k)) == run {
				n = c.longRunSets.Set(k).CountIn(m.steps, records)
				k++
			} else {
				n = c.countRanks(m.steps, from, to, records)
			}
			if from = to; n > 0 {
				return run, n, true
			}
		}
		return 0, 0, false
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

// markedRuns returns the runs with marks in the sorted rows.
func (c *Column) markedRuns(st *guard.Steps, marks bitmap.Bits) runSequence {
	end := c.Values()
	run, rank := 0, marks.Next(st, 0, end)
	return func() (int, int, bool) {
		if rank >= end {
			return 0, 0, false
		}
		run = c.runAt(run, rank)
		to := int(c.runs.At(run + 1))
		n := marks.Count(rank, to)
		rank = marks.Next(st, to, end)
		return run, n, true
	}
}
