package fulltext

import (
	"maps"
	"slices"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// Statistics are the numbers of a dataset that scores depend on.
type Statistics struct {
	Records  int   // number of records
	Words    int   // number of words of all records
	DocFreqs []int // by clause, number of records that contain it
}

// Statistics returns those of the index for some clauses.
func (w *Index) Statistics(st *guard.Steps, clauses []*Clause) Statistics {
	s := Statistics{Records: w.lengths.Len(), Words: w.words, DocFreqs: make([]int, len(clauses))}
	for i, c := range clauses {
		s.DocFreqs[i] = c.DocFreq(st)
	}
	return s
}

// Scorer scores the records of a search and orders them by descending score, ties by number.
//
// A score depends only on record length and term frequencies, so many records have the same. A page is located by
// counting: the records by level, a rounded score, and then those on the levels of the page by exact score.
type Scorer struct {
	index   *Index
	steps   *guard.Steps
	clauses []*Clause
	idf     []float64
	average float64 // mean number of words per record
	best    float64 // upper bound of the scores
}

// NewScorer returns a scorer for the clauses of a search that are not excluded.
func (w *Index) NewScorer(st *guard.Steps, clauses []*Clause, stats Statistics) *Scorer {
	s := &Scorer{index: w, steps: st, clauses: clauses, average: float64(stats.Words) / float64(stats.Records)}
	for _, n := range stats.DocFreqs {
		idf := text.IDF(stats.Records, n)
		s.idf = append(s.idf, idf)
		s.best += idf * (text.BM25K1 + 1)
	}
	return s
}

// Page returns the records of a set at positions [from, to).
func (s *Scorer) Page(set *bitmap.Set, from, to int) []uint32 {
	if top, ok := s.top(set, to); ok {
		return top[from:]
	}
	levels := min(max(set.Len()/4, 1), 1<<12) // number of levels into which scores are rounded
	scale := float64(levels-1) / s.best
	all, counts, at := make([]uint16, set.Len()), make([]int, levels), 0
	s.each(set, func(_ []uint32, scores []float64) {
		part := all[at:][:len(scores)]
		for i, score := range scores {
			l := levels - 1 - min(int(score*scale), levels-1)
			part[i] = uint16(l)
			counts[l]++
		}
		at += len(scores)
	})
	first, last, before := levelsOf(counts, from, to)
	var records []uint32
	at = 0
	set.Each(s.steps, func(part []uint32) {
		for i, l := range all[at:][:len(part)] {
			if l >= first && l <= last {
				records = append(records, part[i])
			}
		}
		at += len(part)
	})
	return selectByScore(records, s.Scores(records), from-before, to-before)
}

// levelsOf returns the levels of positions [from, to), given the number of records on each, and the number of records on
// better levels.
func levelsOf(counts []int, from, to int) (first, last uint16, before int) {
	for before+counts[first] <= from {
		before += counts[first]
		first++
	}
	last = first
	for end := before + counts[first]; end < to; end += counts[last] {
		last++
	}
	return first, last, before
}

// selectByScore returns the records at positions [from, to), ordered by score. It counts the distinct scores, of which
// there are few.
func selectByScore(records []uint32, scores []float64, from, to int) []uint32 {
	next := map[float64]int{} // by score, the number of records; then the position of the next one
	for _, score := range scores {
		next[score]++
	}
	at := 0
	for _, score := range slices.Backward(slices.Sorted(maps.Keys(next))) {
		n := next[score]
		next[score] = at
		at += n
	}
	page := make([]uint32, to-from)
	for i, score := range scores {
		p := next[score]
		next[score]++
		if p >= from && p < to {
			page[p-from] = records[i]
		}
	}
	return page
}

// Scores returns the scores of ascending records that contain all clauses.
func (s *Scorer) Scores(records []uint32) (all []float64) {
	set := bitmap.ListSet(s.index.pool, records)
	s.each(set, func(_ []uint32, scores []float64) { all = append(all, scores...) })
	return all
}

// each calls f for the records of a set and their scores, some at a time. In a few records, it counts the clauses instead
// of reading all stored frequencies.
func (s *Scorer) each(set *bitmap.Set, f func(records []uint32, scores []float64)) {
	const countCost = 64 // reading so many stored frequencies takes as long as counting in a record
	maps := make([]*bitmap.ByteMap, len(s.clauses))
	for i, c := range s.clauses {
		if c.postings == nil || set.Len() > c.postings.freqs.Set(c.number).Len()/countCost {
			maps[i] = c.frequencies(s.steps)
		}
	}
	norms, scores, counts := make([]float64, bitmap.EachAtOnce), make([]float64, bitmap.EachAtOnce), make([]byte, bitmap.EachAtOnce)
	set.Each(s.steps, func(records []uint32) {
		s.steps.Add((len(s.clauses) - 1) * len(records))
		norms, scores, counts := norms[:len(records)], scores[:len(records)], counts[:len(records)]
		clear(scores)
		for i, rec := range records {
			norms[i] = text.Norm(int(s.index.lengths.At(int(rec))), s.average)
		}
		for c, m := range maps {
			if m != nil {
				m.Read(records, counts)
			}
			for i, count := range counts {
				n := int(count)
				if m == nil || count == MaxFrequency {
					n = s.clauses[c].pattern.count(records[i], 0)
				}
				scores[i] += text.NormScore(s.idf[c], n, norms[i])
			}
		}
		f(records, scores)
	})
}
