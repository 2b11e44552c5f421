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
	sorted *column.Order     // by fields; nil if the segment is not merged with others
	ranked *fulltext.Ranking // by relevance; nil if the segment is not merged with others
	read   int               // bytes of all records before the last one read, while reading sequentially
	kept   int               // start of the records that may be in memory
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

func (s *segmentMatches) record(number uint32) []byte { return s.r.records.JSON(number) }

func (s *segmentMatches) key(position int, number uint32) (k sortKey) {
	switch {
	case s.sorted != nil:
		k.fields = s.sorted.AppendKeys(nil, number)
	case s.ranked != nil:
		k.score = s.ranked.Score(position)
	}
	return k
}

func (s *segmentMatches) locate(from, to int) []uint32 {
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

// dropRead releases the pages behind a sequential read, because a file may be larger than memory.
// Records that go back even once are in a different order, and their pages may be needed again.
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
