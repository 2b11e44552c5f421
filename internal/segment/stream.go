package segment

import (
	"context"
	"iter"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

const (
	streamNumbers = 512      // records located at a time
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
	err = r.file.Guard(func() error {
		st := guard.NewSteps(ctx)
		res := r.evaluate(st, q, nil)
		s.Total = res.total(r)
		s.Records = r.stream(st, s.Total, func() walk { return r.walk(st, q, res) })
		return nil
	})
	if err != nil {
		return query.Stream{}, err
	}
	return s, nil
}

// stream yields the records of a walk. The walk starts with the first record, because many callers need only the total.
func (r *Reader) stream(st *guard.Steps, total int, begin func() walk) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		c := copier{r: r, steps: st, numbers: make([]uint32, 0, min(total, streamNumbers))}
		for {
			err := r.file.Guard(func() error {
				st.Check() // a client may have read the last records slowly
				if c.walk == nil {
					c.walk = begin()
				}
				c.fill()
				return nil
			})
			if err != nil {
				yield(nil, err)
				return
			}
			if len(c.records) == 0 {
				return
			}
			for _, rec := range c.records {
				if !yield(rec, nil) {
					return
				}
			}
		}
	}
}

// copier copies records from the map.
type copier struct {
	r       *Reader
	steps   *guard.Steps
	walk    walk
	numbers []uint32 // buffer of pending
	pending []uint32 // located, but not copied yet
	records [][]byte // copied
	buf     []byte   // backing array of records
	read    int      // bytes of all records before the last one read, while reading sequentially
	kept    int      // start of the records that may be in memory
}

// fill copies the next records; none at the end.
func (c *copier) fill() {
	c.records, c.buf = c.records[:0], c.buf[:0]
	if len(c.pending) == 0 {
		c.pending = c.walk(c.numbers[:0])
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
}

// dropRead releases the pages behind a sequential read, because a file may be larger than memory. A walk that goes back
// even once is in a different order, and its pages may be needed again.
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

// walk appends the numbers of the next records to buf, up to its capacity; none at the end.
type walk func(buf []uint32) []uint32

// walk returns a walk through the records of a result, in the order of the request.
func (r *Reader) walk(st *guard.Steps, q *query.Request, res result) walk {
	const parts = 8 // each of them is located by reading the whole result
	total := res.total(r)
	atOnce := max(streamNumbers, total/parts)
	at := 0
	var pending []uint32
	return func(buf []uint32) []uint32 {
		if len(pending) == 0 && at < total {
			end := min(at+atOnce, total)
			pending, at = r.locate(st, q, res, at, end), end
		}
		n := min(len(pending), cap(buf))
		buf, pending = append(buf, pending[:n]...), pending[n:]
		return buf
	}
}
