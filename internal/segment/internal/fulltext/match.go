package fulltext

import (
	"bytes"

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

// fieldParts returns the positions of all fields, and the weights of the searchable ones. Only those have a position.
func fieldParts(f *file.File) (parts []fieldPart, weights []int) {
	next := 0
	for _, field := range f.Meta.Fields {
		parts = append(parts, fieldPart{field.Name, len(weights), next})
		if field.Searchable {
			weights = append(weights, max(field.Weight, 1))
			next += max(field.Weight, 1)
		}
	}
	return parts, weights
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

// matchTerms returns the clauses of a search within one field.
func (w *Index) matchTerms(st *guard.Steps, field int, s *query.Search) (terms []plan.Term) {
	if len(s.Clauses) == 0 {
		return []plan.Term{{Condition: plan.Stored{Name: w.fields[field].name + " match nothing"}}}
	}
	for _, c := range s.Clauses {
		st.Check()
		terms = append(terms, plan.Term{Condition: w.matchClause(st, field, c), Exclude: c.Exclude})
	}
	return terms
}

// matchClause returns the condition that a field contains a clause.
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
		any = append(any, w.matchRest(st, part, rest, name))
	}
	if len(any) == 1 {
		return any[0]
	}
	return any
}

// matchRest returns the condition that a field contains any of some terms, which have no postings by field. If the fields of each posting are
// not stored exactly, records are examined.
func (w *Index) matchRest(st *guard.Steps, part fieldPart, terms []termRange, name string) plan.Condition {
	u := w.union(st, name, &part, terms...)
	if w.searchable <= FieldsInMask {
		return u
	}
	return &examined{pattern: u.pattern, candidates: []plan.Term{{Condition: u}}, most: 1, name: name}
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
