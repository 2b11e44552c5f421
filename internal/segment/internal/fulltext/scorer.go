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
	tables  []scoreTable
}

// scoreTable contains the scores of one clause by frequency and record length, of records with low ones.
type scoreTable [8][256]float64

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

// tabulate computes the tables of scores, which take as long as scoring a few thousand records.
func (s *Scorer) tabulate() {
	s.tables = make([]scoreTable, len(s.clauses))
	for words := range s.tables[0][0] {
		norm := text.Norm(words, s.average)
		for c := range s.tables {
			for count := range s.tables[c] {
				s.tables[c][count][words] = text.NormScore(s.idf[c], count, norm)
			}
		}
	}
}

// Page returns the records of a set at positions [from, to).
func (s *Scorer) Page(set *bitmap.Set, from, to int) []uint32 {
	if top, ok := s.top(set, to); ok {
		return top[from:]
	}
	levels := 1 << 8 // number of levels into which scores are rounded
	if set.Len() > manyRecords {
		levels = 1 << 12
	}
	scale := float64(levels-1) / s.best
	all, counts := make([]uint16, 0, set.Len()), make([]int, levels)
	s.each(set, func(_ []uint32, scores []float64) {
		for _, score := range scores {
			l := levels - 1 - min(int(score*scale), levels-1)
			all = append(all, uint16(l))
			counts[l]++
		}
	})
	first, last, before := levelsOf(counts, from, to)
	var records []uint32
	set.Each(s.steps, func(part []uint32) {
		for i, l := range all[:len(part)] {
			if l >= first && l <= last {
				records = append(records, part[i])
			}
		}
		all = all[len(part):]
	})
	return selectByScore(records, s.Scores(records), from-before, to-before)
}

// manyRecords is the number of records from which precomputed scores save time.
const manyRecords = 1 << 13

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

// CountBetter returns the number of records of a set with a score above the given one.
func (s *Scorer) CountBetter(set *bitmap.Set, score float64) (n int) {
	s.each(set, func(_ []uint32, scores []float64) {
		for _, other := range scores {
			if other > score {
				n++
			}
		}
	})
	return n
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

// each calls f for the records of a set and their scores, some at a time.
func (s *Scorer) each(set *bitmap.Set, f func(records []uint32, scores []float64)) {
	readers := make([]frequencyReader, len(s.clauses))
	for i, c := range s.clauses {
		readers[i] = c.frequencies(s.steps)
	}
	if s.tables == nil && set.Len() > manyRecords {
		s.tabulate()
	}
	const atOnce = bitmap.EachAtOnce
	lengths, scores, counts := make([]int, atOnce), make([]float64, atOnce), make([]byte, atOnce)
	set.Each(s.steps, func(records []uint32) {
		s.steps.Add(len(s.clauses) * len(records))
		lengths, scores, counts := lengths[:len(records)], scores[:len(records)], counts[:len(records)]
		clear(scores)
		for i, rec := range records {
			lengths[i] = int(s.index.lengths.At(int(rec)))
		}
		for c, reader := range readers {
			for i := range counts {
				counts[i] = 1
			}
			reader.Read(records, counts)
			s.add(c, records, counts, lengths, scores)
		}
		f(records, scores)
	})
}

// add adds the scores of a clause, given its frequencies and the lengths of the records.
func (s *Scorer) add(c int, records []uint32, counts []byte, lengths []int, scores []float64) {
	if s.tables == nil {
		for i, count := range counts {
			scores[i] += s.score(c, records[i], count, lengths[i])
		}
		return
	}
	table := &s.tables[c]
	for i, count := range counts {
		if length := lengths[i]; int(count) < len(table) && length < len(table[0]) {
			scores[i] += table[count][length]
		} else {
			scores[i] += s.score(c, records[i], count, length)
		}
	}
}

// score returns the score of a clause in a record, given its stored frequency and the length of the record.
func (s *Scorer) score(c int, record uint32, count byte, length int) float64 {
	n := int(count)
	if count == MaxFrequency {
		n = s.clauses[c].pattern.count(record, 0)
	}
	return text.Score(s.idf[c], n, length, s.average)
}
