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

// postingsTable contains the postings of numbered terms, bigrams or prefixes.
type postingsTable struct {
	docs  sets // records of each
	freqs sets // term-frequency postings: records with a frequency above 1, followed by the frequencies
}

// words is the full-text index of a segment.
type words struct {
	postingsTable // of the terms, by number
	bigrams       bigrams
	prefixes      prefixPostings
	terms         stringTable
	ids           u32s // by term, its number
	forward       []byte
	starts        u64s
	lengths       u32s
	lengthOrder   u32s    // length order: records by ascending number of words; empty if the file has none
	average       float64 // mean number of words per record
	sink          atomic.Uint32
	sums          sync.Pool // of *[]byte, one byte per record
	freqCounters  sync.Pool // of *freqCounter
}

func (w *words) open(r *Reader) (err error) {
	n := r.meta.Records
	if w.terms, err = openStrings(r.section(tagTerms, noField)); err != nil {
		return err
	}
	if w.docs, err = openSets(r.section(tagDocs, noField), n); err != nil {
		return err
	}
	if w.freqs, err = openSets(r.section(tagFreqs, noField), n); err != nil {
		return err
	}
	w.ids, w.forward = r.section(tagIDs, noField), r.section(tagForward, noField)
	w.starts, w.lengths = r.section(tagFStarts, noField), r.section(tagLengths, noField)
	w.lengthOrder = r.section(tagLengthOrder, noField)
	t := w.terms.len()
	if w.starts.len() != n+1 || w.lengths.len() != n || w.ids.len() != t || w.docs.len() != t || w.freqs.len() != t ||
		w.lengthOrder.len() != 0 && w.lengthOrder.len() != n {
		return fmt.Errorf("%w: words", ErrCorrupt)
	}
	if n > 0 {
		w.average = float64(r.meta.Words) / float64(n)
	}
	if err := w.prefixes.open(r); err != nil {
		return err
	}
	return w.bigrams.open(r)
}

// clause is a search clause with its matching records.
type clause struct {
	query.Clause
	steps    *steps
	set      *roaring.Bitmap
	in       *postingsTable // table with its postings, if it is a term, bigram or prefix with postings; else nil
	term     int            // its number in the table
	pattern  []byte         // the words before the last, or all of them, as encoded in the forward index
	from     int            // prefix: range of its terms
	to       int
	last     bitset          // prefix: their numbers; nil if not collected yet
	sum      *freqCounter    // prefix without postings: frequencies in each record; nil if not counted
	atLeast3 *roaring.Bitmap // if counted: the records with three or more
	all      int             // and the total number of occurrences
}

