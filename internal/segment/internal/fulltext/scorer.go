package fulltext

import (
	"slices"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// Statistics are the numbers of a dataset that scores depend on.
type Statistics struct {
	Records  int    // number of records
	Words    int    // number of words of all records
	DocFreqs []int  // by clause, number of records that contain it
	HasForms []bool // by clause, whether other forms of the word occur
}

// Statistics returns those of the index for some clauses.
func (w *Index) Statistics(st *guard.Steps, clauses []*Clause) Statistics {
	s := Statistics{Records: w.lengths.Len(), Words: w.words, DocFreqs: make([]int, len(clauses)),
		HasForms: make([]bool, len(clauses))}
	for i, c := range clauses {
		s.DocFreqs[i], s.HasForms[i] = c.DocFreq(st), c.hasForms()
	}
	return s
}

// Add adds the statistics of other records for the same clauses.
func (s *Statistics) Add(other Statistics) {
	s.Records += other.Records
	s.Words += other.Words
	if s.DocFreqs == nil {
		s.DocFreqs, s.HasForms = make([]int, len(other.DocFreqs)), make([]bool, len(other.DocFreqs))
	}
	for i, n := range other.DocFreqs {
		s.DocFreqs[i], s.HasForms[i] = s.DocFreqs[i]+n, s.HasForms[i] || other.HasForms[i]
	}
}

// Scorer scores the records of a search.
type Scorer struct {
	index    *Index
	steps    *guard.Steps
	clauses  []*Clause
	idf      []float64         // by clause, as bonus
	bonus    []float64         // of records with the word itself, if other forms occur; 0: none
	average  float64           // mean number of words per record
	maxScore float64           // upper bound of the scores
	known    []recordFrequency // frequencies of the only clause in the candidates; nil if they are read from the index
}

// NewScorer returns a scorer for the clauses of a search that are not excluded.
func (w *Index) NewScorer(st *guard.Steps, clauses []*Clause, stats Statistics) *Scorer {
	s := &Scorer{index: w, steps: st, clauses: clauses, average: float64(stats.Words) / float64(stats.Records)}
	for i, n := range stats.DocFreqs {
		idf, bonus := text.IDF(stats.Records, n), 0.
		if stats.HasForms[i] {
			bonus = clauses[i].bonus(idf)
		}
		s.idf, s.bonus = append(s.idf, idf), append(s.bonus, bonus)
		s.maxScore += text.MaxScore(idf) + bonus
	}
	return s
}

// Page returns the records of a set at positions [from, to) by descending score, ties by number.
func (s *Scorer) Page(set *bitmap.Set, from, to int) []uint32 {
	if len(s.clauses) == 1 && s.clauses[0].exact != nil {
		return s.formsPage(set, from, to)
	}
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
	readers []clauseReader // of the frequencies, by clause

	// Buffers by record.
	counts        []byte
	norms, scores []float64
}

// clauseReader is a frequencyReader that returns which of the records have the word itself, instead
// of other forms; nil means all of them.
type clauseReader func(records []uint32, counts []byte) (exact []bool)

// ofAll returns a reader of records that have the word itself.
func (read frequencyReader) ofAll() clauseReader {
	return func(records []uint32, counts []byte) []bool {
		read(records, counts)
		return nil
	}
}

// newBatchScorer returns a scorer for about n records.
func (s *Scorer) newBatchScorer(n int) *batchScorer {
	b := &batchScorer{Scorer: s}
	if s.known != nil {
		b.readers = append(b.readers, readKnown(s.known).ofAll())
		return b
	}
	for _, c := range s.clauses {
		if c.forms != nil {
			b.readers = append(b.readers, c.newFormsReader(s.steps, n))
		} else {
			b.readers = append(b.readers, c.newFrequencyReader(s.steps, n).ofAll())
		}
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
		exact := read(records, counts)
		idf, bonus := s.idf[c], s.bonus[c]
		for i, norm := range norms {
			frequency := int(counts[i])
			if frequency == MaxFrequency { // may be only a minimum
				frequency = s.clauses[c].count(records[i])
			}
			score := text.NormScore(idf, frequency, norm)
			if bonus > 0 && (exact == nil || exact[i]) {
				score += bonus
			}
			scores[i] += score
		}
	}
	return scores
}
