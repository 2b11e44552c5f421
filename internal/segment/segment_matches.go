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

// segmentMatches is the records of a segment that match a request.
type segmentMatches struct {
	r       *Reader
	steps   *guard.Steps
	q       *query.Request
	set     *bitmap.Set        // nil means all records
	clauses []*fulltext.Clause // for scoring

	sorted  *column.Order        // by fields; nil if the segment is not merged with others
	byScore *fulltext.ScoreOrder // by relevance; nil if the segment is not merged with others
	read    int                  // bytes of all records before the last one read, while reading sequentially
	kept    int                  // start of the records that may be in memory
}

// match returns the records that match a request. The caller must release them.
func (r *Reader) match(st *guard.Steps, q *query.Request, trace plan.Trace) *segmentMatches {
	s := &segmentMatches{r: r, steps: st, q: q}
	var terms []plan.Term
	if q.Search != nil {
		if len(q.Search.Clauses) == 0 {
			s.set = bitmap.NewBuilder(&r.pool).Set(st)
			return s
		}
		for _, c := range q.Search.Clauses {
			st.Check()
			clause := r.words.Clause(st, c)
			terms = append(terms, plan.Term{Condition: clause, Exclude: c.Exclude})
			if !c.Exclude {
				s.clauses = append(s.clauses, clause)
			}
		}
	}
	terms = append(terms, r.terms(st, q.Conditions)...)
	if x := r.positionsOf(&q.Area); x != nil {
		if q.Area.Box != nil {
			terms = append(terms, plan.Term{Condition: x.InBox(st, *q.Area.Box)})
		}
		if q.Area.Near != nil {
			terms = append(terms, plan.Term{Condition: x.InCircle(st, *q.Area.Near)})
		}
	}
	s.set = plan.Evaluate(st, &r.pool, terms, trace)
	return s
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

func (s *segmentMatches) release() {
	if s.sorted != nil {
		s.sorted.Release()
	}
	s.set.Release()
}

func (s *segmentMatches) len() int {
	if s.set == nil {
		return s.r.Len()
	}
	return s.set.Len()
}

// selection returns the set of the matching records; nil if all records match.
func (s *segmentMatches) selection() *bitmap.Set {
	if s.len() == s.r.Len() {
		return nil
	}
	return s.set
}

// order prepares the order of the request. The statistics are those of the union.
func (s *segmentMatches) order(stats fulltext.Statistics) {
	switch {
	case len(s.q.Sort) > 0:
		s.sorted = column.NewOrder(s.steps, s.r.columns, s.q.Sort, s.set)
	case len(s.clauses) > 0:
		s.byScore = s.r.words.NewScorer(s.steps, s.clauses, stats).Order(s.set)
	}
}

// describeOrder describes the order of the records, for Explain.
func (s *segmentMatches) describeOrder() string {
	switch {
	case s.q.Distance != query.AnyDistance:
		return "by distance"
	case len(s.q.Sort) > 0:
		names := make([]string, len(s.q.Sort))
		for i, f := range s.q.Sort {
			if names[i] = s.r.Fields()[f.Field].Name; f.Desc {
				names[i] += " descending"
			}
		}
		return "sorted by " + strings.Join(names, ", ")
	case len(s.clauses) > 0:
		return "by relevance"
	default:
		return "in dataset order"
	}
}

// locate returns the numbers of the records at positions [from, to) in the order of the request.
func (s *segmentMatches) locate(from, to int) []uint32 {
	switch {
	case from == to:
		return nil
	case s.sorted != nil:
		return s.sorted.Page(from, to)
	case s.byScore != nil:
		return s.byScore.Page(from, to)
	case s.q.Distance != query.AnyDistance:
		x := s.r.positionsOf(&s.q.Area)
		return fulltext.NewScoreOrder(s.steps, s.set, x.Scores(s.steps, *s.q.Area.Near, s.q.Distance)).Page(from, to)
	case len(s.q.Sort) > 0:
		order := column.NewOrder(s.steps, s.r.columns, s.q.Sort, s.set)
		defer order.Release()
		return order.Page(from, to)
	case len(s.clauses) > 0:
		scorer := s.r.words.NewScorer(s.steps, s.clauses, s.r.words.Statistics(s.steps, s.clauses))
		return scorer.Page(s.set, from, to)
	case s.set == nil:
		return numbersBetween(from, to)
	default:
		return s.set.Slice(s.steps, from, to)
	}
}

func numbersBetween(from, to int) []uint32 {
	numbers := make([]uint32, to-from)
	for i := range numbers {
		numbers[i] = uint32(from + i)
	}
	return numbers
}

// key returns the sort key of the record with a number, which is at a position.
func (s *segmentMatches) key(position int, number uint32) (k sortKey) {
	switch {
	case s.sorted != nil:
		k.fields = s.sorted.AppendKeys(nil, number)
	case s.byScore != nil:
		k.score = s.byScore.Score(position)
	}
	return k
}

// countThrough returns the number of records that do not sort after a key.
func (s *segmentMatches) countThrough(k sortKey) int {
	switch {
	case s.sorted != nil:
		return s.sorted.CountThrough(k.fields)
	case s.byScore != nil:
		return s.byScore.CountThrough(k.score)
	}
	return s.len()
}

// dropRead releases the pages of the records up to the one with a number if they are read in
// sequence, because a file may be larger than memory. Records that go back even once are in a
// different order, and their pages may be needed again.
func (s *segmentMatches) dropRead(number uint32) {
	records, at := s.r.records, int(s.r.records.Starts.At(int(number)))
	if at < s.read {
		s.kept = len(records.Data)
	}
	s.read = at
	if at-s.kept >= forgetBytes {
		s.r.file.DropPages(records.Data[s.kept:at])
		s.kept = at
	}
}
