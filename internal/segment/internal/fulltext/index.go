package fulltext

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

// postingsTable contains the postings of numbered terms, bigrams or prefixes.
type postingsTable struct {
	docs  bitmap.Table // records of each
	freqs bitmap.Table // term-frequency postings: records with a frequency above 1, followed by the frequencies
}

func openPostings(f *file.File, docs, freqs file.Tag) (t postingsTable, err error) {
	if t.docs, err = bitmap.OpenTable(f.Section(docs, file.NoField), f.Meta.Records); err != nil {
		return t, err
	}
	t.freqs, err = bitmap.OpenTable(f.Section(freqs, file.NoField), f.Meta.Records)
	if err == nil && t.docs.Len() != t.freqs.Len() {
		err = fmt.Errorf("%w: section %s", guard.ErrCorrupt, freqs)
	}
	return t, err
}

// Index is the full-text index of a segment.
type Index struct {
	postingsTable // of the terms, by number
	bigrams       bigrams
	prefixes      prefixPostings
	terms         file.Strings
	ids           file.U32s // by term, its number
	forward       []byte
	starts        file.U64s
	lengths       file.U32s // number of words by record
	lengthOrder   file.U32s // records by ascending number of words; empty in small files
	average       float64   // mean number of words per record
	sums          sync.Pool // of *frequencySum
	pool          *bitmap.Pool
}

// Open returns the index of a file.
func Open(f *file.File, pool *bitmap.Pool) (w *Index, err error) {
	section := func(t file.Tag) []byte { return f.Section(t, file.NoField) }
	w = &Index{
		pool: pool,
		ids:  section(file.TagIDs), forward: section(file.TagForward), starts: section(file.TagFStarts),
		lengths: section(file.TagLengths), lengthOrder: section(file.TagLengthOrder),
	}
	if w.terms, err = file.OpenStrings(section(file.TagTerms)); err != nil {
		return nil, err
	}
	if w.postingsTable, err = openPostings(f, file.TagDocs, file.TagFreqs); err != nil {
		return nil, err
	}
	n, t := f.Meta.Records, w.terms.Len()
	if w.starts.Len() != n+1 || w.lengths.Len() != n || w.ids.Len() != t || w.docs.Len() != t ||
		w.lengthOrder.Len() != 0 && w.lengthOrder.Len() != n {
		return nil, fmt.Errorf("%w: words", guard.ErrCorrupt)
	}
	if n > 0 {
		w.average = float64(f.Meta.Words) / float64(n)
	}
	if w.prefixes, err = openPrefixPostings(f); err != nil {
		return nil, err
	}
	w.bigrams, err = openBigrams(f)
	return w, err
}

// Clause is a search clause with its matching records.
type Clause struct {
	query.Clause
	steps    *guard.Steps
	Set      *roaring.Bitmap
	postings *postingsTable // table with its postings, if it is a term, bigram or prefix with postings; else nil
	term     int            // its number in the table
	pattern  []byte         // the words before the last, or all of them, as encoded in the forward index
	from     int            // prefix: range of its terms
	to       int
	last     bitmap.Bits   // prefix: their numbers; nil if not collected yet
	sum      *frequencySum // prefix without postings: its frequency in each record
}

// Match returns the records that contain a clause.
func (w *Index) Match(st *guard.Steps, c query.Clause) Clause {
	out := Clause{Clause: c, steps: st}
	words := c.Words
	if c.Prefix {
		words = words[:len(words)-1]
	}
	ids := make([]uint32, len(words))
	for i, word := range words {
		t, ok := w.terms.Find(word)
		if !ok {
			out.Set = roaring.New()
			return out
		}
		ids[i] = w.ids.At(t)
		out.pattern = binary.AppendUvarint(out.pattern, uint64(ids[i])+1)
	}
	all := w.phrase(&out, ids)
	if c.Prefix {
		out.from, out.to = w.terms.WithPrefix(c.Words[len(words)])
		all = append(all, w.anyOf(&out))
	}
	out.Set = bitmap.Intersection(st, all)
	if out.postings == nil && len(c.Words) > 1 {
		out.Set = w.verify(&out)
	}
	return out
}

// phrase returns sets of records whose intersection contains all matches of a phrase: those of bigrams in it, and of
// words in no bigram. If a single term or bigram is the entire phrase, its postings become those of the clause.
func (w *Index) phrase(c *Clause, ids []uint32) (all []*roaring.Bitmap) {
	add := func(o *postingsTable, number int) {
		if all = append(all, o.docs.Get(number)); len(all) == 1 {
			c.postings, c.term = o, number
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
	}
	if len(all) > 1 || c.Prefix {
		c.postings = nil
	}
	return all
}

// anyOf returns the records with any term that matches the prefix of a clause. If the file has the postings of the
// prefix and it is the entire clause, they become those of the clause.
func (w *Index) anyOf(c *Clause) *roaring.Bitmap {
	in, number, ok := &w.postingsTable, 0, c.to-c.from == 1
	if ok {
		number = int(w.ids.At(c.from))
	} else {
		in = &w.prefixes.postingsTable
		number, ok = w.prefixes.number(c.from, c.to)
	}
	if ok {
		if len(c.Words) == 1 {
			c.postings, c.term = in, number
		}
		return in.docs.Get(number)
	}
	c.sum = w.newFrequencySum()
	for t := c.from; t < c.to; t++ {
		c.sum.add(c.steps, &w.postingsTable, int(w.ids.At(t)))
	}
	return roaring.FromDense(c.sum.any, true)
}

// verify returns the records of a clause in which it occurs.
func (w *Index) verify(c *Clause) *roaring.Bitmap {
	var matches []uint32
	bitmap.Each(c.steps, c.Set, func(records []uint32) {
		for _, rec := range records {
			if w.count(rec, c, 1) > 0 {
				matches = append(matches, rec)
			}
		}
	})
	return roaring.BitmapOf(matches...)
}

// count returns the number of occurrences of a clause in a record, up to most; 0 means no limit.
//
// The words of a phrase are adjacent in the forward index, so it is found by a byte search. A match must start at a
// word boundary, which is after a byte without the continuation bit.
func (w *Index) count(record uint32, c *Clause, most int) int {
	if c.Prefix && c.last == nil {
		c.last = bitmap.NewBits(w.terms.Len())
		for t := c.from; t < c.to; t++ {
			c.steps.Add(1)
			c.last.Add(w.ids.At(t))
		}
	}
	b := w.forward[w.starts.At(int(record)):w.starts.At(int(record)+1)]
	c.steps.Add(1 + len(b)/64)
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

// AddFrequencies adds two frequencies, capped to MaxFrequency.
func AddFrequencies(a, b byte) byte { return byte(min(uint(a)+uint(b), MaxFrequency)) }

// mayEnd reports whether b begins with a word that matches the last word of the clause.
func (c *Clause) mayEnd(b []byte) bool {
	id, size := binary.Uvarint(b)
	return size > 0 && id > 0 && c.last.Has(uint32(id-1))
}
