package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/query"
	"herbarium/internal/text"
)

// A search reads the postings of one clause after the other from the index of words and intersects them here: each posting
// is read once, and memory is bounded by the largest clause, 24 bytes a posting. A database that does the same with
// subqueries looks up every plant again in each clause, and builds temporary tables of all of them.

// posting is a plant that a clause matches.
type posting struct {
	seq   int64
	times int32 // occurrences of the clause
	words int32 // of the plant
}

// candidate is a plant that has met all clauses so far.
type candidate struct {
	seq   int64
	score float64 // zero unless the order is by relevance
}

// matches is the result of a search: the candidates, or all other plants if every clause excludes.
type matches struct {
	plants  []candidate // in creation order
	negated bool
}

// total returns how many of all plants match.
func (m matches) total(plants int) int {
	if m.negated {
		return plants - len(m.plants)
	}
	return len(m.plants)
}

// condition returns the condition that a plant matches.
func (m matches) condition(q Querier) fragment {
	list, _ := json.Marshal(seqsOf(m.plants)) // integers always have an encoding
	in := "IN"
	if m.negated {
		in = "NOT IN"
	}
	return fragment{"seq " + in + " (" + q.ArrayElements() + ")", []any{string(list)}}
}

// maxLookups is the number of plants up to which they are looked up one by one in the postings of a clause instead of
// reading all of its postings.
const maxLookups = 100

// packedWords exceeds the number of words of a plant, whose name and tag have at most 510 characters.
const packedWords = 1024

// match returns the plants that match the search. scored computes their scores.
func (l *lister) match(ctx context.Context, scored bool) (m matches, err error) {
	clauses := slices.Clone(l.r.Search.Clauses)
	slices.SortStableFunc(clauses, func(a, b query.Clause) int { return cmp.Compare(rank(a, scored), rank(b, scored)) })
	m.negated = clauses[0].Exclude
	for i, c := range clauses {
		var among []candidate
		if !m.negated && (!scored || c.Exclude) { // a score depends on how many plants match the clause in all
			among = m.plants
		}
		postings, err := l.postings(ctx, c, among)
		if err != nil {
			return matches{}, err
		}
		score := func(posting) float64 { return 0 }
		if scored && !c.Exclude {
			idf, average := text.IDF(l.plants, len(postings)), float64(l.words)/float64(l.plants)
			score = func(p posting) float64 { return text.Score(idf, int(p.times), int(p.words), average) }
		}
		if i > 0 && !m.negated {
			m.plants = restrict(m.plants, postings, c.Exclude, score)
		} else {
			for _, p := range postings {
				m.plants = append(m.plants, candidate{p.seq, score(p)})
			}
		}
		if !m.negated && len(m.plants) == 0 {
			return matches{}, nil
		}
	}
	if m.negated {
		slices.SortFunc(m.plants, func(a, b candidate) int { return cmp.Compare(a.seq, b.seq) })
		m.plants = slices.Compact(m.plants) // scores are zero
	}
	return m, nil
}

// rank orders clauses: exclusions last, and prefixes after words, which mostly match fewer plants. Clauses that are scored
// keep their order, because the sum of floating-point scores depends on it.
func rank(c query.Clause, scored bool) int {
	switch {
	case c.Exclude:
		return 2
	case c.Prefix && !scored:
		return 1
	}
	return 0
}

// restrict keeps the candidates that a clause matches, with its score added, or those that it does not match.
func restrict(plants []candidate, postings []posting, exclude bool, score func(posting) float64) []candidate {
	kept, i := plants[:0], 0
	for _, c := range plants {
		for i < len(postings) && postings[i].seq < c.seq {
			i++
		}
		if matched := i < len(postings) && postings[i].seq == c.seq; matched == exclude {
			continue
		}
		if !exclude {
			c.score += score(postings[i])
		}
		kept = append(kept, c)
	}
	return kept
}

// postings returns the plants that a clause matches, in creation order: all of them, or at least those in among if these are
// few.
func (l *lister) postings(ctx context.Context, c query.Clause, among []candidate) ([]posting, error) {
	var only []any
	if len(among) <= maxLookups {
		for _, a := range among {
			only = append(only, a.seq)
		}
	}
	// A single column scanned into an any is several times as fast as two scanned into integers.
	var column any
	dest := []any{&column}
	f := occurrences(c, only).prefixed(fmt.Sprintf("SELECT w0.seq * %d + w0.words", packedWords))
	packed, err := collect(ctx, l.q, func(rows *sql.Rows) (int64, error) {
		err := rows.Scan(dest...)
		n, _ := column.(int64)
		return n, err
	}, f.sql, f.args...)
	slices.Sort(packed) // linear if the index has returned them in order
	var all []posting
	for _, n := range packed {
		p := posting{seq: n / packedWords, words: int32(n % packedWords), times: 1}
		if last := len(all) - 1; last >= 0 && all[last].seq == p.seq {
			all[last].times++
			continue
		}
		all = append(all, p)
	}
	return all, err
}

// occurrences returns a FROM and WHERE over the words in which every row is one occurrence of the clause, beginning with
// w0. only limits it to some plants; empty means all plants.
func occurrences(c query.Clause, only []any) fragment {
	var from strings.Builder
	from.WriteString(" FROM plant_words w0")
	var conditions []fragment
	if len(only) > 0 {
		conditions = append(conditions, oneOf("w0.seq", only))
	}
	for i, word := range c.Words {
		column := fmt.Sprintf("w%d.word", i)
		if c.Prefix && i == len(c.Words)-1 {
			conditions = append(conditions, startsWith(column, word))
		} else {
			conditions = append(conditions, fragment{column + " = ?", []any{word}})
		}
		if i > 0 {
			// SQLite takes CROSS JOIN as the join order: each word is looked up by its position after the first.
			fmt.Fprintf(&from, " CROSS JOIN plant_words w%d", i)
			conditions = append(conditions, fragment{
				fmt.Sprintf("w%[1]d.seq = w0.seq AND w%[1]d.field = w0.field AND w%[1]d.pos = w0.pos + %[1]d", i), nil,
			})
		}
	}
	where := and(conditions...)
	return fragment{from.String() + " WHERE " + where.sql, where.args}
}

// resolveSearch returns the matches of a search: the seqs of all plants, best first, if sorted by relevance, and otherwise a
// condition for them.
func (l *lister) resolveSearch(ctx context.Context) (ranked []int64, where fragment, total int, err error) {
	if len(l.r.Search.Clauses) == 0 {
		return nil, never, 0, nil
	}
	m, err := l.match(ctx, l.r.ByRelevance())
	if total = m.total(l.plants); err != nil || total == 0 {
		return nil, never, 0, err
	}
	where = and(l.filter, m.condition(l.q))
	byRelevance, filtered := l.r.ByRelevance() && !m.negated, l.filter.sql != always.sql
	switch {
	case !byRelevance && filtered:
		total, err = l.count(ctx, where)
		return nil, where, total, err
	case !byRelevance:
		return nil, where, total, nil
	case filtered:
		kept, err := l.numbers(ctx, where.prefixed("SELECT seq FROM plants WHERE "))
		if err != nil {
			return nil, never, 0, err
		}
		slices.Sort(kept)
		m.plants = slices.DeleteFunc(m.plants, func(c candidate) bool {
			_, ok := slices.BinarySearch(kept, c.seq)
			return !ok
		})
	}
	slices.SortFunc(m.plants, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.seq, b.seq))
	})
	return seqsOf(m.plants), where, len(m.plants), nil
}
