package fulltext

import (
	"bytes"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// searchField locates a field in the forward index. A field of weight 3 has three copies there, so
// that its words count three times.
type searchField struct {
	name      string
	index     int // among the searchable fields
	firstCopy int // index of its first copy among all copies of a record
}

// searchFields returns the locations of all fields, and the weights of the searchable ones. Only
// those are in the forward index.
func searchFields(f *file.File) (fields []searchField, weights []int) {
	next := 0
	for _, field := range f.Meta.Fields {
		fields = append(fields, searchField{field.Name, len(weights), next})
		if field.Searchable {
			weights = append(weights, max(field.Weight, 1))
			next += max(field.Weight, 1)
		}
	}
	return fields, weights
}

// Match converts a condition of a query with query.OpMatch to terms.
func (w *Index) Match(st *guard.Steps, cond query.Condition) []plan.Term {
	if len(cond.Values) == 1 {
		return w.matchTerms(st, cond.Field, cond.Values[0].Search)
	}
	searches := make(plan.AnyOf, len(cond.Values))
	for i, o := range cond.Values {
		searches[i] = plan.AllOf{Pool: w.pool, Terms: w.matchTerms(st, cond.Field, o.Search)}
	}
	return []plan.Term{{Condition: searches}}
}

// matchTerms returns the clauses of a search within one field.
func (w *Index) matchTerms(st *guard.Steps, field int, s *query.Search) (terms []plan.Term) {
	if len(s.Clauses) == 0 {
		return []plan.Term{{Condition: plan.StoredCondition{Name: w.fields[field].name + " match nothing"}}}
	}
	for _, c := range s.Clauses {
		st.Check()
		terms = append(terms, plan.Term{Condition: w.matchClause(st, field, c), Exclude: c.Exclude})
	}
	return terms
}

// matchClause returns the condition that a field contains a clause.
func (w *Index) matchClause(st *guard.Steps, field int, c query.Clause) plan.Condition {
	within := &w.fields[field]
	name := within.name + " match " + query.Clause{Words: c.Words, Prefix: c.Prefix}.String()
	switch {
	case w.searchable == 1:
		within = nil
	case len(c.Words) == 1:
		return w.matchWord(st, *within, c, name)
	}
	return w.newClause(st, c, within, name).Condition
}

// matchWord returns the condition that a field contains a word or a prefix.
func (w *Index) matchWord(st *guard.Steps, within searchField, c query.Clause, name string) plan.Condition {
	var terms termRange
	if c.Prefix {
		terms.from, terms.to = w.terms.WithPrefix(c.Words[0])
	} else if t, ok := w.terms.Find(c.Words[0]); ok {
		terms = termRange{t, t + 1}
	}
	sets, rest := w.splitTerms(terms, within.index)
	ranges := plan.AnyOf{}
	for _, set := range sets {
		ranges = append(ranges, plan.StoredCondition{EncodedSet: set, Name: name})
	}
	if len(rest) > 0 {
		ranges = append(ranges, w.matchRest(st, within, rest, name))
	}
	if len(ranges) == 1 {
		return ranges[0]
	}
	return ranges
}

// matchRest returns the condition that a field contains any of some terms, which have no postings
// by field. If the fields of each posting are not stored exactly, records are examined.
func (w *Index) matchRest(st *guard.Steps, within searchField, terms []termRange, name string) plan.Condition {
	u := w.newTermUnion(st, name, &within, terms...)
	if w.searchable <= FieldsInMask {
		return u
	}
	return &scanMatcher{pattern: u.pattern, candidates: []plan.Term{{Condition: u}}, most: 1, name: name}
}

// cutCopy returns the words of a copy of a field; b contains those of a record. A zero ends a copy.
func cutCopy(b []byte, number int) []byte {
	for {
		end := bytes.IndexByte(b, 0)
		if end < 0 {
			guard.Corrupt("a record has too few fields in the forward index")
		}
		if number == 0 {
			return b[:end+1]
		}
		b, number = b[end+1:], number-1
	}
}
