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
// is read once, and memory is bounded by the largest clause, 16 bytes a posting. A database asked to do the same with
// subqueries looks every plant up again in each clause, and builds temporary tables of all of them.

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

// plantSet is a set of plants, or with negated all plants but those.
type plantSet struct {
	seqs    []int64 // ascending
	negated bool
}

// size returns how many of all plants are in the set.
func (s plantSet) size(plants int) int {
	if s.negated {
		return plants - len(s.seqs)
	}
	return len(s.seqs)
}

// condition returns the condition that a plant is in the set.
func (s plantSet) condition(q Querier) (fragment, error) {
	switch {
	case len(s.seqs) == 0 && s.negated:
		return always, nil
	case len(s.seqs) == 0:
		return never, nil
	}
	list, err := json.Marshal(s.seqs)
	if err != nil {
		return fragment{}, err
	}
	in := "IN"
	if s.negated {
		in = "NOT IN"
	}
	return fragment{"seq " + in + " (" + q.ArrayElements() + ")", []any{string(list)}}, nil
}

// maxLookups is the number of plants up to which they are looked up one by one in the postings of a clause instead of
// reading all of its postings.
const maxLookups = 100

// packedWords exceeds the number of words of a plant, whose name and tag have at most 510 characters.
const packedWords = 1024

// match returns the plants that match the search, in creation order. scored computes their scores.
func (l *lister) match(ctx context.Context, scored bool) (_ []candidate, all plantSet, err error) {
	var found []candidate
	var excluded []query.Clause
	included := 0
	clauses := l.r.Search.Clauses
	if !scored { // whole words first: they match fewer plants than prefixes, mostly
		clauses = slices.Clone(clauses)
		slices.SortStableFunc(clauses, func(a, b query.Clause) int { return cmp.Compare(prefixes(a), prefixes(b)) })
	}
	for _, c := range clauses {
		if c.Exclude {
			excluded = append(excluded, c)
			continue
		}
		var among []candidate
		if included > 0 && !scored { // the score depends on how many plants match in all
			among = found
		}
		postings, err := l.postings(ctx, c, among)
		if err != nil {
			return nil, plantSet{}, err
		}
		score := func(posting) float64 { return 0 }
		if scored {
			idf, average := text.IDF(l.plants, len(postings)), float64(l.words)/float64(l.plants)
			score = func(p posting) float64 { return text.Score(idf, int(p.times), int(p.words), average) }
		}
		if found = intersect(found, postings, score, included == 0); len(found) == 0 {
			return nil, plantSet{}, nil
		}
		included++
	}
	var without []int64
	for _, c := range excluded {
		var among []candidate
		if included > 0 {
			among = found
		}
		postings, err := l.postings(ctx, c, among)
		if err != nil {
			return nil, plantSet{}, err
		}
		if included > 0 {
			found = subtract(found, postings)
			continue
		}
		for _, p := range postings {
			without = append(without, p.seq)
		}
	}
	if included == 0 {
		slices.Sort(without)
		return nil, plantSet{seqs: slices.Compact(without), negated: true}, nil
	}
	return found, setOf(found), nil
}

// prefixes returns how many words of a clause are prefixes.
func prefixes(c query.Clause) int {
	if c.Prefix {
		return 1
	}
	return 0
}

func setOf(found []candidate) plantSet {
	seqs := make([]int64, len(found))
	for i, c := range found {
		seqs[i] = c.seq
	}
	return plantSet{seqs: seqs}
}

// intersect keeps the candidates that a clause matches, and adds its score. The first clause makes the candidates.
func intersect(found []candidate, postings []posting, score func(posting) float64, first bool) []candidate {
	if first {
		found = make([]candidate, len(postings))
		for i, p := range postings {
			found[i] = candidate{p.seq, score(p)}
		}
		return found
	}
	kept, i := found[:0], 0
	for _, c := range found {
		for i < len(postings) && postings[i].seq < c.seq {
			i++
		}
		if i < len(postings) && postings[i].seq == c.seq {
			c.score += score(postings[i])
			kept = append(kept, c)
		}
	}
	return kept
}

// subtract drops the candidates that a clause matches.
func subtract(found []candidate, postings []posting) []candidate {
	kept, i := found[:0], 0
	for _, c := range found {
		for i < len(postings) && postings[i].seq < c.seq {
			i++
		}
		if i == len(postings) || postings[i].seq != c.seq {
			kept = append(kept, c)
		}
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
	occurrences := occurrences(c, only)
	var all []posting
	sorted := true
	// A single column scanned into an any is several times as fast as two scanned into integers.
	var packed any
	dest := []any{&packed}
	statement := fragment{fmt.Sprintf("SELECT w0.seq * %d + w0.words", packedWords) + occurrences.sql, occurrences.args}
	err := l.rows(ctx, statement, func(rows *sql.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		n := packed.(int64)
		p := posting{seq: n / packedWords, words: int32(n % packedWords), times: 1}
		switch n := len(all); {
		case n > 0 && all[n-1].seq == p.seq:
			all[n-1].times++
		default:
			sorted = sorted && (n == 0 || all[n-1].seq < p.seq)
			all = append(all, p)
		}
		return nil
	})
	if err != nil || sorted {
		return all, err
	}
	slices.SortFunc(all, func(a, b posting) int { return cmp.Compare(a.seq, b.seq) })
	merged := all[:1]
	for _, p := range all[1:] {
		if last := &merged[len(merged)-1]; last.seq == p.seq {
			last.times += p.times
			continue
		}
		merged = append(merged, p)
	}
	return merged, nil
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

// search returns the number of plants that match a request with a search, and the seqs of the page.
func (l *lister) search(ctx context.Context) (total int, seqs []int64, err error) {
	ranked, where, total, err := l.resolveSearch(ctx)
	if err != nil {
		return 0, nil, err
	}
	from, to := l.pageBounds(total)
	switch {
	case from == to:
		return total, nil, nil
	case ranked != nil:
		return total, ranked[from:to], nil
	}
	page := l.inOrder(where)
	page.sql += " LIMIT ? OFFSET ?"
	page.args = append(page.args, to-from, from)
	seqs, err = l.numbers(ctx, page)
	return total, seqs, err
}

// resolveSearch returns the matches of a search: the seqs of all plants, best first, if sorted by relevance, and otherwise a
// condition for them.
func (l *lister) resolveSearch(ctx context.Context) (ranked []int64, where fragment, total int, err error) {
	found, set, err := l.match(ctx, l.r.ByRelevance())
	if err != nil || set.size(l.plants) == 0 {
		return nil, never, 0, err
	}
	in, err := set.condition(l.q)
	if err != nil {
		return nil, never, 0, err
	}
	where, total = and(l.filter, in), set.size(l.plants)
	byRelevance := l.r.ByRelevance() && !set.negated
	if l.filter.sql != always.sql {
		if !byRelevance {
			total, err = l.count(ctx, where)
			return nil, where, total, err
		}
		kept, err := l.numbers(ctx, fragment{"SELECT seq FROM plants WHERE " + where.sql, where.args})
		if err != nil {
			return nil, never, 0, err
		}
		slices.Sort(kept)
		found = slices.DeleteFunc(found, func(c candidate) bool {
			_, ok := slices.BinarySearch(kept, c.seq)
			return !ok
		})
		total = len(found)
	}
	if !byRelevance {
		return nil, where, total, nil
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.seq, b.seq))
	})
	return setOf(found).seqs, where, total, nil
}
