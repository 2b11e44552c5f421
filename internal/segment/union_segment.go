package segment

import (
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/fulltext"
	"herbarium/internal/segment/internal/guard"
)

// segmentMatches is the records of a segment that match a request.
type segmentMatches struct {
	result
	r      *Reader
	steps  *guard.Steps
	q      *query.Request
	sorted *column.Order     // by fields
	ranked *fulltext.Ranking // by relevance
}

// order prepares the order of the request. The statistics are those of the union.
func (s *segmentMatches) order(stats fulltext.Statistics) {
	switch {
	case len(s.q.Sort) > 0:
		s.sorted = column.NewOrder(s.steps, s.r.columns, s.q.Sort, s.set, s.only)
	case len(s.clauses) > 0:
		s.ranked = s.r.words.NewScorer(s.steps, s.clauses, stats).Rank(s.set)
	}
}

func (s *segmentMatches) release() {
	if s.sorted != nil {
		s.sorted.Release()
	}
	s.set.Release()
}

func (s *segmentMatches) len() int { return s.total(s.r) }

func (s *segmentMatches) key(i int) (k sortKey) {
	switch {
	case s.sorted != nil:
		k.fields = s.sorted.AppendKeys(nil, s.sorted.Page(i, i+1)[0])
	case s.ranked != nil:
		k.score = s.ranked.Score(i)
	}
	return k
}

func (s *segmentMatches) page(from, to int) []entry {
	entries := make([]entry, 0, to-from)
	keys := make([]column.SortKey, 0, (to-from)*len(s.q.Sort)) // of all entries
	for i, n := range s.numbers(from, to) {
		e := entry{record: s.r.records.JSON(n)}
		switch {
		case s.sorted != nil:
			keys = s.sorted.AppendKeys(keys, n)
			e.fields = keys[len(keys)-len(s.q.Sort):]
		case s.ranked != nil:
			e.score = s.ranked.Score(from + i)
		}
		entries = append(entries, e)
	}
	return entries
}

func (s *segmentMatches) numbers(from, to int) []uint32 {
	switch {
	case from == to:
		return nil
	case s.sorted != nil:
		return s.sorted.Page(from, to)
	case s.ranked != nil:
		return s.ranked.Page(from, to)
	}
	return s.r.locate(s.steps, s.q, s.result, from, to)
}

func (s *segmentMatches) countThrough(k sortKey) int {
	switch {
	case s.sorted != nil:
		return s.sorted.CountThrough(k.fields)
	case s.ranked != nil:
		return s.ranked.CountThrough(k.score)
	}
	return s.len()
}
