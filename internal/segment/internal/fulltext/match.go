package fulltext

import (
	"bytes"
	"encoding/binary"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// fieldPart is the position of a field in the forward index.
type fieldPart struct {
	name  string
	index int // number of searchable fields before it
	first int // number of parts of a record before it; a field has as many parts as its weight
}

// fieldParts returns the positions of all fields, and the number of searchable ones. Only those have a position.
func fieldParts(f *file.File) (parts []fieldPart, searchable int) {
	next := 0
	for _, field := range f.Meta.Fields {
		parts = append(parts, fieldPart{field.Name, searchable, next})
		if field.Searchable {
			next += max(field.Weight, 1)
			searchable++
		}
	}
	return parts, searchable
}

// Match returns a condition with query.OpMatch for evaluation.
func (w *Index) Match(st *guard.Steps, cond query.Condition) []plan.Term {
	if len(cond.Values) == 1 {
		return w.matchTerms(st, cond.Field, cond.Values[0].Search)
	}
	any := make(plan.AnyOf, len(cond.Values))
	for i, o := range cond.Values {
		any[i] = plan.AllOf{Pool: w.pool, Terms: w.matchTerms(st, cond.Field, o.Search)}
	}
	return []plan.Term{{Condition: any}}
}

// matchTerms returns the clauses of a search within one field. Of those that have to be examined, the candidates are terms, too, so that only the
// records that satisfy all other terms are examined.
func (w *Index) matchTerms(st *guard.Steps, field int, s *query.Search) (terms []plan.Term) {
	if len(s.Clauses) == 0 {
		return []plan.Term{{Condition: plan.Stored{Name: w.fields[field].name + " match nothing"}}}
	}
	for _, c := range s.Clauses {
		st.Check()
		condition := w.matchClause(st, field, c)
		if e, ok := condition.(*examined); ok && e.most == 1 && e.ambiguous == nil && e.masks == nil && !c.Exclude {
			terms = append(terms, e.candidates...)
			e.filter = true
		}
		terms = append(terms, plan.Term{Condition: condition, Exclude: c.Exclude})
	}
	return terms
}

// matchClause returns the condition that a field contains a clause. Most postings are those of all fields together, so
// the records that contain the clause in any field are examined in the forward index, unless it has postings by field or is a bigram.
func (w *Index) matchClause(st *guard.Steps, field int, c query.Clause) plan.Condition {
	part := &w.fields[field]
	name := part.name + " match " + query.Clause{Words: c.Words, Prefix: c.Prefix}.String()
	switch {
	case w.searchable == 1:
		part = nil
	case len(c.Words) == 1:
		return w.matchWord(st, *part, c, name)
	}
	return w.newClause(st, c, part, name).Condition
}

// matchWord returns the condition that a field contains a word or a prefix.
func (w *Index) matchWord(st *guard.Steps, part fieldPart, c query.Clause, name string) plan.Condition {
	var terms termRange
	if c.Prefix {
		terms.from, terms.to = w.terms.WithPrefix(c.Words[0])
	} else if t, ok := w.terms.Find(c.Words[0]); ok {
		terms = termRange{t, t + 1}
	}
	sets, rest := w.splitTerms(terms, part.index)
	any := plan.AnyOf{}
	for _, set := range sets {
		any = append(any, plan.Stored{Encoded: set, Name: name})
	}
	if len(rest) > 0 {
		any = append(any, w.examineTerms(st, part, rest, name))
	}
	if len(any) == 1 {
		return any[0]
	}
	return any
}

// examineTerms returns the condition that a field contains any of some terms.
func (w *Index) examineTerms(st *guard.Steps, part fieldPart, terms []termRange, name string) plan.Condition {
	f := &examined{pattern: &pattern{index: w, part: part.first}, candidates: make([]plan.Term, 1), most: 1, name: name}
	if first := terms[0].from; len(terms) == 1 && terms[0].to == first+1 {
		id := w.ids.At(first)
		f.pattern.words = binary.AppendUvarint(nil, uint64(id)+1)
		f.candidates[0].Condition = plan.Stored{Encoded: w.docs.Set(int(id)), Name: name}
	} else {
		f.pattern.last = terms
		f.candidates[0].Condition = w.union(st, name, terms...)
	}
	return f
}

// cutPart returns a part of the words of a record; b contains all of them. A zero ends a part.
func cutPart(b []byte, part int) []byte {
	for {
		end := bytes.IndexByte(b, 0)
		if end < 0 {
			guard.Corrupt("a record has too few parts in the forward index")
		}
		if part == 0 {
			return b[:end+1]
		}
		b, part = b[end+1:], part-1
	}
}
