package fulltext

import (
	"math/bits"

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
	if c, ok := s.newCells(set); ok {
		if page, ok := c.page(from, to); ok {
			return page
		}
	}
	return s.Rank(set).Page(from, to)
}

// blockScorer scores the records of ascending blocks.
type blockScorer struct {
	*Scorer
	frequencies []bitmap.ByteMap // by clause, up to MaxFrequency

	// Buffers by member of a block.
	members       [bitmap.BlockRecords]uint16
	norms, scores [bitmap.BlockRecords]float64
}

// newBlockScorer returns a scorer for blocks of about n records.
func (s *Scorer) newBlockScorer(n int) *blockScorer {
	b := &blockScorer{Scorer: s}
	for _, c := range s.clauses {
		b.frequencies = append(b.frequencies, c.frequencies(s.steps, n))
	}
	return b
}

// score returns the scores of the members of a block. They are valid until the next call.
func (s *blockScorer) score(b bitmap.Block) []float64 {
	s.steps.Add(b.Len * len(s.clauses))
	s.loadNorms(b)
	members, norms, scores := s.members[:b.Len], s.norms[:b.Len], s.scores[:b.Len]
	clear(scores)
	for c, m := range s.frequencies {
		frequencies, base, idf := m.Load(b), m.Base, s.idf[c]
		for i, member := range members {
			frequency := int(frequencies[member%bitmap.BlockRecords] + base)
			if frequency == MaxFrequency { // may be only a minimum
				frequency = s.clauses[c].pattern.count(b.First+uint32(member), 0)
			}
			scores[i] += text.NormScore(idf, frequency, norms[i])
		}
	}
	return scores
}

// loadNorms stores the members of a block and their norms.
func (s *blockScorer) loadNorms(b bitmap.Block) {
	n, lengths, average := 0, s.index.lengths, s.average
	for i, word := range b.Words {
		for ; word != 0; word &= word - 1 {
			member := 64*i + bits.TrailingZeros64(word)
			s.members[n] = uint16(member)
			s.norms[n] = text.Norm(int(lengths.At(int(b.First)+member)), average)
			n++
		}
	}
}
