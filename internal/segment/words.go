package segment

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/query"
)

// occurrences are the records in which things stand that have numbers.
type occurrences struct {
	found sets // the records of each
	twice sets // those of them where it stands more than once, followed by how often
}

// words is the part of a segment that is searched.
type words struct {
	occurrences // of the terms, by their numbers
	pairs       pairs
	beginnings  beginnings
	terms       stringTable
	ids         u32s // the number of each term
	forward     []byte
	starts      u64s
	lengths     u32s
	short       u32s    // the records, those with the fewest words first; empty if the file does not have it
	average     float64 // words of a record
	sink        atomic.Uint32
	sums        sync.Pool // of *[]byte, a byte for each record
	repeats     sync.Pool // of *repeats
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
	w.short = r.section(tagShort, noField)
	t := w.terms.len()
	if w.starts.len() != n+1 || w.lengths.len() != n || w.ids.len() != t || w.found.len() != t || w.twice.len() != t ||
		w.short.len() != 0 && w.short.len() != n {
		return fmt.Errorf("%w: words", ErrCorrupt)
	}
	if n > 0 {
		w.average = float64(r.meta.Words) / float64(n)
	}
	if err := w.beginnings.open(r); err != nil {
		return err
	}
	return w.pairs.open(r)
}

// clause is a clause of a search with the records that contain it.
type clause struct {
	query.Clause
	steps   *steps
	set     *roaring.Bitmap
	in      *occurrences // where the clause has a number, as a whole word has; else nil
	term    int          // the number
	pattern []byte       // the words before the last, or all of them, as they stand in the forward index
	from    int          // of a prefix: the terms that begin with it
	to      int
	last    bitset          // of a prefix: their numbers; nil: not gathered yet
	sum     *repeats        // of a prefix without a number: how many of those words each record has; nil: it was not counted
	thrice  *roaring.Bitmap // where it was: the records with three or more
	all     int             // and how often a record has one of those words
}

// find returns the records that contain a clause.
func (w *words) find(st *steps, c query.Clause) (clause, error) {
	out := clause{Clause: c, steps: st}
	whole := c.Words
	if c.Prefix {
		whole = whole[:len(whole)-1]
	}
	ids := make([]uint32, len(whole))
	for i, word := range whole {
		t, ok := w.terms.find(word)
		if !ok {
			out.set = roaring.New()
			return out, nil
		}
		ids[i] = w.ids.at(t)
		out.pattern = binary.AppendUvarint(out.pattern, uint64(ids[i])+1)
	}
	all, err := w.phrase(&out, ids)
	if err != nil {
		return out, err
	}
	if c.Prefix {
		out.from, out.to = w.terms.withPrefix(c.Words[len(whole)])
		set, err := w.anyOf(&out)
		if err != nil {
			return out, err
		}
		all = append(all, set)
	}
	out.set = intersection(st, all)
	if out.in == nil && len(c.Words) > 1 {
		out.set = w.atLeast(&out, 1)
	}
	return out, nil
}

// phrase returns sets of records that have all that is known to have a number among the words of a clause: pairs of them
// that stand one behind the other and words that are in no pair. If all of it is one, it is the clause's own.
func (w *words) phrase(c *clause, ids []uint32) (all []*roaring.Bitmap, err error) {
	take := func(o *occurrences, number int) {
		var set *roaring.Bitmap
		if set, err = o.found.get(number); err != nil {
			return
		}
		if all = append(all, set); len(all) == 1 {
			c.in, c.term = o, number
		}
	}
	inPair := false // the word before and this one
	for i, id := range ids {
		before := inPair
		inPair = false
		if i+1 < len(ids) {
			var number int
			if number, inPair = w.pairs.number(id, ids[i+1]); inPair {
				take(&w.pairs.occurrences, number)
			}
		}
		if !before && !inPair {
			take(&w.occurrences, int(id))
		}
		if err != nil {
			return nil, err
		}
	}
	if len(all) > 1 || c.Prefix {
		c.in = nil
	}
	return all, nil
}

// counted reports whether the clause is the beginning of a word, which was counted.
func (c *clause) counted() bool { return c.sum != nil && len(c.Words) == 1 }

