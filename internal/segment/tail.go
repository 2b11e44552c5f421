package segment

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/fulltext"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// Tail holds records in memory, which a Union lists after those of its segments. A request examines
// all of them, so they should be few. A Tail is immutable; Append and After return a new one.
type Tail struct {
	fields []herb.Field
	rows   []*tailRow
	words  int // of all rows
}

// tailRow is a record with everything that requests compare.
type tailRow struct {
	record herb.Record
	json   []byte
	keys   []column.SortKey // by field
	words  [][]string       // by field; nil if it is not searchable
	weight []int            // by field
	length int              // number of words, weighted
}

// NewTail returns an empty tail.
func NewTail(fields []herb.Field) Tail { return Tail{fields: fields} }

// Len returns the number of records.
func (t Tail) Len() int { return len(t.rows) }

// Records returns the records.
func (t Tail) Records() []herb.Record {
	records := make([]herb.Record, len(t.rows))
	for i, row := range t.rows {
		records[i] = row.record
	}
	return records
}

// After returns the tail without its first n records.
func (t Tail) After(n int) Tail {
	after := Tail{fields: t.fields, rows: slices.Clone(t.rows[n:])}
	for _, row := range after.rows {
		after.words += row.length
	}
	return after
}

// Append returns the tail with records after its own. Only the latest tail may be appended to,
// because tails share memory.
func (t Tail) Append(records ...herb.Record) (Tail, error) {
	for _, record := range records {
		row := &tailRow{
			record: record, json: record.AppendJSON(nil, t.fields), keys: make([]column.SortKey, len(t.fields)),
			words: make([][]string, len(t.fields)), weight: make([]int, len(t.fields)),
		}
		for i := range t.fields {
			f := &t.fields[i]
			key, ok := column.NewSortKey(f, record[i])
			if !ok {
				return t, herb.Invalidf("field %q has the value %q, which is not a %s", f.Name, record[i], f.Type)
			}
			row.keys[i] = key
			if f.Searchable {
				row.words[i], row.weight[i] = text.AppendWords(nil, text.SearchText(f, record[i])), max(f.Weight, 1)
				row.length += row.weight[i] * len(row.words[i])
			}
		}
		t.rows, t.words = append(t.rows, row), t.words+row.length
	}
	return t, nil
}

// statistics returns the collection statistics that the scores of a request depend on.
func (t Tail) statistics(st *guard.Steps, q *query.Request) fulltext.Statistics {
	stats := fulltext.Statistics{Records: t.Len(), Words: t.words}
	if !q.ByRelevance() {
		return stats
	}
	for _, c := range scoredClauses(q.Search) {
		n := 0
		for _, row := range t.rows {
			st.Add(1 + row.length)
			if row.count(c) > 0 {
				n++
			}
		}
		stats.DocFreqs = append(stats.DocFreqs, n)
	}
	return stats
}

func scoredClauses(s *query.Search) []query.Clause {
	return slices.DeleteFunc(slices.Clone(s.Clauses), func(c query.Clause) bool { return c.Exclude })
}

// matching returns the records that match a request, in dataset order.
func (t Tail) matching(st *guard.Steps, q *query.Request) []*tailRow {
	if len(q.Conditions) == 0 && q.Search == nil {
		return t.rows
	}
	var rows []*tailRow
	for _, row := range t.rows {
		st.Add(1 + row.length*clauseCount(q))
		if row.meets(t.fields, q.Conditions) && (q.Search == nil || row.contains(q.Search)) {
			rows = append(rows, row)
		}
	}
	return rows
}

// clauseCount returns the number of clauses whose words are compared with those of each record.
func clauseCount(q *query.Request) (n int) {
	if q.Search != nil {
		n = len(q.Search.Clauses)
	}
	for _, c := range q.Conditions {
		for _, o := range c.Values {
			if o.Search != nil {
				n += len(o.Search.Clauses)
			}
		}
	}
	return n
}

// match returns the records that match a request, in its order.
func (t Tail) match(st *guard.Steps, q *query.Request, stats fulltext.Statistics) *tailMatches {
	m := &tailMatches{rows: t.matching(st, q), sort: q.Sort}
	switch {
	case q.ByRelevance():
		m.scores = scoreRows(st, m.rows, scoredClauses(q.Search), stats)
	case len(q.Sort) == 0:
		return m // dataset order
	}
	m.rows = slices.Clone(m.rows)
	st.Add(len(m.rows) * bits.Len(uint(len(m.rows)))) // comparisons
	slices.SortStableFunc(m.rows, m.compare)
	return m
}