// matchClause returns the records that contain a clause.
func (w *words) matchClause(st *steps, c query.Clause) (clause, error) {
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

// phrase returns sets of records whose intersection contains all matches of a phrase: those of bigrams in it, and of
// words in no bigram. If a single term or bigram is the whole phrase, its postings become those of the clause.
func (w *words) phrase(c *clause, ids []uint32) (all []*roaring.Bitmap, err error) {
	add := func(o *postingsTable, number int) {
		var set *roaring.Bitmap
		if set, err = o.docs.get(number); err != nil {
			return
		}
		if all = append(all, set); len(all) == 1 {
			c.in, c.term = o, number
		}
	}
	inBigram := false // whether the preceding word and this one are a bigram
	for i, id := range ids {
		before := inBigram
		inBigram = false
		if i+1 < len(ids) {
			var number int
			if number, inBigram = w.bigrams.number(id, ids[i+1]); inBigram {
				add(&w.bigrams.postingsTable, number)
			}
		}
		if !before && !inBigram {
			add(&w.postingsTable, int(id))
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

// counted reports whether the clause is a prefix whose occurrences were counted.
func (c *clause) counted() bool { return c.sum != nil && len(c.Words) == 1 }

// anyOf returns the records with any term that matches the prefix of a clause. If the file has the postings of the
// prefix and it is the whole clause, they become those of the clause.
func (w *words) anyOf(c *clause) (*roaring.Bitmap, error) {
	in, number, ok := &w.postingsTable, 0, c.to-c.from == 1
	if ok {
		number = int(w.ids.at(c.from))
	} else {
		in = &w.prefixes.postingsTable
		number, ok = w.prefixes.number(c.from, c.to)
	}
	if ok {
		if len(c.Words) == 1 {
			c.in, c.term = in, number
		}
		return in.docs.get(number)
	}
	sum := w.newFreqCounter()
	for t := c.from; t < c.to; t++ {
		id := int(w.ids.at(t))
		c.steps.add(1 + len(w.docs.bytes(id))/64) // the first use of a set reads all of it
		set, err := w.docs.get(id)
		if err != nil {
			return nil, err
		}
		c.all += int(set.GetCardinality())
		freqs, err := w.freqs.get(id)
		if err != nil {
			return nil, err
		}
		sum.add(w.docs.bytes(id), w.freqs.bytes(id), w.freqs.trailer(id, freqs))
	}
	sum.count(c.steps)
	c.sum, c.atLeast3 = sum, roaring.FromDense(sum.atLeast3, true)
	return sum.atLeast1.set(), nil
}

// bitset is a set with one bit per record.
type bitset []uint64

func newBitset(records int) bitset      { return make(bitset, (records+63)/64) }
func (b bitset) has(record uint32) bool { return b[record/64]>>(record%64)&1 == 1 }
func (b bitset) add(record uint32)      { b[record/64] |= 1 << (record % 64) }
func (b bitset) set() *roaring.Bitmap   { return roaring.FromDense(b, false) }

// recordsWithRepeats returns the records in which a clause occurs more than once.
func (w *words) recordsWithRepeats(c *clause) (*roaring.Bitmap, error) {
	switch {
	case c.in != nil:
		return c.in.freqs.get(c.term)
	case c.counted():
		return c.sum.atLeast2.set(), nil
	default:
		return w.atLeast(c, 2), nil
	}
}

// atLeast returns the records of a clause in which it occurs at least the given number of times.
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

// fetch prefetches the start and end of the words of some records. The processor then waits for all of them at once
// instead of one after the other, which takes a third of the time.
func (w *words) fetch(records []uint32) {
	var sum byte
	for _, rec := range records {
		from, to := w.starts.at(int(rec)), w.starts.at(int(rec)+1)
		sum |= w.forward[from] | w.forward[to-1]
	}
	w.sink.Store(uint32(sum)) // prevents the compiler from removing the reads
}

// count returns the number of occurrences of a clause in a record, up to most; 0 means no limit.
//
// The words of a phrase are adjacent in the forward index, so it is found by a byte search. A match must start at a
// word boundary, which is after a byte without the continuation bit.
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

// index is bytes.Index in pieces of 64 bytes, for which bytes.Index has an implementation that does not stop at each
// first byte of the pattern. Encoded words often share their first byte.
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

// counts returns the frequency of a clause in each of some records, up to maxFrequency. The records are in order and
// contain the clause; if it is the only scored clause, they are among those of recordsWithRepeats.
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
			out[i] = byte(w.count(rec, c, maxFrequency))
		}
	}
	return out, nil
}

// count is counts for a clause with postings. If it is the only clause, it occurs more than once in all of the records.
// Otherwise it merges the records with the term-frequency postings.
func (o *postingsTable) count(st *steps, term int, only bool, records []uint32, out []byte) error {
	freqs, err := o.freqs.get(term)
	if err != nil {
		return err
	}
	counts := o.freqs.trailer(term, freqs)
	if only && len(records) == int(freqs.GetCardinality()) { // the same records
		copy(out, counts)
		return nil
	}
	i, k := 0, 0 // indexes in counts and records
	each(st, freqs, func(some []uint32) {
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

// countPrefix is counts for a prefix. The counter has nearly all frequencies; for those of three or more, the words of
// the record are scanned, unless that would take longer than to scan all postings again.
func (w *words) countPrefix(c *clause, only bool, records []uint32, out []byte) error {
	const look = 64 // scanning the words of a record takes so many times as long as counting one posting
	if look*min(int(c.atLeast3.GetCardinality()), len(records)) > c.all {
		return w.sumPrefix(c, records, out)
	}
	for i, rec := range records {
		c.steps.add(1)
		out[i] = 1
		if only || c.sum.atLeast2.has(rec) {
			out[i] = 2
		}
	}
	both(c.steps, c.atLeast3, records, func(i int) { out[i] = byte(w.count(records[i], c, maxFrequency)) })
	return nil
}

// both calls f for the indexes of those records, which are in order, that are in a set.
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

// sumPrefix is counts for a prefix: it adds up the frequencies of its terms.
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
		set, err := w.docs.get(id)
		if err != nil {
			return err
		}
		freqs, err := w.freqs.get(id)
		if err != nil {
			return err
		}
		each(c.steps, set, func(some []uint32) {
			for _, rec := range some {
				sums[rec] = addFrequencies(sums[rec], 1)
			}
		})
		counts, i := w.freqs.trailer(id, freqs), 0
		each(c.steps, freqs, func(some []uint32) {
			for _, rec := range some {
				sums[rec] = addFrequencies(sums[rec], counts[i]-1)
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

// addFrequencies adds two frequencies, capped to maxFrequency.
func addFrequencies(a, b byte) byte { return byte(min(uint(a)+uint(b), maxFrequency)) }

// mayEnd reports whether b begins with a word that matches the last word of the clause.
func (c *clause) mayEnd(b []byte) bool {
	id, size := binary.Uvarint(b)
	return size > 0 && id > 0 && c.last.has(uint32(id-1))
}

// intersection returns the records in all sets. There must be at least one set.
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
	st.check() // an intersection reads one bit per record
	out := roaring.And(all[0], all[1])
	for _, s := range all[2:] {
		st.check()
		out.And(s)
	}
	return out
}
