package fulltext

import (
	"encoding/binary"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
	"herbarium/internal/text"
)

// Contains reports whether a word occurs in any record.
func (w *Index) Contains(word string) bool {
	_, ok := w.terms.Find(word)
	return ok
}

// wordForms returns the clause of a word with the forms that occur; nil if only the word itself
// may.
func (w *Index) wordForms(st *guard.Steps, c query.Clause, within *searchField, name string) *Clause {
	all := &Clause{index: w}
	var any plan.AnyOf
	add := func(word string) *Clause {
		t, ok := w.terms.Find(word)
		if !ok {
			return nil
		}
		id := w.ids.At(t)
		form := w.wordClause(id, within, name)
		form.pattern = &pattern{index: w, steps: st, fieldCopy: allCopies,
			words: binary.AppendUvarint(nil, uint64(id)+1)}
		all.forms, any = append(all.forms, form), append(any, form.Condition)
		return form
	}
	for _, word := range c.Forms {
		if form := add(word); form != nil {
			form.isOther = true
		}
	}
	if all.forms == nil {
		return nil
	}
	all.exact = add(c.Words[0])
	if len(all.forms) == 1 {
		return all.forms[0]
	}
	all.Condition = any
	return all
}

// formsDocFreq returns the number of records that contain any of the forms.
func (c *Clause) formsDocFreq(st *guard.Steps) int {
	if c.docFreq == 0 {
		b := bitmap.NewBuilder(c.index.pool)
		c.Condition.Fill(st, b)
		set := b.Set(st)
		c.docFreq = set.Len()
		set.Release()
	}
	return c.docFreq
}

// SetDocFreq sets the number of records that contain the clause, which is otherwise computed.
func (c *Clause) SetDocFreq(n int) { c.docFreq = n }

// hasForms reports whether other forms of the word occur.
func (c *Clause) hasForms() bool { return c.forms != nil || c.isOther }

// bonus returns what a record with the word itself scores in addition, if other forms occur. It is
// the upper bound of a score, so that these records precede those with other forms only, and the
// first pages are those of a search for the word alone.
func (c *Clause) bonus(idf float64) float64 {
	if c.isOther || c.forms != nil && c.exact == nil {
		return 0
	}
	return text.MaxScore(idf)
}

// newFormsReader returns a reader of the frequencies of a word with other forms in about n records,
// any of which may lack some of them. It reads those of the word itself, and the sum of those of
// other forms in records without it.
func (c *Clause) newFormsReader(st *guard.Steps, n int) clauseReader {
	var exact []bool
	var one []byte
	readers := make([]frequencyReader, len(c.forms))
	for i, form := range c.forms {
		readers[i] = form.newFormReader(st, n)
	}
	return func(records []uint32, counts []byte) []bool {
		if len(exact) < len(records) {
			exact, one = make([]bool, len(records)), make([]byte, len(records))
		}
		readers[0](records, counts)
		for k, read := range readers[1:] {
			one := one[:len(records)]
			read(records, one)
			if c.forms[1+k] != c.exact {
				for i, n := range one {
					counts[i] = byte(min(int(counts[i])+int(n), MaxFrequency))
				}
				continue
			}
			for i, n := range one { // the last one
				exact[i] = n > 0
				if n > 0 {
					counts[i] = n
				}
			}
		}
		return exact
	}
}

// newFormReader is newFrequencyReader for records that may lack the clause, which is a term.
func (c *Clause) newFormReader(st *guard.Steps, n int) frequencyReader {
	read, members := c.newFrequencyReader(st, n), bitmap.NewMembers(c.Condition.(plan.StoredCondition).EncodedSet)
	return func(records []uint32, counts []byte) {
		read(records, counts)
		members.Mask(records, counts)
	}
}

// count returns the frequency in a record, for scoring.
func (c *Clause) count(record uint32) (n int) {
	if c.forms == nil {
		return c.pattern.count(record, 0)
	}
	if c.exact != nil {
		n = c.exact.count(record)
	}
	if n == 0 {
		for _, form := range c.forms {
			n += form.count(record)
		}
	}
	return n
}

// formsPage is Page for a search for one word that occurs, and that has other forms. The records
// with the word itself are ordered like those of a search for it alone, which selects few
// candidates, and the others only if they are on the page.
func (s *Scorer) formsPage(set *bitmap.Set, from, to int) []uint32 {
	word := s.clauses[0]
	exact := bitmap.StoredSet(s.index.pool, word.exact.Condition.(plan.StoredCondition).EncodedSet)
	defer func() { exact.Release() }()
	if set.Len() < word.DocFreq(s.steps) {
		all := exact
		exact = s.copyOf(set)
		exact.Intersect(s.steps, all)
		all.Release()
	}
	var page []uint32
	n := exact.Len()
	if from < n {
		page = s.only(word.exact, s.bonus[0]).Page(exact, from, min(to, n))
	}
	if to > n {
		rest := s.copyOf(set)
		defer rest.Release()
		rest.Subtract(s.steps, exact)
		others := &Clause{index: word.index, forms: word.forms[:len(word.forms)-1]} // exact is the last one
		if len(others.forms) == 1 {
			others = others.forms[0]
		}
		page = append(page, s.only(others, 0).Page(rest, max(from-n, 0), to-n)...)
	}
	return page
}

func (s *Scorer) copyOf(set *bitmap.Set) *bitmap.Set {
	b := bitmap.NewBuilder(s.index.pool)
	b.Union(s.steps, set)
	return b.Set(s.steps)
}

// only returns a scorer of records that have these forms of the word and no others.
func (s *Scorer) only(forms *Clause, bonus float64) *Scorer {
	only := *s
	only.clauses, only.bonus = []*Clause{forms}, []float64{bonus}
	return &only
}
