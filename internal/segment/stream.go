package segment

import (
	"context"
	"iter"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/guard"
)

const (
	streamNumbers = 512      // number of records located first
	streamDivisor = 8        // divisor of the number located at a time, each time by reading the whole result
	streamBytes   = 64 << 10 // bytes of records copied at a time
	largeRecord   = 1 << 20  // minimum size in bytes of records that are not copied
	numberSize    = 4        // bytes
	forgetBytes   = 16 << 20 // bytes of sequentially read records that may remain in memory
)

// Stream returns the complete result of q, regardless of its page. It can be read until the
// segments are released.
//
// It needs memory for the result set and the numbers of an eighth of its records, and for the order
// by relevance also two bytes per record of the result. Records are copied, a few at a time, under
// guard, so that faults in the map become errors even if a client takes hours to fetch the rest.
// Only very large records are yielded from the map.
func (u *Union) Stream(ctx context.Context, q *query.Request) (s query.Stream, err error) {
	var all *matches
	held := 0 // bytes
	err = u.evaluate(ctx, q, forListing, nil, func(m *matches) error {
		m.order()
		s.Total, s.Longest = m.total, u.longest(m.steps)
		all, held = m.detach(), m.steps.Needed()+numberSize*m.total/streamDivisor
		return nil
	})
	if err != nil {
		return query.Stream{}, err
	}
	records := yieldChunks(all.steps, u.guard, func() func() [][]byte {
		c := copier{matches: all, held: held}
		for _, s := range all.segments {
			c.cursors = append(c.cursors, cursor{segmentMatches: s})
		}
		return c.next
	})
	s.Records = func(yield func([]byte, error) bool) {
		defer all.steps.Release()
		records(yield)
	}
	return s, nil
}

// longest returns the size of the longest record in bytes.
func (u *Union) longest(st *guard.Steps) (longest int) {
	for _, r := range u.Segments {
		longest = max(longest, r.records.Longest(st))
	}
	return longest
}

// yieldChunks yields the items of chunks. begin returns a function that reads the next chunk from a
// map; none at the end.
func yieldChunks[T any](st *guard.Steps, guarded func(read func() error) error, begin func() (next func() []T)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for next := begin(); ; {
			var chunk []T
			err := guarded(func() error {
				st.Restart() // a client may have read the last items slowly
				chunk = next()
				return nil
			})
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			if len(chunk) == 0 {
				return
			}
			for _, item := range chunk {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// copier merges the matches of all segments and copies their records, in the order of the request.
type copier struct {
	*matches
	held    int      // bytes that the result takes while it is read
	cursors []cursor // by segment
	records [][]byte // copied
	buf     []byte   // backing array of records
}

// cursor reads the matches of a segment in order.
type cursor struct {
	*segmentMatches
	located int         // number of records that are located
	pending []uint32    // numbers of those that are not read yet
	first   keyedRecord // next record, unless it is not read yet
}

// next copies the next records; none at the end.
func (c *copier) next() [][]byte {
	c.records, c.buf = c.records[:0], c.buf[:0]
	for len(c.buf) < streamBytes {
		first := c.first()
		if first == nil {
			break
		}
		rec := first.first.json
		prefault(c.steps, rec)
		if len(rec) >= largeRecord && len(c.records) > 0 {
			break
		}
		first.pop()
		if len(rec) >= largeRecord {
			return append(c.records, rec)
		}
		// If the buffer grows, earlier records keep pointing into the old one, which stays valid.
		c.buf = append(c.buf, rec...)
		c.records = append(c.records, c.buf[len(c.buf)-len(rec):])
	}
	return c.records
}

// first returns the segment with the next record, or nil at the end.
func (c *copier) first() (first *cursor) {
	for i := range c.cursors {
		p := &c.cursors[i]
		if len(p.pending) == 0 && p.located < p.len() {
			// Records may have to be sorted: the first are few, so that the response begins soon,
			// and then several times as many each time.
			end := min(p.located+max(streamNumbers, min(streamDivisor*p.located, p.len()/streamDivisor)), p.len())
			c.steps.Release() // what the last records needed to be located
			c.steps.Reserve(c.held)
			p.pending, p.located = p.locate(p.located, end), end
		}
		if len(p.pending) == 0 {
			continue
		}
		if p.first.json == nil {
			p.first = c.record(p.segmentMatches, p.located-len(p.pending), p.pending[0])
		}
		if first == nil || c.compare(p.first.sortKey, first.first.sortKey) < 0 {
			first = p
		}
	}
	return first
}

// pop removes the next record.
func (c *cursor) pop() {
	c.dropRead(c.pending[0])
	c.pending, c.first = c.pending[1:], keyedRecord{}
}
