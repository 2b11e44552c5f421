package fulltext

import (
	"bytes"
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
	postings *postingsTable // table with its postings, if it is a term, bigram or prefix with postings; else nil
	number   int            // its number in the table
	pattern  *pattern
	found    *matches // if it has no postings: its matches, or nil if they are not computed yet
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
			out.Condition, out.found = plan.Stored{Name: name}, &matches{}
			return out
		}
		ids[i] = w.ids.At(t)
		out.pattern.words = binary.AppendUvarint(out.pattern.words, uint64(ids[i])+1)
	}
	parts := w.phrase(ids, name)
	if c.Prefix {
		out.pattern.setPrefix(w.terms.WithPrefix(c.Words[len(words)]))
		parts = append(parts, w.prefix(st, out.pattern, name))
	}
	if len(parts) > 1 || parts[0].words < len(c.Words) {
		p := &phrase{clause: out, name: name}
		for _, part := range parts {
			p.candidates = append(p.candidates, plan.Term{Condition: part.Condition})
		}
		out.Condition = p
		return out
	}
	out.Condition, out.postings, out.number, out.found = parts[0].Condition, parts[0].table, parts[0].number, parts[0].found
	return out
}

// part is a condition that every record with a phrase satisfies.
type part struct {
	plan.Condition
	words  int            // number of words of the phrase that it matches
	table  *postingsTable // of its postings; nil if it has none
	number int
	found  *matches
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

// prefix returns the records with any term that matches the prefix of a pattern.
func (w *Index) prefix(st *guard.Steps, p *pattern, name string) part {
	if p.to-p.from == 1 {
		return storedPart(&w.postingsTable, int(w.ids.At(p.from)), 1, name)
	}
	if number, ok := w.prefixes.number(p.from, p.to); ok {
		return storedPart(&w.prefixes.postingsTable, number, 1, name)
	}
	found := w.union(st, p.from, p.to)
	found.name = name
	return part{Condition: found, words: 1, found: found}
}

// DocFreq returns the number of records that contain the clause.
func (c *Clause) DocFreq(st *guard.Steps) int {
	if c.postings != nil {
		return c.postings.docs.Set(c.number).Len()
	}
	return len(c.matches(st).records)
}

// matches returns the matches of a clause without postings.
func (c *Clause) matches(st *guard.Steps) *matches {
	if c.found == nil {
		c.found = c.Condition.(*phrase).verify(st)
	}
	return c.found
}

// frequencies returns the frequencies of the clause in each record with more than one, or in all records.
func (c *Clause) frequencies(st *guard.Steps) *bitmap.ByteMap {
	if c.postings == nil {
		found := c.matches(st)
		return bitmap.NewByteMap(found.records, found.counts)
	}
	return bitmap.NewStoredByteMap(c.postings.freqs.Set(c.number))
}

// phrase is the condition that a record contains adjacent words.
type phrase struct {
	clause     *Clause
	candidates []plan.Term
	name       string
}

func (p *phrase) String() string { return p.name }

// Cost implements plan.Condition.
func (p *phrase) Cost() plan.Cost {
	if p.clause.found != nil {
		return p.clause.found.Cost()
	}
	return examinationCost(p.candidates)
}

// examinationCost returns the cost of a condition that examines candidates in the forward index.
func examinationCost(candidates []plan.Term) plan.Cost {
	const count = 100 // time to examine a record
	cost := plan.Cost{Records: candidates[0].Cost().Records, Contains: count}
	for _, c := range candidates[1:] {
		cost.Records = min(cost.Records, c.Cost().Records)
	}
	cost.Fill = count * cost.Records
	return cost
}

// Contains implements plan.Condition.
func (p *phrase) Contains(record uint32) bool { return p.clause.pattern.count(record, 1) > 0 }

// Fill implements plan.Condition.
func (p *phrase) Fill(st *guard.Steps, b *bitmap.Builder) { p.clause.matches(st).Fill(st, b) }

// verify counts the phrase in all candidates.
func (p *phrase) verify(st *guard.Steps) *matches {
	found := &matches{name: p.name}
	set := plan.Evaluate(st, p.clause.index.pool, p.candidates, nil)
	defer set.Release()
	set.Each(st, func(records []uint32) {
		for _, rec := range records {
			st.Add(1)
			if n := p.clause.pattern.count(rec, MaxFrequency); n > 0 {
				found.records, found.counts = append(found.records, rec), append(found.counts, byte(n))
			}
		}
	})
	return found
}

// pattern matches adjacent words in the forward index, of which the last may be a prefix.
type pattern struct {
	index    *Index
	part     int    // the part of a record in which it must occur, or allParts
	words    []byte // the words, or those before the prefix, as encoded in the forward index
	prefix   bool
	from, to int         // prefix: range of its terms
	last     bitmap.Bits // prefix: their numbers + 1; nil if not collected yet
}

const allParts = -1

func (p *pattern) setPrefix(from, to int) { p.prefix, p.from, p.to = true, from, to }

// count returns the number of occurrences in a record, up to most; 0 means no limit.
func (p *pattern) count(record uint32, most int) int {
	w := p.index
	if p.prefix && p.last == nil {
		p.last = bitmap.NewBits(w.terms.Len() + 1)
		for t := p.from; t < p.to; t++ {
			p.last.Add(w.ids.At(t) + 1)
		}
	}
	b := w.forward[w.starts.At(int(record)):w.starts.At(int(record)+1)]
	if p.part != allParts {
		b = cutPart(b, p.part)
	}
	if len(p.words) == 0 {
		return p.countPrefix(b, most)
	}
	// The words of a phrase are adjacent in the forward index, so it is found by a byte search. A match must start at a
	// word boundary, which is after a byte without the continuation bit.
	n := 0
	for at := 0; at < len(b); at++ {
		i := bytes.Index(b[at:], p.words)
		if i < 0 {
			break
		}
		at += i
		if at > 0 && b[at-1] >= 0x80 || p.prefix && p.countPrefix(firstWord(b[at+len(p.words):]), 1) == 0 {
			continue
		}
		if n++; n == most {
			break
		}
	}
	return n
}

// countPrefix returns the number of words in b that match the prefix, up to most; 0 means no limit.
func (p *pattern) countPrefix(b []byte, most int) (n int) {
	for i := 0; i < len(b); i++ {
		id := uint32(b[i])
		if id >= 0x80 {
			id &= 0x7f
			for shift := 7; ; shift += 7 {
				i++
				id |= uint32(b[i]&0x7f) << shift
				if b[i] < 0x80 {
					break
				}
			}
		}
		if p.last.Has(id) {
			if n++; n == most {
				break
			}
		}
	}
	return n
}

// firstWord returns the first word in b, or the end of the part.
func firstWord(b []byte) []byte {
	end := slices.IndexFunc(b, func(c byte) bool { return c < 0x80 })
	return b[:end+1]
}
