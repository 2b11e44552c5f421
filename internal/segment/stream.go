package segment

import (
	"context"
	"iter"
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/query"
)

const (
	streamNumbers = 512      // records located at a time
	streamBytes   = 64 << 10 // bytes of records copied at a time
	largeRecord   = 1 << 20  // minimum size in bytes of records that are not copied
	forgetBytes   = 16 << 20 // bytes of sequentially read records that may remain in memory
)

// Stream returns the complete result of q, regardless of its page. It can be read until the reader is released.
//
// It needs memory for the result set, for a sort also one bit per record of the segment, and for the order by relevance
// a few tens of bytes per record of the result. Records are copied, a few at a time, under guard, so that faults in the
// map become errors even if a client takes hours to fetch the rest. Only very large records are yielded from the map.
func (r *Reader) Stream(ctx context.Context, q *query.Request) (s query.Stream, err error) {
	err = r.guard(func() error {
		st := newSteps(ctx)
		set, clauses, err := r.evaluate(st, q)
		if err != nil {
			return err
		}
		s.Total = r.Len()
		if set != nil {
			s.Total = int(set.GetCardinality())
		}
		s.Records = r.stream(st, s.Total, func() (walk, error) { return r.walk(st, q, set, clauses, s.Total) })
		return nil
	})
	if err != nil {
		return query.Stream{}, err
	}
	return s, nil
}

// stream yields the records of a walk. The walk starts with the first record, because many callers need only the total.
func (r *Reader) stream(st *steps, total int, begin func() (walk, error)) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		c := copier{r: r, steps: st, numbers: make([]uint32, 0, min(total, streamNumbers))}
		for {
			err := r.guard(func() (err error) {
				st.check() // a client may have read the last records slowly
				if c.walk == nil {
					if c.walk, err = begin(); err != nil {
						return err
					}
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
	steps   *steps
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
		rec := c.r.record(c.pending[0])
		prefault(c.steps, rec)
		if len(rec) >= largeRecord {
			if len(c.records) == 0 {
				c.records, c.pending = append(c.records, rec), c.pending[1:]
			}
			break
		}
		c.dropRead(int(c.r.starts.at(int(c.pending[0]))))
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
		c.kept = len(c.r.records)
	}
	c.read = at
	if at-c.kept >= forgetBytes {
		dropPages(c.r.records[c.kept:at])
		c.kept = at
	}
}

// walk appends the numbers of the next records to buf, up to its capacity; none at the end.
type walk func(buf []uint32) []uint32

// walk returns a walk through the records of a result, in the order of the request. A nil set means all records.
func (r *Reader) walk(st *steps, q *query.Request, set *roaring.Bitmap, clauses []clause, total int) (walk, error) {
	switch {
	case total == 0:
		return walkList(nil), nil
	case q.Sort != query.NoSort:
		return newSortedWalk(st, &r.columns[q.Sort], set, q.Desc).next, nil
	case len(clauses) > 0:
		numbers, err := newRelevance(st, r, clauses).page(set, 0, total)
		return walkList(numbers), err
	case set == nil:
		return walkAll(total), nil
	default:
		it := set.ManyIterator()
		return func(buf []uint32) []uint32 { return buf[:it.NextMany(buf[:cap(buf)])] }, nil
	}
}

func walkAll(total int) walk {
	at := 0
	return func(buf []uint32) []uint32 {
		for ; at < total && len(buf) < cap(buf); at++ {
			buf = append(buf, uint32(at))
		}
		return buf
	}
}

func walkList(numbers []uint32) walk {
	return func(buf []uint32) []uint32 {
		n := min(len(numbers), cap(buf))
		buf = append(buf, numbers[:n]...)
		numbers = numbers[n:]
		return buf
	}
}

// sortedWalk iterates over the sorted rows of a field: ascending in one pass; descending run by run from the last, each
// of them ascending, and then the records without a value.
type sortedWalk struct {
	col     *column
	steps   *steps
	chosen  bitset // ranks of the result; nil means all
	at, end int    // ranks being read
	ahead   int    // descending: number of runs to read
	rest    bool   // descending: whether the records without a value are still to be read
}

func newSortedWalk(st *steps, c *column, set *roaring.Bitmap, desc bool) *sortedWalk {
	w := &sortedWalk{col: c, steps: st}
	if set != nil {
		w.chosen = newBitset(c.sorted.len())
		each(st, set, func(records []uint32) {
			for _, rec := range records {
				w.chosen.add(c.ranks.at(int(rec)))
			}
		})
	}
	if desc {
		w.ahead, w.rest = c.distinct(), true
	} else {
		w.end = c.sorted.len()
	}
	return w
}

// next implements walk.
func (w *sortedWalk) next(buf []uint32) []uint32 {
	for len(buf) < cap(buf) {
		w.steps.add(1)
		w.skip()
		switch {
		case w.at < w.end:
			buf = append(buf, w.col.sorted.at(w.at))
			w.at++
		case w.ahead > 0:
			w.ahead--
			w.at, w.end = w.col.run(w.ahead)
		case w.rest:
			w.rest = false
			w.at, w.end = w.col.run(w.col.distinct())
		default:
			return buf
		}
	}
	return buf
}

// skip advances to the next rank of the result, or to the end of the range being read.
func (w *sortedWalk) skip() {
	if w.chosen == nil {
		return
	}
	for w.at < w.end {
		w.steps.add(1)
		if word := w.chosen[w.at/64] >> (w.at % 64); word != 0 {
			w.at = min(w.at+bits.TrailingZeros64(word), w.end)
			return
		}
		w.at += 64 - w.at%64
	}
}