func scoreRows(st *guard.Steps, rows []*tailRow, clauses []query.Clause, stats fulltext.Statistics) map[*tailRow]float64 {
	scores, average := make(map[*tailRow]float64, len(rows)), float64(stats.Words)/float64(stats.Records)
	for _, row := range rows {
		st.Add(1 + row.length*len(clauses))
		score := 0.0
		for i, c := range clauses {
			score += text.Score(text.IDF(stats.Records, stats.DocFreqs[i]), row.count(c), row.length, average)
		}
		scores[row] = score
	}
	return scores
}

func (row *tailRow) meets(fields []herb.Field, conditions []query.Condition) bool {
	return !slices.ContainsFunc(conditions, func(c query.Condition) bool {
		matches := slices.ContainsFunc(c.Values, func(o query.Operand) bool {
			if c.Op == query.OpMatch {
				return satisfies(o.Search, func(clause query.Clause) bool { return row.countIn(c.Field, clause) > 0 })
			}
			return row.meetsOperand(&fields[c.Field], row.keys[c.Field], row.record[c.Field], c.Op, o)
		})
		return matches == (c.Op == query.OpNe)
	})
}

// meetsOperand compares a value with one operand of a condition. OpNe is treated as OpEq.
func (row *tailRow) meetsOperand(f *herb.Field, k column.SortKey, value string, op query.Op, o query.Operand) bool {
	equality, missing := op.IsEquality(), text.MissingRank(f, o.Text)
	switch {
	case k.Missing > 0 || equality && missing >= 0:
		return equality && missing+1 == k.Missing
	case equality && f.Type.IsScalar():
		return k.Key == o.Key
	case equality:
		return value == o.Text
	case op == query.OpContains:
		return text.NewSubstring(o.Text).IndexKey([]byte(k.Key), 0) >= 0
	}
	from, to := column.KeyRange(op, o)
	return k.Key >= from && k.Key < to
}

func (row *tailRow) contains(s *query.Search) bool {
	return satisfies(s, func(c query.Clause) bool { return row.count(c) > 0 })
}

// satisfies reports whether found holds for exactly those clauses of a search that are not
// excluded.
func satisfies(s *query.Search, found func(query.Clause) bool) bool {
	return len(s.Clauses) > 0 && !slices.ContainsFunc(s.Clauses, func(c query.Clause) bool { return found(c) == c.Exclude })
}

// count returns the number of occurrences of a clause in a record, weighted.
func (row *tailRow) count(c query.Clause) (n int) {
	for i := range row.words {
		n += row.weight[i] * row.countIn(i, c)
	}
	return n
}

// countIn returns the number of occurrences of a clause in a field.
func (row *tailRow) countIn(field int, c query.Clause) (n int) {
	words := row.words[field]
	for start := range len(words) - len(c.Words) + 1 {
		if startsWith(words[start:], c) {
			n++
		}
	}
	return n
}

// startsWith reports whether words, which are at least as many as those of a clause, start with the
// clause.
func startsWith(words []string, c query.Clause) bool {
	for i, want := range c.Words {
		if words[i] != want && !(c.Prefix && i == len(c.Words)-1 && strings.HasPrefix(words[i], want)) {
			return false
		}
	}
	return true
}

// tailMatches is the records of a tail that match a request.
type tailMatches struct {
	rows   []*tailRow
	sort   []query.SortField
	scores map[*tailRow]float64 // by relevance
}

// compare compares two records by the order of the request, without building their keys.
func (m *tailMatches) compare(a, b *tailRow) int {
	for _, f := range m.sort {
		if c := a.keys[f.Field].Compare(b.keys[f.Field], f.Desc); c != 0 {
			return c
		}
	}
	return cmp.Compare(m.scores[b], m.scores[a])
}

func (m *tailMatches) key(position int, _ uint32) sortKey {
	row := m.rows[position]
	k := sortKey{score: m.scores[row]}
	for _, f := range m.sort {
		k.fields = append(k.fields, row.keys[f.Field])
	}
	return k
}

func (m *tailMatches) len() int                    { return len(m.rows) }
func (m *tailMatches) record(number uint32) []byte { return m.rows[number].json }
func (m *tailMatches) dropRead(uint32)             {}
func (m *tailMatches) release()                    {}

// locate numbers the records by their positions.
func (m *tailMatches) locate(from, to int) []uint32 { return numbersBetween(from, to) }

func (m *tailMatches) countThrough(k sortKey) int {
	return sort.Search(len(m.rows), func(i int) bool { return m.key(i, 0).compare(k, m.sort) > 0 })
}
