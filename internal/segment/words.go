package segment

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/query"
)

// words is the part of a segment that is searched.
type words struct {
	terms   stringTable
	ids     u32s // the number of each term
	found   sets // the records of each term, by its number
	twice   sets // those of them where it stands more than once, followed by how often
	forward []byte
	starts  u64s
	lengths u32s
	average float64 // words of a record
}

func (w *words) open(r *Reader) (err error) {
	n := r.meta.Records
	if w.terms, err = openStrings(r.section(tagTerms, noField)); err != nil {
		return err
	}
	if w.found, err = openSets(r.section(tagFound, noField), n); err != nil {
		return err
	}
	if w.twice, err = openSets(r.section(tagTwice, noField), n); err != nil {
		return err
	}
	w.ids, w.forward = r.section(tagIDs, noField), r.section(tagForward, noField)
	w.starts, w.lengths = r.section(tagFStarts, noField), r.section(tagLengths, noField)
	t := w.terms.len()
	if w.starts.len() != n+1 || w.lengths.len() != n || w.ids.len() != t || w.found.len() != t || w.twice.len() != t {
		return fmt.Errorf("%w: words", ErrCorrupt)
	}
	if n > 0 {
		w.average = float64(r.meta.Words) / float64(n)
	}
	return nil
}

// clause is a clause of a search with the records that contain it.
type clause struct {
	query.Clause
	set     *roaring.Bitmap
	term    int    // number of the word, of a clause of one whole word; else -1
	pattern []byte // the words before the last, or all of them, as they stand in the forward index
	last    bitset // of a prefix: the numbers of the words that the last one may be
	from    int    // of a prefix: the terms that begin with it
	to      int
	more    *roaring.Bitmap // of a prefix: the records with more than one of them, or one more than once
}

// find returns the records that contain a clause.
func (w *words) find(c query.Clause) (clause, error) {
	out := clause{Clause: c, term: -1}
	whole := c.Words
	if c.Prefix {
		whole = whole[:len(whole)-1]
	}
	var all []*roaring.Bitmap
	for _, word := range whole {
		t, ok := w.terms.find(word)
		if !ok {
			out.set = roaring.New()
			return out, nil
		}
		id := w.ids.at(t)
		set, err := w.found.get(int(id))
		if err != nil {
			return out, err
		}
		all = append(all, set)
		out.pattern = binary.AppendUvarint(out.pattern, uint64(id)+1)
		if len(c.Words) == 1 {
			out.term = int(id)
		}
	}
	if c.Prefix {
		out.from, out.to = w.terms.withPrefix(c.Words[len(whole)])
		set, err := w.anyOf(&out)
		if err != nil {
			return out, err
		}
		all = append(all, set)
	}
	out.set = intersection(all)
	if len(c.Words) > 1 {
		out.set = w.atLeast(&out, 1)
	}
	return out, nil
}

// anyOf returns the records with any of the words that a clause's prefix may stand for.
func (w *words) anyOf(c *clause) (*roaring.Bitmap, error) {
	c.last = newBitset(w.terms.len())
	seen, again := newBitset(w.lengths.len()), newBitset(w.lengths.len())
	for t := c.from; t < c.to; t++ {
		id := w.ids.at(t)
		c.last.add(id)
		set, err := w.found.get(int(id))
		if err != nil {
			return nil, err
		}
		twice, err := w.twice.get(int(id))
		if err != nil {
			return nil, err
		}
		each(set, func(records []uint32) {
			for _, rec := range records {
				if seen.has(rec) {
					again.add(rec)
				}
				seen.add(rec)
			}
		})
		each(twice, func(records []uint32) {
			for _, rec := range records {
				again.add(rec)
			}
		})
	}
	c.more = again.set()
	return seen.set(), nil
}

// bitset is a set with a bit for each record.
type bitset []uint64

func newBitset(records int) bitset      { return make(bitset, (records+63)/64) }
func (b bitset) has(record uint32) bool { return b[record/64]>>(record%64)&1 == 1 }
func (b bitset) add(record uint32)      { b[record/64] |= 1 << (record % 64) }
func (b bitset) set() *roaring.Bitmap   { return roaring.FromDense(b, false) }

// again returns the records in which a clause stands more than once.
func (w *words) again(c *clause) (*roaring.Bitmap, error) {
	switch {
	case c.term >= 0:
		return w.twice.get(c.term)
	case len(c.Words) > 1:
		return w.atLeast(c, 2), nil
	case c.more == nil: // no such word
		return roaring.New(), nil
	default:
		return c.more, nil
	}
}

// atLeast keeps of a clause's records those in which it stands at least so many times.
func (w *words) atLeast(c *clause, times int) *roaring.Bitmap {
	var found []uint32
	each(c.set, func(records []uint32) {
		for _, rec := range records {
			if w.count(rec, c, times) >= times {
				found = append(found, rec)
			}
		}
	})
	set := roaring.New()
	set.AddMany(found)
	return set
}

// count returns how often a clause stands in a record, counting up to most; 0 means all.
//
// The words of a phrase stand next to each other in the forward index, too, so it is found by its bytes; it must only
// begin where a word begins, which is behind a byte without the bit that says that more follow.
func (w *words) count(record uint32, c *clause, most int) int {
	b := w.forward[w.starts.at(int(record)):w.starts.at(int(record)+1)]
	n := 0
	for at := 0; at < len(b); at++ {
		if len(c.pattern) > 0 {
			i := bytes.Index(b[at:], c.pattern)
			if i < 0 {
				break
			}
			at += i
		}
		if at > 0 && b[at-1] >= 0x80 || c.Prefix && !c.mayEnd(b[at+len(c.pattern):]) {
			continue
		}
		if n++; n == most {
			break
		}
	}
	return n
}

// mayEnd reports whether b begins with a word that the clause may end with.
func (c *clause) mayEnd(b []byte) bool {
	id, size := binary.Uvarint(b)
	return size > 0 && id > 0 && c.last.has(uint32(id-1))
}

// intersection returns the records that are in all sets, of which there is at least one.
func intersection(all []*roaring.Bitmap) *roaring.Bitmap {
	if len(all) == 1 {
		return all[0]
	}
	smallest := 0
	for i, s := range all {
		if s.GetCardinality() < all[smallest].GetCardinality() {
			smallest = i
		}
	}
	all[0], all[smallest] = all[smallest], all[0]
	out := roaring.And(all[0], all[1])
	for _, s := range all[2:] {
		out.And(s)
	}
	return out
}
