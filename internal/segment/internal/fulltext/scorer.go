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

// frequencies maps records to the frequencies of each clause, up to MaxFrequency.
type frequencies []bitmap.ByteMap

// frequencies returns the frequencies of all clauses, of which those in about n records are read.
func (s *Scorer) frequencies(n int) frequencies {
	all, buf := make(frequencies, len(s.clauses)), new(bitmap.ContainerBytes)
	for i, c := range s.clauses {
		all[i] = c.frequencies(s.steps, n, buf)
	}
	return all
}

// scores stores the scores of records of one container.
func (s *Scorer) scores(f frequencies, records []uint32, scores []float64) {
	var norms [bitmap.EachAtOnce]float64
	for i, rec := range records {
		norms[i] = text.Norm(int(s.index.lengths.At(int(rec))), s.average)
	}
	scores = scores[:len(records)]
	clear(scores)
	for c, m := range f {
		bytes, clause, idf := m.Load(records), s.clauses[c], s.idf[c]
		for i, rec := range records {
			scores[i] += text.NormScore(idf, clause.exactFrequency(rec, bytes[uint16(rec)]+m.Base), norms[i])
		}
	}
}
