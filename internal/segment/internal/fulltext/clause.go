package fulltext

import (
	"encoding/binary"
	"slices"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// Clause is a clause of a search as a condition, with the frequencies for scoring.
type Clause struct {
	plan.Condition
	index    *Index
	words    int            // number of words that the condition matches
	postings *postingsTable // table with its postings, if it is a term, bigram or prefix with postings; else nil
	number   int            // its number in the table
	pattern  *pattern
}

// Clause returns a clause for evaluation.
func (w *Index) Clause(st *guard.Steps, c query.Clause) *Clause {
	return w.newClause(st, c, nil, "search "+query.Clause{Words: c.Words, Prefix: c.Prefix}.String())
}

// newClause returns a clause, or if part is not nil, the condition that this field contains it, without frequencies.
func (w *Index) newClause(st *guard.Steps, c query.Clause, part *fieldPart, name string) *Clause {
	whole := &pattern{index: w, part: allParts}
	if part != nil {
		whole.part = part.first
	}
	words := c.Words
	if c.Prefix {
		words = words[:len(words)-1]
	}
	ids := make([]uint32, len(words))
	for i, word := range words {
		t, ok := w.terms.Find(word)
		if !ok {
			return &Clause{Condition: plan.Stored{Name: name}, index: w, pattern: whole}
		}
		ids[i] = w.ids.At(t)
		whole.words = binary.AppendUvarint(whole.words, uint64(ids[i])+1)
	}
	parts := w.phrase(ids, part, name)
	if c.Prefix {
		from, to := w.terms.WithPrefix(c.Words[len(words)])
		whole.last = []termRange{{from, to}}
		parts = append(parts, w.prefix(st, from, to, name))
	}
	if len(parts) == 1 && parts[0].words == len(c.Words) {
		parts[0].pattern = whole
		return parts[0]
	}
	p := &examined{pattern: whole, most: MaxFrequency, name: name}
	if part != nil {
		p.most = 1
	}
	for _, part := range parts {
		p.candidates = append(p.candidates, plan.Term{Condition: part.Condition})
	}
	isOther := func(part *Clause) bool { return part.words != 2 }
	if len(parts) == len(c.Words)-1 && !slices.ContainsFunc(parts, isOther) {
		// All of them are bigrams. If a record has a word once, the bigrams on both sides of the word overlap.
		for _, id := range ids[1 : len(ids)-1] {
			p.ambiguous = append(p.ambiguous, w.freqs.Set(int(id)))
		}
	}
	return &Clause{Condition: p, index: w, words: len(c.Words), pattern: whole}
}

func (w *Index) storedClause(t *postingsTable, number, words int, name string) *Clause {
	return &Clause{Condition: plan.Stored{Encoded: t.docs.Set(number), Name: name}, index: w, words: words, postings: t, number: number}
}

// phrase returns the bigrams of a phrase, within a field if part is not nil, and its words in no bigram.
func (w *Index) phrase(ids []uint32, part *fieldPart, name string) (parts []*Clause) {
	inBigram := false // whether the preceding word and this one are a bigram
	for i, id := range ids {
		before := inBigram
		inBigram = false
		if i+1 < len(ids) {
			var number int
			if number, inBigram = w.bigrams.number(id, ids[i+1]); inBigram {
				bigram := w.storedClause(&w.bigrams.postingsTable, number, 2, name)
				if part != nil {
					w.restrict(bigram, part, ids[i:i+2])
				}
				parts = append(parts, bigram)
			}
		}
		if !before && !inBigram {
			parts = append(parts, w.storedClause(&w.postingsTable, int(id), 1, name))
		}
	}
	return parts
}

// restrict restricts a bigram of two terms to a field if its fields are stored; else it may be in any field, and the phrase has to be examined.
func (w *Index) restrict(bigram *Clause, part *fieldPart, ids []uint32) {
	if w.bigrams.fields.Len() == 0 {
		bigram.words = 0
		return
	}
	words := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(ids[0])+1), uint64(ids[1])+1)
	bigram.Condition = &examined{
		pattern: &pattern{index: w, part: part.first, words: words}, candidates: []plan.Term{{Condition: bigram.Condition}}, most: 1,
		masks: w.bigrams.fields.At(bigram.number), bit: 1 << (part.index % FieldsInMask), name: bigram.String(),
	}
}

// prefix returns the condition that a record contains any of the terms in [from, to), which share a prefix.
func (w *Index) prefix(st *guard.Steps, from, to int, name string) *Clause {
	if to-from == 1 {
		return w.storedClause(&w.postingsTable, int(w.ids.At(from)), 1, name)
	}
	if number, ok := w.prefixes.ranges.number(from, to); ok {
		return w.storedClause(&w.prefixes.postingsTable, number, 1, name)
	}
	return &Clause{Condition: w.union(st, name, termRange{from, to}), index: w, words: 1}
}

// DocFreq returns the number of records that contain the clause.
func (c *Clause) DocFreq(st *guard.Steps) int {
	if computed, ok := c.Condition.(interface {
		evaluate(st *guard.Steps) *bitmap.Set
	}); ok {
		return computed.evaluate(st).Len()
	}
	return c.Condition.(plan.Stored).Len()
}

// frequencies stores the frequencies of a clause in ascending records, up to MaxFrequency. Records of later calls must not
// be less.
type frequencies func(records []uint32, counts []byte)

// frequencies returns the frequencies of the clause, of which those in about n records are read. In a few records, the
// clause is counted, which takes about as long as reading the given share of the frequencies.
func (c *Clause) frequencies(st *guard.Steps, n int) frequencies {
	const storedShare, unionShare = 1 << 14, 1 << 8
	switch condition := c.Condition.(type) {
	case *union:
		if n > condition.Cost().Records/unionShare {
			all := condition.frequencies(st)
			return frequenciesOf(func(record uint32) byte { return all[record] })
		}
	case *examined: // all of them are counted already
		condition.evaluate(st)
		return frequenciesOf(func(record uint32) byte {
			if condition.repeats == nil {
				return 1
			}
			return 1 + condition.repeats[record]
		})
	default:
		if freqs := c.postings.freqs.Set(c.number); n > freqs.Len()/storedShare {
			return bitmap.NewByteMap(freqs).Load
		}
	}
	return frequenciesOf(func(record uint32) byte { return byte(c.pattern.count(record, MaxFrequency)) })
}

func frequenciesOf(count func(record uint32) byte) frequencies {
	return func(records []uint32, counts []byte) {
		for i, rec := range records {
			counts[i] = count(rec)
		}
	}
}
