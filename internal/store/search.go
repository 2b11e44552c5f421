package store

import (
	"fmt"
	"strings"

	"herbarium/internal/query"
	"herbarium/internal/text"
)

// A search is led by the clause that is likely to match fewest plants: its words are read from the index of words. All
// others are looked up for each plant that the leader finds, by word and plant or, where the word may go on, by plant.

// occurrences returns a FROM and WHERE over the words in which every row is one occurrence of the clause, beginning with
// w0. of names a column with the number of the only plant to look at; empty means all plants.
func occurrences(c query.Clause, of string) fragment {
	var from strings.Builder
	from.WriteString(" FROM plant_words w0")
	var conditions []fragment
	if of != "" {
		conditions = append(conditions, fragment{sql: "w0.seq = " + of})
	}
	for i, word := range c.Words {
		column := fmt.Sprintf("w%d.word", i)
		if c.Prefix && i == len(c.Words)-1 {
			conditions = append(conditions, startsWith(column, word))
		} else {
			conditions = append(conditions, fragment{column + " = ?", []any{word}})
		}
		if i > 0 {
			// SQLite takes CROSS JOIN as the order to look things up: each word by its place behind the first.
			fmt.Fprintf(&from, " CROSS JOIN plant_words w%d", i)
			conditions = append(conditions, fragment{
				fmt.Sprintf("w%[1]d.seq = w0.seq AND w%[1]d.field = w0.field AND w%[1]d.pos = w0.pos + %[1]d", i), nil,
			})
		}
	}
	where := and(conditions...)
	return fragment{from.String() + " WHERE " + where.sql, where.args}
}

// searched is a search that is to be looked up.
type searched struct {
	include []query.Clause
	exclude []query.Clause
	leader  int // position in include, if there is any
}

// contains returns the condition that a plant meets the search: it has all the words, and none of those excluded.
func (s searched) contains() fragment {
	var conditions []fragment
	for i, c := range s.include {
		if i == s.leader {
			found := occurrences(c, "")
			conditions = append(conditions, fragment{"seq IN (SELECT w0.seq" + found.sql + ")", found.args})
			continue
		}
		found := occurrences(c, "plants.seq")
		conditions = append(conditions, fragment{"EXISTS (SELECT 1" + found.sql + ")", found.args})
	}
	return and(append(conditions, s.excludes())...)
}

// excludes returns the condition that a plant has none of the words excluded.
func (s searched) excludes() fragment {
	var conditions []fragment
	for _, c := range s.exclude {
		if len(s.include) == 0 { // nearly all plants are found: reading the few others first is faster
			found := occurrences(c, "")
			conditions = append(conditions, fragment{"seq NOT IN (SELECT w0.seq" + found.sql + ")", found.args})
			continue
		}
		found := occurrences(c, "plants.seq")
		conditions = append(conditions, fragment{"NOT EXISTS (SELECT 1" + found.sql + ")", found.args})
	}
	return and(conditions...)
}

// ranked returns the numbers of the plants that meet the search, the best first, as a SELECT without LIMIT. idf holds the
// weight of each clause included, of which there is at least one. filter is what else a plant must meet.
//
// The score is text.Score written in SQL: the same operations in the same order, on the same bits.
func (s searched) ranked(idf []float64, average float64, filter fragment) fragment {
	const (
		number = "CAST(? AS DOUBLE PRECISION)"
		times  = "CAST(n%[1]d AS DOUBLE PRECISION)"
		words  = "CAST(words AS DOUBLE PRECISION)"
		// Its values: weight, k1+1, k1, 1-b, b, average.
		score = number + " * ((" + times + " * " + number + ") / (" + times + " + " +
			number + " * (" + number + " + (" + number + " * " + words + ") / " + number + ")))"
	)
	lead := occurrences(s.include[s.leader], "")
	columns, scores := make([]string, len(s.include)), make([]string, len(s.include))
	var columnArgs, scoreArgs []any
	var met []fragment
	for i, c := range s.include {
		columns[i] = fmt.Sprintf("lead.n AS n%d", i)
		if i != s.leader {
			count := occurrences(c, "lead.seq")
			columns[i] = fmt.Sprintf("(SELECT count(*)%s) AS n%d", count.sql, i)
			columnArgs = append(columnArgs, count.args...)
			met = append(met, fragment{sql: fmt.Sprintf("n%d > 0", i)})
		}
		scores[i] = fmt.Sprintf(score, i)
		scoreArgs = append(scoreArgs, idf[i], text.BM25K1+1, text.BM25K1, 1-text.BM25B, text.BM25B, average)
	}
	found := fragment{
		"SELECT lead.seq AS seq, lead.words AS words, " + strings.Join(columns, ", ") +
			" FROM (SELECT w0.seq AS seq, count(*) AS n, min(w0.words) AS words" + lead.sql + " GROUP BY w0.seq) lead",
		append(columnArgs, lead.args...),
	}
	if rest := and(filter, s.excludes()); rest.sql != always.sql {
		found.sql += " JOIN plants ON plants.seq = lead.seq WHERE " + rest.sql
		found.args = append(found.args, rest.args...)
	}
	materialized := ""
	if len(s.include) > 1 { // or else each count would be made anew wherever it is named
		materialized = "MATERIALIZED "
	}
	return fragment{
		"WITH found AS " + materialized + "(" + found.sql + ") SELECT seq FROM found WHERE " + and(met...).sql +
			" ORDER BY " + strings.Join(scores, " + ") + " DESC, seq",
		append(found.args, scoreArgs...),
	}
}
