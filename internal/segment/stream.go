package segment

import (
	"context"
	"iter"
	"math/bits"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/query"
)

const (
	streamNumbers = 512      // records that are looked up at once
	streamBytes   = 64 << 10 // of records that are copied at once
	largeRecord   = 1 << 20  // bytes from which a record is not copied
	forgetBytes   = 16 << 20 // of records, read one after the other, that may stay in memory behind the reading
)

// Stream finds everything that q asks for, whatever page it names. The answer can be read until the reader is released.
//
// It takes memory for the set of records found, in a sort order also a bit for each record there is, and in the order of
// relevance a few tens of bytes for each record found. What is read of the file is copied, a little at a time, while a
// fault in the map becomes an error: a client may take hours to fetch the rest. Only a very large record is given out
// from the map.
func (r *Reader) Stream(ctx context.Context, q *query.Request) (s query.Stream, err error) {
	err = r.guard(func() error {
		st := newSteps(ctx)
		set, clauses, err := r.answer(st, q)
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

// stream yields the records of a walk. The walk begins when the first record is asked for: many want the total alone.
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

// copier takes records out of the map.
type copier struct {
	r       *Reader
	steps   *steps
	walk    walk
	numbers []uint32 // room for pending
	pending []uint32 // found and not taken out yet
	records [][]byte // taken out
	buf     []byte   // what they point into
	read    int      // bytes of all records in front of the one read last, while they come one after the other
	kept    int      // where those begin that may be in memory
}

// fill takes out the next records; none if there are no more.
func (c *copier) fill() {
	c.records, c.buf = c.records[:0], c.buf[:0]
	if len(c.pending) == 0 {
		c.pending = c.walk(c.numbers[:0])
	}
	for len(c.pending) > 0 && len(c.buf) < streamBytes {
		rec := c.r.record(c.pending[0])
		touch(c.steps, rec)
		if len(rec) >= largeRecord {
			if len(c.records) == 0 {
				c.records, c.pending = append(c.records, rec), c.pending[1:]
			}
			break
		}
		c.forgetBehind(int(c.r.starts.at(int(c.pending[0]))))
		// When the buffer grows, records that were taken out before go on pointing into the old one, which is as good.
		c.buf = append(c.buf, rec...)
		c.records = append(c.records, c.buf[len(c.buf)-len(rec):])
		c.pending = c.pending[1:]
	}
}

// forgetBehind lets go of what lies behind a walk from the first record to the last: a file may be larger than memory.
// A walk that goes back even once is in another order, and what it has read may be needed again.
func (c *copier) forgetBehind(at int) {
	if at < c.read {
		c.kept = len(c.r.records)
	}
	c.read = at
	if at-c.kept >= forgetBytes {
		forget(c.r.records[c.kept:at])
		c.kept = at
	}
}

// walk appends the numbers of the next records to buf, as many as it has room for; none at the end.
type walk func(buf []uint32) []uint32

// walk returns the walk through the records of an answer, in the order of the request. A nil set is that of all.
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

// sortedWalk reads the order of a field: upwards in one go; downwards run by run from the last, each of them upwards,
// and then the records without a value.
type sortedWalk struct {
	col     *column
	steps   *steps
	chosen  bitset // places of the answer; nil: all
	at, end int    // places that are being read
	ahead   int    // downwards: runs still to be read
	rest    bool   // downwards: the records without a value are still to be read
}

func newSortedWalk(st *steps, c *column, set *roaring.Bitmap, desc bool) *sortedWalk {
	w := &sortedWalk{col: c, steps: st}
	if set != nil {
		w.chosen = newBitset(c.order.len())
		each(st, set, func(records []uint32) {
			for _, rec := range records {
				w.chosen.add(c.places.at(int(rec)))
			}
		})
	}
	if desc {
		w.ahead, w.rest = c.distinct(), true
	} else {
		w.end = c.order.len()
	}
	return w
}

// next is a walk.
func (w *sortedWalk) next(buf []uint32) []uint32 {
	for len(buf) < cap(buf) {
		w.steps.add(1)
		w.skip()
		switch {
		case w.at < w.end:
			buf = append(buf, w.col.order.at(w.at))
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

// skip goes on to the next place of the answer, or to the end of what is being read.
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
