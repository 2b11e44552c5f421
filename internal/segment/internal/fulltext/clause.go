package fulltext

import (
	"encoding/binary"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
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
	forms    []*Clause // forms of the word, if several are searched: terms
	exact    *Clause   // the one of forms that is the word itself; nil if it does not occur
	isOther  bool      // a form of the word that is searched, instead of the word itself
	docFreq  int       // of forms; 0 if it is not computed yet
}

// Clause converts a clause of a search to a condition.
func (w *Index) Clause(st *guard.Steps, c query.Clause) *Clause {
	return w.newClause(st, c, nil, "search "+query.Clause{Words: c.Words, Prefix: c.Prefix}.String())
}

// newClause returns a clause, or if within is not nil, the condition that this field contains it,
// without frequencies.
func (w *Index) newClause(st *guard.Steps, c query.Clause, within *searchField, name string) *Clause {
	whole := &pattern{index: w, steps: st, fieldCopy: allCopies}
	if within != nil {
		whole.fieldCopy = within.firstCopy
	}
	if c.Forms != nil {
		if forms := w.wordForms(st, c, within, name); forms != nil {
			return forms
		}
	}
	words := c.Words
	if c.Prefix {
		words = words[:len(words)-1]
	}
	p := &scanMatcher{pattern: whole, most: MaxFrequency, name: name}
	ids := make([]uint32, len(words))
	for i, word := range words {
		t, ok := w.terms.Find(word)
		if !ok {
			return &Clause{Condition: plan.StoredCondition{Name: name}, index: w, pattern: whole}
		}
		ids[i] = w.ids.At(t)
		whole.words = binary.AppendUvarint(whole.words, uint64(ids[i])+1)
	}
	clauses := w.phrase(ids, within, name)
	if c.Prefix {
		from, to := w.terms.WithPrefix(c.Words[len(words)])
		whole.last = &termRange{from, to}
		clauses = append(clauses, w.prefix(st, from, to, within, name))
	}
	if len(clauses) == 1 {
		clauses[0].pattern = whole
		return clauses[0]
	}
	if within != nil {
		p.most = 1
	}
	for _, clause := range clauses {
		p.candidates = append(p.candidates, plan.Term{Condition: clause.Condition})
	}
	return &Clause{Condition: p, index: w, pattern: whole}
}

func (w *Index) storedClause(t *postingsTable, number int, name string) *Clause {
	return &Clause{Condition: plan.StoredCondition{EncodedSet: t.docs.Set(number), Name: name}, index: w, postings: t,
		number: number}
}

// wordClause returns the condition that a record, or a field of it, contains a word.
func (w *Index) wordClause(id uint32, within *searchField, name string) *Clause {
	if within != nil {
		return &Clause{Condition: plan.StoredCondition{EncodedSet: w.inField(id, within), Name: name}, index: w}
	}
	return w.storedClause(&w.postingsTable, int(id), name)
}

// inField returns the records that contain a term in a field.
func (w *Index) inField(id uint32, within *searchField) bitmap.EncodedSet {
	return w.fieldPostings.set(int(id), within.index, w.docs.Set(int(id)))
}

// phrase returns the bigrams of a phrase, and its words in no bigram. Bigrams have no field
// postings: within a field, it returns all words.
func (w *Index) phrase(ids []uint32, within *searchField, name string) (clauses []*Clause) {
	startsBigram := false // whether the word and the next one are a bigram with postings
	for i, id := range ids {
		endsBigram := startsBigram
		startsBigram = false
		if i+1 < len(ids) {
			var number int
			number, startsBigram = w.bigrams.number(id, ids[i+1])
			if startsBigram {
				clauses = append(clauses, w.storedClause(&w.bigrams.postingsTable, number, name))
			}
		}
		if !endsBigram && !startsBigram || within != nil {
			clauses = append(clauses, w.wordClause(id, within, name))
		}
	}
	return clauses
}

// prefix returns the condition that a record, or a field of it, contains any of the terms in
// [from, to), which share a prefix.
func (w *Index) prefix(st *guard.Steps, from, to int, within *searchField, name string) *Clause {
	if to-from == 1 {
		return w.wordClause(w.ids.At(from), within, name)
	}
	if number, ok := w.prefixes.ranges.number(from, to); ok {
		c, item := w.storedClause(&w.prefixes.postingsTable, number, name), w.terms.Len()+number
		if within == nil {
			return c
		}
		if len(w.fieldPostings.At(item)) > 0 {
			set := w.fieldPostings.set(item, within.index, w.prefixes.docs.Set(number))
			return &Clause{Condition: plan.StoredCondition{EncodedSet: set, Name: name}, index: w}
		}
	}
	return &Clause{Condition: w.newTermUnion(st, name, within, termRange{from, to}), index: w}
}

// DocFreq returns the number of records that contain the clause.
func (c *Clause) DocFreq(st *guard.Steps) int {
	if c.forms != nil {
		return c.formsDocFreq(st)
	}
	if computed, ok := c.Condition.(interface {
		evaluate(st *guard.Steps) *bitmap.Set
	}); ok {
		return computed.evaluate(st).Len()
	}
	return c.Condition.(plan.StoredCondition).Len()
}

// frequencyReader stores the frequency of a clause in each of some ascending records in counts, up
// to MaxFrequency. Records of later calls must not be less.
type frequencyReader func(records []uint32, counts []byte)

// newFrequencyReader returns a reader of the frequencies of the clause in about n records. If these
// are few, it counts the clause in the forward index: reading all frequencies would take longer.
// cost.UnionFreqs and cost.StoredFreqs are the limits.
func (c *Clause) newFrequencyReader(st *guard.Steps, n int) frequencyReader {
	switch condition := c.Condition.(type) {
	case *termUnion:
		if n > condition.cost.Records/cost.UnionFreqs {
			all := condition.sumFrequencies(st)
			return readEach(func(record uint32) byte { return all[record] })
		}
	case *scanMatcher: // all of them are counted already
		condition.evaluate(st)
		return readEach(func(record uint32) byte {
			if condition.repeats == nil {
				return 1
			}
			return 1 + condition.repeats[record]
		})
	default:
		if freqs := c.postings.freqs.Set(c.number); n > freqs.Len()/cost.StoredFreqs {
			return bitmap.NewByteMap(freqs).Load
		}
	}
	return readEach(func(record uint32) byte { return byte(c.pattern.count(record, MaxFrequency)) })
}

func readEach(count func(record uint32) byte) frequencyReader {
	return func(records []uint32, counts []byte) {
		for i, rec := range records {
			counts[i] = count(rec)
		}
	}
}
