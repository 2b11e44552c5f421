package segment

import (
	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/fulltext"
	"herbarium/internal/segment/internal/guard"
)

// segmentResult is the records of a segment that match a request.
type segmentResult struct {
	r       *Reader
	steps   *guard.Steps
	set     *roaring.Bitmap // nil means all records
	total   int
	clauses []fulltext.Clause // by relevance: to be scored

	q      *query.Request
	sorted *column.Order     // by a field
	ranked *fulltext.Ranking // by relevance
}

func newSegmentResult(st *guard.Steps, r *Reader, q *query.Request) *segmentResult {
	s := &segmentResult{r: r, steps: st, q: q, total: r.Len()}
	s.set, s.clauses = r.evaluate(st, q)
	if s.set != nil {
		s.total = int(s.set.GetCardinality())
	}
	if !q.ByRelevance() {
		r.words.Release(s.clauses)
		s.clauses = nil
	}
	return s
}

// order prepares the order of the request.
func (s *segmentResult) order(stats fulltext.Stats) {
	switch {
	case s.q.Sort != query.NoSort:
		s.sorted = s.r.columns[s.q.Sort].Order(s.steps, s.set, s.q.Desc)
	case len(s.clauses) > 0:
		s.ranked = s.r.words.Rank(s.steps, s.set, s.clauses, stats)
	}
}

func (s *segmentResult) release() {
	s.r.words.Release(s.clauses)
	if s.sorted != nil {
		s.sorted.Release()
	}
}

func (s *segmentResult) len() int { return s.total }

func (s *segmentResult) page(from, to int) []entry {
	entries := make([]entry, 0, to-from)
	switch {
	case from == to:
	case s.sorted != nil:
		for _, n := range s.sorted.Page(from, to) {
			e := entry{record: s.r.records.JSON(n)}
			e.missing, e.key = s.sorted.Key(n)
			entries = append(entries, e)
		}
	case s.ranked != nil:
		for _, n := range s.ranked.Page(from, to) {
			entries = append(entries, entry{sortKey{score: n.Score}, s.r.records.JSON(n.Record)})
		}
	default:
		for _, n := range selection(s.set, from, to) {
			entries = append(entries, entry{record: s.r.records.JSON(n)})
		}
	}
	return entries
}

func (s *segmentResult) countThrough(k sortKey) int {
	switch {
	case s.sorted != nil:
		return s.sorted.CountThrough(k.missing, k.key)
	case s.ranked != nil:
		return s.ranked.CountThrough(k.score)
	}
	return s.total
}
