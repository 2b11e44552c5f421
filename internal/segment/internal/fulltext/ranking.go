package fulltext

import (
	"maps"
	"slices"
	"sort"

	"herbarium/internal/segment/internal/bitmap"
)

// Add adds the statistics of other records for the same clauses.
func (s *Statistics) Add(other Statistics) {
	s.Records += other.Records
	s.Words += other.Words
	for i, n := range other.DocFreqs {
		s.DocFreqs[i] += n
	}
}

// Ranking is the records of a set by descending score, ties by number. Few records have a score that no other has, so it
// counts the records by score.
type Ranking struct {
	scorer *Scorer
	set    *bitmap.Set
	scores []float64 // distinct, in descending order
	ends   []int     // by score, the number of records with at least that
}

// Rank ranks the records of a set.
func (s *Scorer) Rank(set *bitmap.Set) *Ranking {
	counts := map[float64]int{}
	s.each(set, func(_ []uint32, scores []float64) {
		for _, score := range scores {
			counts[score]++
		}
	})
	r := &Ranking{scorer: s, set: set, scores: slices.Sorted(maps.Keys(counts))}
	slices.Reverse(r.scores)
	n := 0
	for _, score := range r.scores {
		n += counts[score]
		r.ends = append(r.ends, n)
	}
	return r
}

// at returns the index of the score of the record at a position.
func (r *Ranking) at(i int) int { return sort.SearchInts(r.ends, i+1) }

// Score returns the score of the record at a position.
func (r *Ranking) Score(i int) float64 { return r.scores[r.at(i)] }

// Page returns the records at positions [from, to).
func (r *Ranking) Page(from, to int) []uint32 {
	first, before := r.at(from), 0
	if first > 0 {
		before = r.ends[first-1]
	}
	best, worst := r.scores[first], r.Score(to-1)
	var records []uint32
	var all []float64
	r.scorer.each(r.set, func(part []uint32, scores []float64) {
		for i, score := range scores {
			if score <= best && score >= worst {
				records, all = append(records, part[i]), append(all, score)
			}
		}
	})
	return selectByScore(records, all, from-before, to-before)
}

// CountThrough returns the number of records with at least a score.
func (r *Ranking) CountThrough(score float64) int {
	i := sort.Search(len(r.scores), func(i int) bool { return r.scores[i] < score })
	if i == 0 {
		return 0
	}
	return r.ends[i-1]
}