// anyOf returns the records with any of the words that a clause's prefix may stand for. Where those have a number and are all
// of the clause, it is the clause's own.
func (w *words) anyOf(c *clause) (*roaring.Bitmap, error) {
	in, number, ok := &w.occurrences, 0, c.to-c.from == 1
	if ok {
		number = int(w.ids.at(c.from))
	} else {
		in = &w.beginnings.occurrences
		number, ok = w.beginnings.number(c.from, c.to)
	}
	if ok {
		if len(c.Words) == 1 {
			c.in, c.term = in, number
		}
		return in.found.get(number)
	}
	sum := w.newRepeats()
	for t := c.from; t < c.to; t++ {
		id := int(w.ids.at(t))
		c.steps.add(1 + len(w.found.bytes(id))/64) // the first use of a set reads all of it
		set, err := w.found.get(id)
		if err != nil {
			return nil, err
		}
		c.all += int(set.GetCardinality())
		twice, err := w.twice.get(id)
		if err != nil {
			return nil, err
		}
		sum.add(w.found.bytes(id), w.twice.bytes(id), w.twice.behind(id, twice))
	}
	sum.count(c.steps)
	c.sum, c.thrice = sum, roaring.FromDense(sum.thrice, true)
	return sum.once.set(), nil
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
	case c.in != nil:
		return c.in.twice.get(c.term)
	case c.counted():
		return c.sum.twice.set(), nil
	default:
		return w.atLeast(c, 2), nil
	}
}

