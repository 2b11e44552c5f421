package fulltext

import (
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// scanMatcher is the condition that a record contains a phrase, or that a field contains a clause.
// It scans the words of its candidates in the forward index.
type scanMatcher struct {
	pattern    *pattern
	candidates []plan.Term // conditions that every record with the pattern satisfies
	most       int         // maximum frequency to count
	set        *bitmap.Set // nil if it is not computed yet
	repeats    []byte      // by record of the segment, the frequency less 1; nil if none is above 1
	name       string
}

func (m *scanMatcher) String() string { return m.name }

// examineCost returns the time to examine a record in the forward index.
func (w *Index) examineCost() int {
	return cost.ExamineRecord + cost.ExamineWord*w.words/max(w.lengths.Len(), 1)
}

func (m *scanMatcher) Cost() plan.Cost {
	w := m.pattern.index
	c := plan.Cost{Records: w.lengths.Len(), Contains: w.examineCost()}
	for _, candidate := range m.candidates {
		c.Records = min(c.Records, candidate.Cost().Records)
	}
	c.Fill = c.Contains * c.Records
	if m.most > 1 { // scoring evaluates it in any case, so a test is additional work
		c.Contains *= 2
	}
	return c
}

func (m *scanMatcher) Contains(record uint32) bool { return m.pattern.count(record, 1) > 0 }

func (m *scanMatcher) Fill(st *guard.Steps, b *bitmap.Builder) { b.Union(st, m.evaluate(st)) }

// evaluate returns the matching records, which belong to the matcher.
func (m *scanMatcher) evaluate(st *guard.Steps) *bitmap.Set {
	if m.set != nil {
		return m.set
	}
	w := m.pattern.index
	m.set = plan.Evaluate(st, w.pool, m.candidates, nil)
	m.set.Filter(st, func(record uint32) bool {
		st.Add(1)
		n := m.pattern.count(record, m.most)
		if n > 1 {
			if m.repeats == nil {
				st.Reserve(w.lengths.Len())
				m.repeats = make([]byte, w.lengths.Len())
			}
			m.repeats[record] = byte(n - 1)
		}
		return n > 0
	})
	return m.set
}
