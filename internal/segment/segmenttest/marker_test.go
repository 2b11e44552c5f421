package segmenttest

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/testseed"
	"herbarium/internal/text"
)

// TestMarker compares the marks in values with the rules of the oracle, on random data and queries:
// a value has a mark exactly if a rule finds something, and every mark is what a rule finds.
func TestMarker(t *testing.T) {
	t.Parallel()
	marks, seed := 0, testseed.Seed(t)
	for n := range uint64(60) {
		g := newGenerator(seed*1000+n, n%10 == 0)
		fields := g.fields()
		records := g.records(fields, g.size())
		for range 20 {
			raw := g.query(fields, records)
			req, err := query.Parse(raw, fields)
			must.NoError(t, err)
			marker := req.NewMarker()
			for _, rec := range records {
				for i := range fields {
					marks += checkMarks(t, raw, marker, &marked{fields[i], rec[i], req, i})
				}
			}
		}
		if t.Failed() {
			return
		}
	}
	if marks < 1000 {
		t.Errorf("%d marks", marks)
	}
}

// marked is a value of a field, with the request that searches it.
type marked struct {
	field herb.Field
	value string
	req   *query.Request
	index int
}

func checkMarks(t *testing.T, raw string, marker *query.Marker, v *marked) (marks int) {
	t.Helper()
	ranges, parts := marker.Ranges(v.index, v.value), marker.Excerpt(v.index, v.value, false)
	if (len(ranges) > 0) != v.matches() || (parts != nil) != v.matches() {
		t.Errorf("%s: %q has the marks %v", raw, v.value, ranges)
	}
	if got := strings.Join(parts, ""); parts != nil && utf8.RuneCountInString(v.value) <= 200 && got != v.value {
		t.Errorf("%s: %q becomes %q", raw, v.value, got)
	}
	at := 0
	for _, r := range ranges {
		part := v.value[r.Start:r.End]
		if r.Start < at || r.End <= r.Start || text.ClusterStart(v.value, r.Start) != r.Start ||
			text.ClusterStart(v.value, r.End) != r.End {
			t.Errorf("%s: %q has the marks %v", raw, v.value, ranges)
		}
		if !v.field.Notation.JSON && !v.isMark(part) {
			t.Errorf("%s: %q is marked in %q", raw, part, v.value)
		}
		at = r.End
	}
	return len(ranges)
}

// clauses returns the clauses that are searched in the value.
func (v *marked) clauses() (all []query.Clause) {
	if v.req.Search != nil && v.field.Searchable {
		all = v.req.Search.Clauses
	}
	for _, c := range v.req.Conditions {
		for _, o := range c.Values {
			if c.Field == v.index && c.Op == query.OpMatch {
				all = slices.Concat(all, o.Search.Clauses)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c query.Clause) bool { return c.Exclude })
}

// operands returns the operands with weights of an operator that compares texts.
func (v *marked) operands(op query.Op) (all []string) {
	for _, c := range v.req.Conditions {
		for _, o := range c.Values {
			if c.Field == v.index && c.Op == op && !v.field.Type.IsScalar() && len(weights(o.Text)) > 0 {
				all = append(all, o.Text)
			}
		}
	}
	return all
}

// matches reports whether a clause or an operand is found in the value.
func (v *marked) matches() bool {
	words := [][]string{text.AppendWords(nil, text.SearchText(&v.field, v.value))}
	return slices.ContainsFunc(v.clauses(), func(c query.Clause) bool { return occurrences(words, c) > 0 }) ||
		slices.ContainsFunc([]query.Op{query.OpContains, query.OpPrefix}, func(op query.Op) bool {
			return slices.ContainsFunc(v.operands(op), func(o string) bool { return fits(v.field, v.value, op, o) })
		})
}

// isMark reports whether a marked text is what a clause or an operand finds. It can be longer,
// because marks that overlap are one and a character, such as a family of pictographs, is marked as
// a whole.
func (v *marked) isMark(part string) bool {
	operands := slices.Concat(v.operands(query.OpContains), v.operands(query.OpPrefix))
	words := text.AppendWords(nil, part)
	isLonger := operands != nil
	for _, character := range []string{part[:text.ClusterEnd(part, 1)], part[text.ClusterStart(part, len(part)-1):]} {
		isLonger = isLonger || len(text.AppendWords(nil, character)) > 1
	}
	return slices.ContainsFunc(operands, func(o string) bool { return containsText(part, o) }) ||
		slices.ContainsFunc(v.clauses(), func(c query.Clause) bool {
			if isLonger {
				return occurrences([][]string{words}, c) > 0
			}
			return beginsWith(words, c) && len(words) == len(c.Words)
		})
}
