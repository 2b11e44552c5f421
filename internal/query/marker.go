package query

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// ParamMatches requests where the records of a listing match, as Marker.Excerpt returns it.
const ParamMatches = "_matches"

// Marker finds in values what a request searches for: the words of its search in searchable fields,
// and the operands of OpMatch, OpContains and OpPrefix in their fields. Excluded words, empty
// operands and prefixes of numbers, dates and times are not marked. It is not safe for concurrent
// use.
type Marker struct {
	fields  []herb.Field
	clauses []Clause              // of searchable fields
	filters map[int]*fieldFilters // by field
	spans   []text.Span
}

// fieldFilters is what the filters on a field search for.
type fieldFilters struct {
	clauses  []Clause
	contains []*text.Substring
	prefixes []*text.Substring
}

// NewMarker returns a marker for a search, which may be nil, and conditions on fields.
func NewMarker(fields []herb.Field, search *Search, conditions []Condition) *Marker {
	m := &Marker{fields: fields, clauses: markedClauses(search), filters: map[int]*fieldFilters{}}
	for _, c := range conditions {
		if c.Op != OpMatch && (c.Op != OpContains && c.Op != OpPrefix || fields[c.Field].Type.IsScalar()) {
			continue
		}
		f := m.filters[c.Field]
		if f == nil {
			f = &fieldFilters{}
			m.filters[c.Field] = f
		}
		for _, o := range c.Values {
			switch c.Op {
			case OpMatch:
				f.clauses = append(f.clauses, markedClauses(o.Search)...)
			case OpContains:
				f.contains = append(f.contains, text.NewSubstring(o.Text))
			case OpPrefix:
				f.prefixes = append(f.prefixes, text.NewSubstring(o.Text))
			}
		}
	}
	return m
}

// NewMarker returns the marker of the request.
func (r *Request) NewMarker() *Marker { return NewMarker(r.fields, r.Search, r.Conditions) }

// markedClauses returns the clauses of a search that values contain.
func markedClauses(s *Search) (clauses []Clause) {
	if s == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Clauses), func(c Clause) bool { return c.Exclude || len(c.Words) == 0 })
}

// HasWords reports whether the search has words that are marked.
func (m *Marker) HasWords() bool { return len(m.clauses) > 0 }

// Marks reports whether values of a field can have marks.
func (m *Marker) Marks(field int) bool {
	return len(m.clauses) > 0 && m.fields[field].Searchable || m.filters[field] != nil
}

// Ranges returns the parts of a value of a field that match, in order and without overlaps.
func (m *Marker) Ranges(field int, value string) []text.Range { return m.ranges(field, value, false) }

// ElementRanges returns the parts of an element of a list that match.
func (m *Marker) ElementRanges(field int, element string) []text.Range {
	if !m.Marks(field) {
		return nil
	}
	return m.find(field, element, []text.Range{{End: len(element)}})
}

// ranges is Ranges of a value whose end may be cut off. A match that the rest could change is left
// out.
func (m *Marker) ranges(field int, value string, isCut bool) []text.Range {
	if value == "" || !m.Marks(field) {
		return nil
	}
	searched, elements := text.DeriveSearchText(&m.fields[field], value, isCut)
	found := m.find(field, string(searched.Text), elements)
	if n := len(found); isCut && n > 0 && found[n-1].End == len(searched.Text) {
		found = found[:n-1]
	}
	for i, r := range found {
		found[i] = searched.Origin(r)
	}
	return found
}

// find returns the parts of the text of a field that match. elements are those to which filters
// compare.
func (m *Marker) find(field int, s string, elements []text.Range) (found []text.Range) {
	var clauses []Clause
	if m.fields[field].Searchable {
		clauses = m.clauses
	}
	filters := m.filters[field]
	if filters == nil {
		return union(m.appendWords(nil, clauses, s))
	}
	found = m.appendWords(nil, slices.Concat(clauses, filters.clauses), s)
	for _, e := range elements {
		before := len(found)
		for _, prefix := range filters.prefixes {
			if r, ok := prefix.PrefixIn(s[e.Start:e.End]); ok {
				found = append(found, r)
			}
		}
		for _, part := range filters.contains {
			found = part.AppendRanges(found, s[e.Start:e.End])
		}
		for i := range found[before:] {
			found[before+i].Start += e.Start
			found[before+i].End += e.Start
		}
	}
	return union(found)
}

// union sorts ranges and joins those that overlap.
func union(ranges []text.Range) []text.Range {
	slices.SortFunc(ranges, func(a, b text.Range) int { return a.Start - b.Start })
	n := 0
	for _, r := range ranges {
		if n > 0 && r.Start < ranges[n-1].End {
			ranges[n-1].End = max(ranges[n-1].End, r.End)
			continue
		}
		ranges[n] = r
		n++
	}
	return ranges[:n]
}

// appendWords appends where the clauses of a search are: the longest one at each word.
func (m *Marker) appendWords(found []text.Range, clauses []Clause, s string) []text.Range {
	if len(clauses) == 0 {
		return found
	}
	m.spans = text.AppendSpans(m.spans[:0], s)
	for i := 0; i < len(m.spans); i++ {
		n := 0
		for k := range clauses {
			n = max(n, matchClause(&clauses[k], m.spans[i:]))
		}
		if n > 0 {
			found = append(found, text.Range{Start: m.spans[i].Start, End: m.spans[i+n-1].End})
			i += n - 1
		}
	}
	return found
}

// matchClause returns how many words at the start of spans are those of a clause; 0 if they are
// not.
func matchClause(c *Clause, spans []text.Span) int {
	if len(spans) < len(c.Words) {
		return 0
	}
	if slices.Contains(c.Forms, spans[0].Word) {
		return 1
	}
	for i, w := range c.Words {
		isPrefix := c.Prefix && i == len(c.Words)-1
		if spans[i].Word != w && !(isPrefix && strings.HasPrefix(spans[i].Word, w)) {
			return 0
		}
	}
	return len(c.Words)
}
