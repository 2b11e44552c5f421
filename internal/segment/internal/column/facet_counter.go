package column

import (
	"encoding/binary"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/guard"
)

// countsBySets reports whether intersecting a set with each run is cheaper than marking its records
// in the sorted rows. Only runs of at least minRecords, 1 or 2, are intersected.
func (c *Column) countsBySets(st *guard.Steps, set *bitmap.Set, minRecords int) bool {
	if set == nil {
		return false
	}
	inShortRuns, counted := c.Values(), c.Distinct()
	if minRecords > 1 { // of d runs with v records, at most v-d have several, and at most 2*(v-d) records are in them
		surplus := c.Values() - c.Distinct()
		inShortRuns, counted = min(inShortRuns, 2*surplus), min(counted, surplus)
	}
	for k := range c.longRuns.Len() {
		st.Add(1)
		from, to := c.run(int(c.longRuns.At(k)))
		inShortRuns -= to - from
	}
	n, all := set.Len(), c.sorted.Len()
	bySets := cost.CountByte*float64(c.longRunSets.Size()) + cost.CountRank*float64(max(inShortRuns, 0)) +
		cost.CountRun*float64(counted)
	byMarks := cost.MarkRank*float64(min(n, all-n)) + cost.MarkWord*float64(all/64) +
		cost.CountMarkedRun*float64(min(n, c.Distinct()))
	return bySets < byMarks
}

// runCounter counts the matches of the runs of a field in ascending order: by the marks of a
// result, or by intersecting it with each run.
type runCounter struct {
	*sortedResult
	next int // run to continue with
	long int // index of the first long run that is not before it
}

// count returns the next run before end that has matches, and their number. Without marks, it skips
// runs with fewer records than minRecords, one or two. ok is false if there is none.
func (r *runCounter) count(end, minRecords int) (run, n int, ok bool) {
	marked, isMarked := r.matches.(markedRanks)
	for r.next < end {
		r.steps.Add(1)
		run = r.next
		from, to := int(r.runs.At(run)), int(r.runs.At(run+1))
		if isMarked {
			last := int(r.runs.At(end))
			rank := marked.next(from, last)
			if rank == last {
				break
			}
			run = r.runAt(run, rank)
			to = int(r.runs.At(run + 1))
			r.next = run + 1
			return run, marked.count(rank, to), true
		}
		if to-from == 1 && minRecords > 1 {
			r.next = r.skipSingleRuns(run, end)
			continue
		}
		r.next++
		if n := r.countRun(run, from, to); n > 0 {
			return run, n, true
		}
	}
	r.next = end
	return 0, 0, false
}

// countRun returns the number of matches in a run with the given ranks, which is not before that of
// the last call.
func (r *runCounter) countRun(run, from, to int) (n int) {
	if r.set == nil {
		return to - from
	}
	for r.long < r.longRuns.Len() && int(r.longRuns.At(r.long)) < run {
		r.long++
	}
	records := r.set.Dense(r.steps)
	if r.long < r.longRuns.Len() && int(r.longRuns.At(r.long)) == run {
		return r.longRunSets.Set(r.long).CountIn(r.steps, records)
	}
	r.steps.Add(to - from)
	for order := r.sorted.Slice(from, to); len(order) >= 4; order = order[4:] {
		rec := binary.LittleEndian.Uint32(order)
		n += int(records[rec/64] >> (rec % 64) & 1)
	}
	return n
}

// skipSingleRuns returns the first run of several records in [run, end), or end. The first rank of
// run i, less i, is the same for all runs up to that one, because each run before it has one
// record.
func (c *Column) skipSingleRuns(run, end int) int {
	surplus := int(c.runs.At(run)) - run
	return lastIndex(run, end, func(i int) bool { return int(c.runs.At(i))-i == surplus })
}
