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
	if w.searchable == 1 {
		within = nil
	}
	return w.newClause(st, c, within, name).Condition
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
