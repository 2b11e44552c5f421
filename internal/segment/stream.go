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

// Stream returns the complete result of q, regardless of its page. It can be read until the segment
// is released.
//
// It needs memory for the result set and the numbers of an eighth of its records, and for the order
// by relevance also two bytes per record of the result. Records are copied, a few at a time, under
// guard, so that faults in the map become errors even if a client takes hours to fetch the rest.
// Only very large records are yielded from the map.
func (r *Reader) Stream(ctx context.Context, q *query.Request) (s query.Stream, err error) {
	err = r.evaluate(ctx, q, forListing, nil, func(m *matches) error {
		s = m.detach().stream()
		return nil
	})
	return s, err
}

// stream returns all records.
func (m *matches) stream() query.Stream {
	s := query.Stream{Total: m.len(), Longest: m.r.records.Longest(m.steps)}
	held := m.steps.Needed() + numberSize*m.len()/streamDivisor
	records := yieldChunks(m.steps, m.r.file.Guard, func() func() [][]byte {
		c := copier{matches: m, held: held}
		return c.next
	})
	s.Records = func(yield func([]byte, error) bool) {
		defer m.steps.Release()
		records(yield)
	}
	return s
}

// yieldChunks yields the items of chunks. begin returns a function that reads the next chunk from a
// map; none at the end.
func yieldChunks[T any](st *guard.Steps, guarded func(read func() error) error,
	begin func() (next func() []T)) iter.Seq2[T, error] {
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

// copier copies the matching records in the order of the request.
type copier struct {
	*matches
	held    int      // bytes that the result takes while it is read
	located int      // number of records that are located
	pending []uint32 // numbers of the located records that are not read yet
	chunk   [][]byte // copied
	buf     []byte   // backing array of chunk
}

// next copies the next records; none at the end.
func (c *copier) next() [][]byte {
	c.chunk, c.buf = c.chunk[:0], c.buf[:0]
	for len(c.buf) < streamBytes && c.locateNext() {
		rec := c.r.records.JSON(c.pending[0])
		prefault(c.steps, rec)
		if len(rec) >= largeRecord && len(c.chunk) > 0 {
			break
		}
		c.dropRead(c.pending[0])
		c.pending = c.pending[1:]
		if len(rec) >= largeRecord {
			return append(c.chunk, rec)
		}
		// If the buffer grows, earlier records keep pointing into the old one, which stays valid.
		c.buf = append(c.buf, rec...)
		c.chunk = append(c.chunk, c.buf[len(c.buf)-len(rec):])
	}
	return c.chunk
}

// locateNext locates the next records unless some are pending. It returns false at the end.
func (c *copier) locateNext() bool {
	if len(c.pending) == 0 && c.located < c.len() {
		// Records may have to be sorted: the first are few, so that the response begins soon, and
		// then several times as many each time.
		end := min(c.located+max(streamNumbers, min(streamDivisor*c.located, c.len()/streamDivisor)), c.len())
		c.steps.Release() // what the last records needed to be located
		c.steps.Reserve(c.held)
		c.pending, c.located = c.locate(c.located, end), end
	}
	return len(c.pending) > 0
}
