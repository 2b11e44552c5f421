package segment

import (
	"context"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/fulltext"
)

// Result is the records that match a request, in its order. Callers that merge several segments
// read records at any position of it. It must be released before the reader, and is not safe for
// concurrent use.
type Result struct{ matches *matches }

// Statistics are the numbers of records and words that scores depend on.
type Statistics = fulltext.Statistics

// Find returns the records that match a request, regardless of its page.
func (r *Reader) Find(ctx context.Context, q *query.Request) (res *Result, err error) {
	held := 0 // bytes
	err = r.evaluate(ctx, q, forListing, nil, func(m *matches) error {
		held = m.steps.Needed()
		res = &Result{m.detach()}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := res.guard(func(m *matches) { m.steps.Reserve(held) }); err != nil {
		res.Release()
		return nil, err
	}
	return res, nil
}

// Release releases the memory of the result.
func (s *Result) Release() {
	s.matches.release()
	s.matches.steps.Release()
}

// Len returns the number of records.
func (s *Result) Len() int { return s.matches.len() }

// Statistics returns the statistics of the segment for the search of the request.
func (s *Result) Statistics() (stats Statistics, err error) {
	err = s.guard(func(m *matches) { stats = m.r.words.Statistics(m.steps, m.clauses) })
	return stats, err
}

// Order sorts the records as the request demands. The scores of a search are computed from the
// statistics, which may be those of several segments. The other methods below need it.
func (s *Result) Order(stats Statistics) error {
	return s.guard(func(m *matches) { m.order(stats) })
}

// Records returns the records at positions [from, to). They point into the map.
func (s *Result) Records(from, to int) (records [][]byte, err error) {
	err = s.guard(func(m *matches) { records = m.records(from, to) })
	return records, err
}

// Score returns the score of the record at a position; 0 if records are not ordered by relevance.
func (s *Result) Score(position int) (score float64, err error) {
	err = s.guard(func(m *matches) {
		if m.byScore != nil {
			score = m.byScore.Score(position)
		}
	})
	return score, err
}

// Stream returns all records, like Reader.Stream. Until they are read, no memory is reserved.
func (s *Result) Stream() (stream query.Stream, err error) {
	err = s.guard(func(m *matches) {
		stream = m.stream()
		m.steps.Release()
	})
	return stream, err
}

func (s *Result) guard(read func(*matches)) error {
	return s.matches.r.file.Guard(func() error {
		read(s.matches)
		return nil
	})
}
