package fulltext

import (
	"maps"
	"math"
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
	var c scoreCounter
	s.each(set, func(_ []uint32, scores []float64) {
		for _, score := range scores {
			c.add(score)
		}
	})
	counts := c.counts()
	r := &Ranking{scorer: s, set: set, scores: slices.Sorted(maps.Keys(counts))}
	slices.Reverse(r.scores)
	n := 0
	for _, score := range r.scores {
		n += counts[score]
		r.ends = append(r.ends, n)
	}
	return r
}

// scoreCounter counts scores. Most records have one of few, which it counts in a small table.
type scoreCounter struct {
	frequent [256]struct {
		score float64
		n     int
	}
	other map[float64]int
}

func (c *scoreCounter) add(score float64) {
	const spread = 0x9E3779B97F4A7C15 // odd, for a multiplicative hash
	e := &c.frequent[math.Float64bits(score)*spread>>56]
	switch {
	case e.score == score:
		e.n++
	case e.n == 0:
		e.score, e.n = score, 1
	default:
		if c.other == nil {
			c.other = map[float64]int{}
		}
		c.other[score]++
	}
}

// counts returns the number of each score.
func (c *scoreCounter) counts() map[float64]int {
	all := map[float64]int{}
	maps.Copy(all, c.other)
	for _, e := range c.frequent {
		if e.n > 0 {
			all[e.score] += e.n
		}
	}
	return all
}

// at returns the index of the score of the record at a position.
func (r *Ranking) at(i int) int { return sort.SearchInts(r.ends, i+1) }

// Score returns the score of the record at a position.
func (r *Ranking) Score(i int) float64 { return r.scores[r.at(i)] }

// Page returns the records at positions [from, to).
func (r *Ranking) Page(from, to int) []uint32 {
	first, last := r.at(from), r.at(to-1)
	next := make([]int, last-first+1) // by score on the page, the position of the next record
	for i := range next {
		if first+i > 0 {
			next[i] = r.ends[first+i-1]
		}
	}
	page := make([]uint32, to-from)
	best, worst := r.scores[first], r.scores[last]
	r.scorer.each(r.set, func(records []uint32, scores []float64) {
		for i, score := range scores {
			if score > best || score < worst {
				continue
			}
			k := sort.Search(len(next)-1, func(k int) bool { return r.scores[first+k] <= score })
			if next[k] >= from && next[k] < to {
				page[next[k]-from] = records[i]
			}
			next[k]++
		}
	})
	return page
}

// CountThrough returns the number of records with at least a score.
func (r *Ranking) CountThrough(score float64) int {
	i := sort.Search(len(r.scores), func(i int) bool { return r.scores[i] < score })
	if i == 0 {
		return 0
	}
	return r.ends[i-1]
}
