package segment

import (
	"strings"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/fulltext"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
	"herbarium/internal/segment/internal/positions"
)

// matches is the records of a segment that match a request.
type matches struct {
	r       *Reader
	steps   *guard.Steps
	q       *query.Request
	set     *bitmap.Set        // nil means all records
	clauses []*fulltext.Clause // for scoring

	sorted  *column.Order        // by fields; nil unless several pages are read
	byScore *fulltext.ScoreOrder // by relevance; nil unless several pages are read
	read    int                  // bytes of all records before the last one read, while reading sequentially
	kept    int                  // start of the records that may be in memory
}

// match returns the records that match a request. The caller must release them.
func (r *Reader) match(st *guard.Steps, q *query.Request, trace plan.Trace) *matches {
	m := &matches{r: r, steps: st, q: q}
	var terms []plan.Term
	if q.Search != nil {
		if len(q.Search.Clauses) == 0 {
			m.set = bitmap.NewBuilder(&r.pool).Set(st)
			return m
		}
		for _, c := range q.Search.Clauses {
			st.Check()
			clause := r.words.Clause(st, c)
			terms = append(terms, plan.Term{Condition: clause, Exclude: c.Exclude})
			if !c.Exclude {
				m.clauses = append(m.clauses, clause)
			}
		}
	}
	conditions, groups := q.Alternatives()
	terms = append(terms, r.terms(st, conditions)...)
	for _, fields := range groups {
		var any plan.AnyOf
		for _, conditions := range fields {
			any = append(any, plan.AllOf{Pool: &r.pool, Terms: r.terms(st, conditions)})
		}
		terms = append(terms, plan.Term{Condition: any})
	}
	if x := r.positionsOf(&q.Area); x != nil {
		if q.Area.Box != nil {
			terms = append(terms, plan.Term{Condition: x.InBox(st, *q.Area.Box)})
		}
		if q.Area.Near != nil {
			terms = append(terms, plan.Term{Condition: x.InCircle(st, *q.Area.Near)})
		}
	}
	m.set = plan.Evaluate(st, &r.pool, terms, trace)
	if len(terms) == 1 && len(m.clauses) == 1 {
		m.clauses[0].SetDocFreq(m.set.Len())
	}
	return m
}

// positionsOf returns the positions of records that an area refers to; nil if it refers to none.
func (r *Reader) positionsOf(a *query.Area) *positions.Index {
	if i, err := a.Select(r.Coordinates()); err == nil && i >= 0 {
		return &r.places[i]
	}
	return nil
}

// terms returns the conditions for evaluation. Those that select ranges of one field are combined.
func (r *Reader) terms(st *guard.Steps, conditions []query.Condition) (terms []plan.Term) {
	ranges := map[int]int{} // by field, the index of its range in terms
	for _, cond := range conditions {
		if cond.Op == query.OpMatch {
			terms = append(terms, r.words.Match(st, cond)...)
			continue
		}
		st.Add(column.LookupSteps * len(cond.Values))
		t := r.columns[cond.Field].Term(st, cond)
		if ranks, ok := t.Condition.(column.RankRange); ok && !t.Exclude {
			if i, ok := ranges[cond.Field]; ok {
				terms[i].Condition = terms[i].Condition.(column.RankRange).And(ranks)
				continue
			}
			ranges[cond.Field] = len(terms)
		}
		terms = append(terms, t)
	}
	return terms
}

// detach returns the matches for use after the evaluation, and leaves m without any to release.
func (m *matches) detach() *matches {
	detached := *m
	m.set, m.sorted = nil, nil
	return &detached
}

func (m *matches) release() {
	if m.sorted != nil {
		m.sorted.Release()
	}
	m.set.Release()
}

func (m *matches) len() int {
	if m.set == nil {
		return m.r.Len()
	}
	return m.set.Len()
}

// selection returns the set of the matching records; nil if all records match.
func (m *matches) selection() *bitmap.Set {
	if m.len() == m.r.Len() {
		return nil
	}
	return m.set
}

// order prepares the order of the request for several pages.
func (m *matches) order(stats fulltext.Statistics) {
	switch {
	case len(m.q.Sort) > 0:
		m.sorted = column.NewOrder(m.steps, m.r.columns, m.q.Sort, m.set)
	case m.q.ByRelevance() && len(m.clauses) > 0:
		m.byScore = m.r.words.NewScorer(m.steps, m.clauses, stats).Order(m.set)
	}
}

// describeOrder describes the order of the records, for Explain.
func (m *matches) describeOrder() string {
	switch {
	case m.q.Distance != query.AnyDistance:
		return "by distance"
	case len(m.q.Sort) > 0:
		names := make([]string, len(m.q.Sort))
		for i, f := range m.q.Sort {
			names[i] = m.r.Fields()[f.Field].Name
			if f.Desc {
				names[i] += " descending"
			}
		}
		return "sorted by " + strings.Join(names, ", ")
	case len(m.clauses) > 0:
		return "by relevance"
	default:
		return "in dataset order"
	}
}

// locate returns the numbers of the records at positions [from, to) in the order of the request.
func (m *matches) locate(from, to int) []uint32 {
	switch {
	case from == to:
		return nil
	case m.sorted != nil:
		return m.sorted.Page(from, to)
	case m.byScore != nil:
		return m.byScore.Page(from, to)
	case m.q.Distance != query.AnyDistance:
		x := m.r.positionsOf(&m.q.Area)
		return fulltext.NewScoreOrder(m.steps, m.set, x.Scores(m.steps, *m.q.Area.Near, m.q.Distance)).Page(from, to)
	case len(m.q.Sort) > 0:
		order := column.NewOrder(m.steps, m.r.columns, m.q.Sort, m.set)
		defer order.Release()
		return order.Page(from, to)
	case len(m.clauses) > 0:
		scorer := m.r.words.NewScorer(m.steps, m.clauses, m.r.words.Statistics(m.steps, m.clauses))
		return scorer.Page(m.set, from, to)
	case m.set == nil:
		return numbersBetween(from, to)
	default:
		return m.set.Slice(m.steps, from, to)
	}
}

func numbersBetween(from, to int) []uint32 {
	numbers := make([]uint32, to-from)
	for i := range numbers {
		numbers[i] = uint32(from + i)
	}
	return numbers
}

// dropRead releases the pages of the records up to the one with a number if they are read in
// sequence, because a file may be larger than memory. Records that go back even once are in a
// different order, and their pages may be needed again.
func (m *matches) dropRead(number uint32) {
	records, at := m.r.records, int(m.r.records.Starts.At(int(number)))
	if at < m.read {
		m.kept = len(records.Data)
	}
	m.read = at
	if at-m.kept >= forgetBytes {
		m.r.file.DropPages(records.Data[m.kept:at])
		m.kept = at
	}
}
