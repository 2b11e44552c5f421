package fulltext

import (
	"math"
	"slices"
	"sort"

	"herbarium/internal/segment/internal/bitmap"
)

// Ranking is the records of a set by descending score, ties by number.
//
// A score depends only on record length and term frequencies, so many records have the same. Records are counted by
// level, a rounded score, to locate a position. Most levels have a single score: their records rank by number. Only the
// records of mixed levels are scored again and sorted.
type Ranking struct {
	scorer *Scorer
	set    *bitmap.Set
	scale  float64
	levels []uint16         // by record of the set
	counts []level          // by level, best first
	sorted map[int][]scored // by mixed level, its records in order; computed on demand
}

// level counts the records on a level.
type level struct {
	score   float64 // of the first record
	differs uint64  // bits in which the scores of other records differ
	end     int     // number of records on this and better levels
}

// mixed reports whether records on the level have different scores.
func (l *level) mixed() bool { return l.differs != 0 }

// Rank ranks the records of a set, which must remain unchanged.
func (s *Scorer) Rank(set *bitmap.Set) *Ranking {
	n := min(max(set.Len()/4, 1), 1<<14) // number of levels
	r := &Ranking{
		scorer: s, set: set, scale: float64(n-1) / s.best, sorted: map[int][]scored{},
		levels: make([]uint16, set.Len()), counts: make([]level, n),
	}
	at := 0
	s.each(set, func(_ []uint32, scores []float64) {
		levels := r.levels[at:][:len(scores)]
		for i, score := range scores {
			l := r.level(score)
			levels[i] = uint16(l)
			level := &r.counts[l]
			if level.end == 0 {
				level.score = score
			}
			level.differs |= math.Float64bits(level.score) ^ math.Float64bits(score) // a branch would be unpredictable
			level.end++
		}
		at += len(scores)
	})
	for i := range r.counts[1:] {
		r.counts[i+1].end += r.counts[i].end
	}
	return r
}

// level returns the level of a score.
func (r *Ranking) level(score float64) int {
	if score >= r.scorer.best {
		return 0
	}
	return len(r.counts) - 1 - int(score*r.scale)
}

// at returns the level of the record at a position.
func (r *Ranking) at(i int) int {
	return sort.Search(len(r.counts), func(l int) bool { return r.counts[l].end > i })
}

// start returns the number of records on better levels.
func (r *Ranking) start(level int) int {
	if level == 0 {
		return 0
	}
	return r.counts[level-1].end
}

// eachOn calls f for the records on levels first to last, by number.
func (r *Ranking) eachOn(first, last int, f func(level int, record uint32)) {
	at, found := 0, make([]int, bitmap.EachAtOnce)
	r.set.Each(r.scorer.steps, func(records []uint32) {
		levels, n := r.levels[at:][:len(records)], 0
		for i, l := range levels { // without a branch, which would be unpredictable
			found[n] = i
			if uint(l)-uint(first) <= uint(last-first) {
				n++
			}
		}
		for _, i := range found[:n] {
			f(int(levels[i]), records[i])
		}
		at += len(records)
	})
}

// Page returns the records at positions [from, to).
func (r *Ranking) Page(from, to int) []uint32 {
	first, last := r.at(from), r.at(to-1)
	next := make([]int, last-first+1) // by level, the position of its next record
	for i := range next {
		next[i] = r.start(first + i)
	}
	page := make([]uint32, to-from)
	place := func(level int, record uint32) {
		if p := next[level-first]; p >= from && p < to {
			page[p-from] = record
		}
		next[level-first]++
	}
	var mixed []uint32
	r.eachOn(first, last, func(level int, record uint32) {
		if r.counts[level].mixed() {
			mixed = append(mixed, record)
			return
		}
		place(level, record)
	})
	for _, s := range r.scorer.sort(mixed) {
		place(r.level(s.score), s.record)
	}
	return page
}

// sortedOn returns the records of a mixed level in order.
func (r *Ranking) sortedOn(level int) []scored {
	all, ok := r.sorted[level]
	if !ok {
		var records []uint32
		r.eachOn(level, level, func(_ int, record uint32) { records = append(records, record) })
		all = r.scorer.sort(records)
		r.sorted[level] = all
	}
	return all
}

// Score returns the score of the record at a position.
func (r *Ranking) Score(i int) float64 {
	level := r.at(i)
	if r.counts[level].mixed() {
		return r.sortedOn(level)[i-r.start(level)].score
	}
	return r.counts[level].score
}

// CountThrough returns the number of records with at least a score.
func (r *Ranking) CountThrough(score float64) int {
	level := r.level(score)
	switch {
	case r.counts[level].mixed():
		all := r.sortedOn(level)
		return r.start(level) + sort.Search(len(all), func(i int) bool { return all[i].score < score })
	case r.counts[level].score >= score:
		return r.counts[level].end
	default:
		return r.start(level)
	}
}

// sort returns ascending records that contain all clauses by descending score, ties by number.
func (s *Scorer) sort(records []uint32) []scored {
	all := make([]scored, 0, len(records))
	s.each(bitmap.ListSet(s.index.pool, records), func(records []uint32, scores []float64) {
		for i, rec := range records {
			all = append(all, scored{scores[i], rec})
		}
	})
	slices.SortFunc(all, better)
	return all
}
