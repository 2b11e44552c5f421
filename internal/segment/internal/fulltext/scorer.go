package fulltext

import (
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

// Add adds the statistics of other records for the same clauses.
func (s *Statistics) Add(other Statistics) {
	s.Records += other.Records
	s.Words += other.Words
	if s.DocFreqs == nil {
		s.DocFreqs = make([]int, len(other.DocFreqs))
	}
	for i, n := range other.DocFreqs {
		s.DocFreqs[i] += n
	}
}

// Scorer scores the records of a search.
type Scorer struct {
	index    *Index
	steps    *guard.Steps
	clauses  []*Clause
	idf      []float64
	average  float64           // mean number of words per record
	maxScore float64           // upper bound of the scores
	known    []recordFrequency // frequencies of the only clause in the candidates; nil if they are read from the index
}

// NewScorer returns a scorer for the clauses of a search that are not excluded.
func (w *Index) NewScorer(st *guard.Steps, clauses []*Clause, stats Statistics) *Scorer {
	s := &Scorer{index: w, steps: st, clauses: clauses, average: float64(stats.Words) / float64(stats.Records)}
	for _, n := range stats.DocFreqs {
		idf := text.IDF(stats.Records, n)
		s.idf = append(s.idf, idf)
		s.maxScore += idf * (text.BM25K1 + 1)
	}
	return s
}

// Page returns the records of a set at positions [from, to) by descending score, ties by number.
func (s *Scorer) Page(set *bitmap.Set, from, to int) []uint32 {
	if best := s.candidates(set, to); best != nil {
		s, set = s.ofCandidates(best)
	}
	if set.Len() > bitmap.EachAtOnce {
		return s.Order(set).Page(from, to)
	}
	records := set.Slice(s.steps, 0, set.Len())
	scored := make([]scoredRecord, len(records))
	for i, score := range s.newBatchScorer(len(records)).score(records) {
		scored[i] = scoredRecord{score, records[i]}
	}
	slices.SortFunc(scored, scoredRecord.compare)
	page := make([]uint32, 0, to-from)
	for _, r := range scored[from:to] {
		page = append(page, r.record)
	}
	return page
}

// batchScorer scores ascending records, some at a time.
type batchScorer struct {
	*Scorer
	readers []frequencyReader // of the frequencies, by clause

	// Buffers by record.
	counts        []byte
	norms, scores []float64
}

// newBatchScorer returns a scorer for about n records.
func (s *Scorer) newBatchScorer(n int) *batchScorer {
	b := &batchScorer{Scorer: s}
	if s.known != nil {
		b.readers = append(b.readers, readKnown(s.known))
		return b
	}
	for _, c := range s.clauses {
		b.readers = append(b.readers, c.newFrequencyReader(s.steps, n))
	}
	return b
}

// score returns the scores of the next records, up to bitmap.EachAtOnce. They are valid until the
// next call.
func (s *batchScorer) score(records []uint32) []float64 {
	s.steps.Add(len(records) * len(s.clauses))
	n := len(records)
	if n > len(s.counts) {
		s.counts, s.norms, s.scores = make([]byte, n), make([]float64, n), make([]float64, n)
	}
	counts, norms, scores := s.counts[:n], s.norms[:n], s.scores[:n]
	for i, rec := range records {
		norms[i] = text.Norm(int(s.index.lengths.At(int(rec))), s.average)
		scores[i] = 0
	}
	for c, read := range s.readers {
		read(records, counts)
		idf := s.idf[c]
		for i, norm := range norms {
			frequency := int(counts[i])
			if frequency == MaxFrequency { // may be only a minimum
				frequency = s.clauses[c].pattern.count(records[i], 0)
			}
			scores[i] += text.NormScore(idf, frequency, norm)
		}
	}
	return scores
}
