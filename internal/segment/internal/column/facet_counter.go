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
	costOfByte      = 0.4 // of a stored set
	costOfRank      = 2   // lookup of a record of a run without a stored set
	costOfMark      = 3   // marking a record in the sorted rows
	costOfWord      = 2   // of 64 marks
	costOfRun       = 30  // counting the records of a run
	costOfMarkedRun = 40  // locating the run of a mark
	costOfSkip      = 2   // skipping a run of one record
)

// countsBySets reports whether intersecting the matches with each run that has at least so many records, one or two, is cheaper
// than marking them in the sorted rows.
func (c *Column) countsBySets(m *Matches, least int) bool {
	if m.set == nil {
		return false
	}
	inShortRuns, counted, skipped := c.Values(), c.Distinct(), 0
	if least > 1 { // of d runs with v records, at most v-d have several, and at most 2*(v-d) records are in them
		surplus := c.Values() - c.Distinct()
		inShortRuns, counted = min(inShortRuns, 2*surplus), min(counted, surplus)
		skipped = c.Distinct()/runBlock + min(c.Distinct()-counted, runBlock*counted)
	}
	for k := range c.longRuns.Len() {
		m.steps.Add(1)
		from, to := c.run(int(c.longRuns.At(k)))
		inShortRuns -= to - from
	}
	bySets := costOfByte*float64(c.longRunSets.Size()) + costOfRank*float64(max(inShortRuns, 0)) +
		costOfRun*float64(counted) + costOfSkip*float64(skipped)
	byMarks := costOfMark*float64(min(m.n, m.all-m.n)) + costOfWord*float64(m.all/64) +
		costOfMarkedRun*float64(min(m.n, c.Distinct()))
	return bySets < byMarks
}

// runSequence returns the next run with matches, in ascending order, and their number. ok is false at the end.
type runSequence func() (run, n int, ok bool)

// runCounts returns the runs with matches that have at least so many records, one or two; with marks, it returns all runs with
// matches. marks are the ranks of the matches, or nil to intersect them with the runs.
func (c *Column) runCounts(m *Matches, marks bitmap.Bits, least int) runSequence {
	if marks != nil {
		return c.markedRuns(m.steps, marks)
	}
	count := func(_, from, to int) int { return to - from }
	if m.set != nil {
		count = c.intersections(m)
	}
	run := -1
	return func() (int, int, bool) {
		for {
			m.steps.Add(1)
			if run++; least > 1 {
				run = c.skipSingleRuns(m.steps, run)
			}
			if run == c.Distinct() {
				return 0, 0, false
			}
			from, to := c.run(run)
			if n := count(run, from, to); n > 0 {
				return run, n, true
			}
		}
	}
}

// runBlock is the number of runs of one record that are skipped at a time.
const runBlock = 64

// skipSingleRuns returns the first run of several records that is not before the given one, or the number of runs.
func (c *Column) skipSingleRuns(st *guard.Steps, run int) int {
	last, start := c.Distinct(), c.runs.At(run)
	for run < last {
		if run+runBlock <= last {
			if end := c.runs.At(run + runBlock); end-start == runBlock {
				st.Add(1)
				start, run = end, run+runBlock
				continue
			}
		}
		end := c.runs.At(run + 1)
		if end-start > 1 {
			break
		}
		start, run = end, run+1
	}
	return run
}

// intersections returns a function that counts the matches of ascending runs.
func (c *Column) intersections(m *Matches) func(run, from, to int) int {
	records, k := m.dense(), 0
	return func(run, from, to int) int {
		if k < c.longRuns.Len() && int(c.longRuns.At(k)) == run {
			k++
			return c.longRunSets.Set(k-1).CountIn(m.steps, records)
		}
		return c.countRanks(m.steps, from, to, records)
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
