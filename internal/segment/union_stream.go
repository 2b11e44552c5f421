package segment

import (
	"context"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/guard"
)

// Stream returns the complete result of q, regardless of its page. It can be read until the segments are released. Records
// are copied under guard, as those of Reader.Stream are.
func (u *Union) Stream(ctx context.Context, q *query.Request) (s query.Stream, err error) {
	var m *unionMatches
	st := guard.NewSteps(ctx)
	err = u.guard(func() error {
		m = u.match(st, q)
		s.Total = m.total
		return nil
	})
	if err != nil {
		return query.Stream{}, err
	}
	s.Records = yieldChunks(st, u.guard, func() func() [][]byte {
		cursors := make([]cursor, len(m.parts))
		for i, p := range m.parts {
			cursors[i] = cursor{part: p, atOnce: streamNumbers}
			if q.ByRelevance() { // a page is located by reading the whole result
				cursors[i].atOnce = max(streamNumbers, p.len()/16)
			}
		}
		return func() [][]byte { return m.next(st, cursors) }
	})
	return s, nil
}

// cursor reads the matches of a part in order.
type cursor struct {
	part    matches
	atOnce  int // records located at a time
	read    int // records taken from the part
	pending []entry
}

// next merges the next records of all parts and copies them; none at the end.
func (m *unionMatches) next(st *guard.Steps, cursors []cursor) (records [][]byte) {
	var buf []byte
	for len(records) < streamNumbers && len(buf) < streamBytes {
		st.Add(1)
		var first *cursor
		for i := range cursors {
			c := &cursors[i]
			if len(c.pending) == 0 {
				to := min(c.read+c.atOnce, c.part.len())
				c.pending, c.read = c.part.page(c.read, to), to
			}
			if len(c.pending) > 0 && (first == nil || c.pending[0].compare(first.pending[0].sortKey, m.sort) < 0) {
				first = c
			}
		}
		if first == nil {
			break
		}
		rec := first.pending[0].record
		first.pending = first.pending[1:]
		// If the buffer grows, earlier records keep pointing into the old one, which stays valid.
		buf = append(buf, rec...)
		records = append(records, buf[len(buf)-len(rec):])
	}
	return records
}