// atLeast keeps of a clause's records those in which it stands at least so many times.
func (w *words) atLeast(c *clause, times int) *roaring.Bitmap {
	var found []uint32
	each(c.steps, c.set, func(records []uint32) {
		w.fetch(records)
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

// fetch looks at where the words of some records begin and end, all at once: the processor then waits for all of them
// together, and not for one after the other. That takes a third of the time.
func (w *words) fetch(records []uint32) {
	var sum byte
	for _, rec := range records {
		from, to := w.starts.at(int(rec)), w.starts.at(int(rec)+1)
		sum |= w.forward[from] | w.forward[to-1]
	}
	w.sink.Store(uint32(sum)) // or the compiler leaves the looking out
}

// count returns how often a clause stands in a record, counting up to most; 0 means all.
//
// The words of a phrase stand next to each other in the forward index, too, so it is found by its bytes; it must only
// begin where a word begins, which is behind a byte without the bit that says that more follow.
func (w *words) count(record uint32, c *clause, most int) int {
	if c.Prefix && c.last == nil {
		c.last = newBitset(w.terms.len())
		for t := c.from; t < c.to; t++ {
			c.steps.add(1)
			c.last.add(w.ids.at(t))
		}
	}
	b := w.forward[w.starts.at(int(record)):w.starts.at(int(record)+1)]
	c.steps.add(1 + len(b)/64)
	n := 0
	for at := 0; at < len(b); at++ {
		if len(c.pattern) > 0 {
			i := index(b[at:], c.pattern)
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

// index is bytes.Index in pieces of 64 bytes, for which that has a way that does not stop at each first byte of the
// pattern. What stands for a word often begins like others.
func index(b, pattern []byte) int {
	const piece = 64
	for at := 0; ; at += piece - len(pattern) + 1 {
		if len(b)-at <= piece || len(pattern) > piece/2 {
			if i := bytes.Index(b[at:], pattern); i >= 0 {
				return at + i
			}
			return -1
		}
		if i := bytes.Index(b[at:at+piece], pattern); i >= 0 {
			return at + i
		}
	}
}

// counts returns how often a clause stands in each of some records, up to manyTimes. The records are in the order of
// their numbers and have it; if it is the only clause that counts, they are among those that again returned.
func (w *words) counts(c *clause, only bool, records []uint32) ([]byte, error) {
	out := make([]byte, len(records))
	switch {
	case len(records) == 0:
	case c.in != nil:
		return out, c.in.count(c.steps, c.term, only, records, out)
	case c.counted():
		return out, w.countPrefix(c, only, records, out)
	default:
		for i, rec := range records {
			out[i] = byte(w.count(rec, c, manyTimes))
		}
	}
	return out, nil
}

// count is counts for what has a number. If it is the only clause, it stands in all of the records more than once. Otherwise the
// records in which it does, and those that are asked for, are gone through side by side.
func (o *occurrences) count(st *steps, term int, only bool, records []uint32, out []byte) error {
	twice, err := o.twice.get(term)
	if err != nil {
		return err
	}
	counts := o.twice.behind(term, twice)
	if only && len(records) == int(twice.GetCardinality()) { // they are the same
		copy(out, counts)
		return nil
	}
	i, k := 0, 0 // in counts, in records
	each(st, twice, func(some []uint32) {
		for _, rec := range some {
			for k < len(records) && records[k] < rec {
				st.add(1)
				out[k] = 1
				k++
			}
			if k < len(records) && records[k] == rec {
				out[k] = counts[i]
				k++
			}
			i++
		}
	})
	for ; k < len(records); k++ {
		st.add(1)
		out[k] = 1
	}
	return nil
}

// countPrefix is counts for a prefix. What was found while looking for it tells nearly all: where it stands three times or
// more, the words of the record are gone through, unless that would take longer than to go through all words again.
func (w *words) countPrefix(c *clause, only bool, records []uint32, out []byte) error {
	const look = 64 // going through the words of a record takes so many times as long as counting one word
	if look*min(int(c.thrice.GetCardinality()), len(records)) > c.all {
		return w.sumPrefix(c, records, out)
	}
	for i, rec := range records {
		c.steps.add(1)
		out[i] = 1
		if only || c.sum.twice.has(rec) {
			out[i] = 2
		}
	}
	both(c.steps, c.thrice, records, func(i int) { out[i] = byte(w.count(records[i], c, manyTimes)) })
	return nil
}

// both calls f with the positions of those records, which are in the order of their numbers, that are in a set.
func both(st *steps, set *roaring.Bitmap, records []uint32, f func(i int)) {
	i := 0
	each(st, set, func(some []uint32) {
		for _, rec := range some {
			for i < len(records) && records[i] < rec {
				st.add(1)
				i++
			}
			if i < len(records) && records[i] == rec {
				f(i)
			}
		}
	})
}

// sumPrefix is counts for a prefix: it adds up the words that the prefix may stand for.
func (w *words) sumPrefix(c *clause, records []uint32, out []byte) error {
	room, _ := w.sums.Get().(*[]byte)
	if room == nil {
		room = new(make([]byte, w.lengths.len()))
	}
	defer w.sums.Put(room)
	sums := *room
	clear(sums)
	for t := c.from; t < c.to; t++ {
		c.steps.add(1)
		id := int(w.ids.at(t))
		set, err := w.found.get(id)
		if err != nil {
			return err
		}
		twice, err := w.twice.get(id)
		if err != nil {
			return err
		}
		each(c.steps, set, func(some []uint32) {
			for _, rec := range some {
				sums[rec] = atMostMany(sums[rec], 1)
			}
		})
		counts, i := w.twice.behind(id, twice), 0
		each(c.steps, twice, func(some []uint32) {
			for _, rec := range some {
				sums[rec] = atMostMany(sums[rec], counts[i]-1)
				i++
			}
		})
	}
	for k, rec := range records {
		c.steps.add(1)
		out[k] = sums[rec]
	}
	return nil
}

// atMostMany adds two counts.
func atMostMany(a, b byte) byte { return byte(min(uint(a)+uint(b), manyTimes)) }

// mayEnd reports whether b begins with a word that the clause may end with.
func (c *clause) mayEnd(b []byte) bool {
	id, size := binary.Uvarint(b)
	return size > 0 && id > 0 && c.last.has(uint32(id-1))
}

// intersection returns the records that are in all sets, of which there is at least one.
func intersection(st *steps, all []*roaring.Bitmap) *roaring.Bitmap {
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
	st.check() // an intersection reads a bit for each record
	out := roaring.And(all[0], all[1])
	for _, s := range all[2:] {
		st.check()
		out.And(s)
	}
	return out
}
