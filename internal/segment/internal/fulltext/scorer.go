package fulltext

import (
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

// Add adds the statistics of other records for the same clauses.
func (s *Statistics) Add(other Statistics) {
	s.Records += other.Records
	s.Words += other.Words
	for i, n := range other.DocFreqs {
		s.DocFreqs[i] += n
	}
}

// Scorer scores the records of a search.
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

// Page returns the records of a set at positions [from, to) by descending score, ties by number.
func (s *Scorer) Page(set *bitmap.Set, from, to int) []uint32 {
	if top, ok := s.top(set, to); ok {
		return top[from:]
	}
	return s.Rank(set).Page(from, to)
}

// each calls f for the records of a set and their scores, some at a time. In a few records, it counts the clauses instead
// of reading all stored frequencies.
func (s *Scorer) each(set *bitmap.Set, f func(records []uint32, scores []float64)) {
	maps := make([]*bitmap.ByteMap, len(s.clauses))
	for i, c := range s.clauses {
		if c.readsFrequencies(set.Len()) {
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
