package segment

import (
	"context"
	"iter"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

const (
	streamNumbers = 512      // minimum number of records located at a time
	streamBytes   = 64 << 10 // bytes of records copied at a time
	largeRecord   = 1 << 20  // minimum size in bytes of records that are not copied
	forgetBytes   = 16 << 20 // bytes of sequentially read records that may remain in memory
)

// Stream returns the complete result of q, regardless of its page. It can be read until the reader is released.
//
// It needs memory for the result set and the numbers of an eighth of its records, and for the order by relevance also two
// bytes per record of the result. Records are copied, a few at a time, under guard, so that faults in the map become
// errors even if a client takes hours to fetch the rest. Only very large records are yielded from the map.
func (r *Reader) Stream(ctx context.Context, q *query.Request) (s query.Stream, err error) {
	st := guard.NewSteps(ctx)
	var res result
	err = r.file.Guard(func() error {
		res = r.evaluate(st, q, nil)
		s.Total = res.total(r)
		return nil
	})
	if err != nil {
		return query.Stream{}, err
	}
	s.Records = yieldChunks(st, r.file.Guard, func() func() [][]byte { return (&copier{result: res, r: r, steps: st, q: q}).next })
	return s, nil
}

// yieldChunks yields the items of chunks. begin returns a function that reads the next chunk from a map; none at the end.
func yieldChunks[T any](st *guard.Steps, guarded func(read func() error) error, begin func() (next func() []T)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for next := begin(); ; {
			var chunk []T
			err := guarded(func() error {
				st.Check() // a client may have read the last items slowly
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

// copier copies the records of a result from the map, in the order of the request.
type copier struct {
	result
	r       *Reader
	steps   *guard.Steps
	q       *query.Request
	located int      // records of the result that are located
	pending []uint32 // those that are not copied yet
	records [][]byte // copied
	buf     []byte   // backing array of records
	read    int      // bytes of all records before the last one read, while reading sequentially
	kept    int      // start of the records that may be in memory
}

// next copies the next records; none at the end.
func (c *copier) next() [][]byte {
	const parts = 8 // each of them is located by reading the whole result
	c.records, c.buf = c.records[:0], c.buf[:0]
	if total := c.total(c.r); len(c.pending) == 0 && c.located < total {
		end := min(c.located+max(streamNumbers, total/parts), total)
		c.pending, c.located = c.r.locate(c.steps, c.q, c.result, c.located, end), end
	}
	for len(c.pending) > 0 && len(c.buf) < streamBytes {
		rec := c.r.records.JSON(c.pending[0])
		prefault(c.steps, rec)
		if len(rec) >= largeRecord {
			if len(c.records) == 0 {
				c.records, c.pending = append(c.records, rec), c.pending[1:]
			}
			break
		}
		c.dropRead(int(c.r.records.Starts.At(int(c.pending[0]))))
		// If the buffer grows, earlier records keep pointing into the old one, which stays valid.
		c.buf = append(c.buf, rec...)
		c.records = append(c.records, c.buf[len(c.buf)-len(rec):])
		c.pending = c.pending[1:]
	}
	return c.records
}

// dropRead releases the pages behind a sequential read, because a file may be larger than memory. Records that go back
// even once are in a different order, and their pages may be needed again.
func (c *copier) dropRead(at int) {
	if at < c.read {
		c.kept = len(c.r.records.Data)
	}
	c.read = at
	if at-c.kept >= forgetBytes {
		file.DropPages(c.r.records.Data[c.kept:at])
		c.kept = at
	}
}
