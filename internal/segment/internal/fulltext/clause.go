package fulltext

import (
	"encoding/binary"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// Clause is a clause of a search as a condition, with the frequencies for scoring.
type Clause struct {
	plan.Condition
	index    *Index
	postings *postingsTable // table with its postings, if it is a term, bigram or prefix with postings; else nil
	number   int            // its number in the table
	pattern  *pattern
}

// Clause returns a clause for evaluation.
func (w *Index) Clause(st *guard.Steps, c query.Clause) *Clause {
	return w.newClause(st, c, "search "+query.Clause{Words: c.Words, Prefix: c.Prefix}.String())
}

func (w *Index) newClause(st *guard.Steps, c query.Clause, name string) *Clause {
	out := &Clause{index: w, pattern: &pattern{index: w, part: allParts}}
	words := c.Words
	if c.Prefix {
		words = words[:len(words)-1]
	}
	ids := make([]uint32, len(words))
	for i, word := range words {
		t, ok := w.terms.Find(word)
		if !ok {
			out.Condition = plan.Stored{Name: name}
			return out
		}
		ids[i] = w.ids.At(t)
		out.pattern.words = binary.AppendUvarint(out.pattern.words, uint64(ids[i])+1)
	}
	parts := w.phrase(ids, name)
	if c.Prefix {
		from, to := w.terms.WithPrefix(c.Words[len(words)])
		out.pattern.last = []termRange{{from, to}}
		parts = append(parts, w.prefix(st, from, to, name))
	}
	if len(parts) > 1 || parts[0].words < len(c.Words) {
		p := &examined{pattern: out.pattern, most: MaxFrequency, name: name}
		for _, part := range parts {
			p.candidates = append(p.candidates, plan.Term{Condition: part.Condition})
		}
		if len(parts) == len(c.Words)-1 && !c.Prefix { // all of them are bigrams
			p.inner = ids[1 : len(ids)-1]
		}
		out.Condition = p
		return out
	}
	out.Condition, out.postings, out.number = parts[0].Condition, parts[0].table, parts[0].number
	return out
}

// part is a condition that every record with a phrase satisfies.
type part struct {
	plan.Condition
	words  int            // number of words of the phrase that it matches
	table  *postingsTable // of its postings; nil if it has none
	number int
}

func storedPart(t *postingsTable, number, words int, name string) part {
	return part{Condition: plan.Stored{Encoded: t.docs.Set(number), Name: name}, words: words, table: t, number: number}
}

// phrase returns the bigrams of a phrase, and its words in no bigram.
func (w *Index) phrase(ids []uint32, name string) (parts []part) {
	inBigram := false // whether the preceding word and this one are a bigram
	for i, id := range ids {
		before := inBigram
		inBigram = false
		if i+1 < len(ids) {
			var number int
			if number, inBigram = w.bigrams.number(id, ids[i+1]); inBigram {
				parts = append(parts, storedPart(&w.bigrams.postingsTable, number, 2, name))
			}
		}
		if !before && !inBigram {
			parts = append(parts, storedPart(&w.postingsTable, int(id), 1, name))
		}
	}
	return parts
}

// prefix returns the condition that a record contains any of the terms in [from, to), which share a prefix.
func (w *Index) prefix(st *guard.Steps, from, to int, name string) part {
	if to-from == 1 {
		return storedPart(&w.postingsTable, int(w.ids.At(from)), 1, name)
	}
	if number, ok := w.prefixes.ranges.number(from, to); ok {
		return storedPart(&w.prefixes.postingsTable, number, 1, name)
	}
	return part{Condition: w.union(st, name, termRange{from, to}), words: 1}
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
		return condition.frequencies(st)
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
