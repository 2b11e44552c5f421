package fulltext

import (
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// scanMatcher is the condition that a record contains a phrase, or that a field contains a clause:
// the words of its candidates in the forward index are examined.
type scanMatcher struct {
	pattern    *pattern
	candidates []plan.Term // conditions that every record with the pattern satisfies
	most       int         // maximum frequency to count
	set        *bitmap.Set // nil if it is not computed yet
	repeats    []byte      // by record of the segment, the frequency less 1; nil if none is above 1
	name       string
}

func (e *scanMatcher) String() string { return e.name }

// examineCost returns the time to examine a record in the forward index.
func (w *Index) examineCost() int {
	return cost.ExamineRecord + cost.ExamineWord*w.words/max(w.lengths.Len(), 1)
}

func (e *scanMatcher) Cost() plan.Cost {
	w := e.pattern.index
	c := plan.Cost{Records: w.lengths.Len(), Contains: w.examineCost()}
	for _, candidate := range e.candidates {
		c.Records = min(c.Records, candidate.Cost().Records)
	}
	c.Fill = c.Contains * c.Records
	if e.most > 1 { // it is scored, so it is evaluated even if it is tested
		c.Contains *= 2
	}
	return c
}

func (e *scanMatcher) Contains(record uint32) bool { return e.pattern.count(record, 1) > 0 }

func (e *scanMatcher) Fill(st *guard.Steps, b *bitmap.Builder) { b.Union(st, e.evaluate(st)) }

// evaluate returns the records.
func (e *scanMatcher) evaluate(st *guard.Steps) *bitmap.Set {
	if e.set != nil {
		return e.set
	}
	w := e.pattern.index
	e.set = plan.Evaluate(st, w.pool, e.candidates, nil)
	e.set.Filter(st, func(record uint32) bool {
		st.Add(1)
		n := e.pattern.count(record, e.most)
		if n > 1 {
			if e.repeats == nil {
				e.repeats = make([]byte, w.lengths.Len())
			}
			e.repeats[record] = byte(n - 1)
		}
		return n > 0
	})
	return e.set
}
