package fulltext

import (
	"cmp"
	"slices"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/text"
)

type scored struct {
	score  float64
	record uint32
}

// better compares by descending score, ties by number.
func better(a, b scored) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.record, b.record))
}

// topOf keeps the n best of many scored records.
type topOf struct {
	n     int
	kept  []scored
	worst float64 // minimum score to be among the best
}

func (t *topOf) add(s scored) {
	if s.score < t.worst {
		return
	}
	if t.kept = append(t.kept, s); len(t.kept) >= 4*t.n+256 {
		t.cut()
	}
}

// cut sorts the records, discards all but the best, and reports whether there are enough.
func (t *topOf) cut() bool {
	slices.SortFunc(t.kept, better)
	if len(t.kept) < t.n {
		return false
	}
	t.kept = t.kept[:t.n]
	t.worst = t.kept[t.n-1].score
	return true
}

// top returns the n best records of a set for a search for one clause with postings, without scoring all of them. It
// returns false if that is not possible or not worthwhile.
//
// A score grows with the frequency and falls with the length, so it examines the records with the highest frequencies
// until the shortest record of the file with a lower frequency could not be among the best. If that is only certain of
// no frequency above 1, it also examines the records with a frequency of 1 in length order.
func (s *Scorer) top(set *bitmap.Set, n int) ([]uint32, bool) {
	w := s.index
	if len(s.clauses) != 1 || s.clauses[0].postings == nil || w.lengthOrder.Len() == 0 || set.Len() < 512*n+4096 {
		return nil, false
	}
	c := s.clauses[0]
	freqs := c.postings.freqs.Set(c.number)
	if 4*set.Len() < freqs.Len() {
		return nil, false
	}
	counts := c.postings.freqs.Trailer(c.number)[:freqs.Len()]
	reached := s.countFrequencies(counts)
	// Of all records with the clause, about this many contain n of the set.
	wanted := n * c.DocFreq(s.steps) / set.Len()
	least := MaxFrequency // greatest frequency that as many records reach
	for least > 2 && reached[least] < wanted {
		least--
	}
	budget := set.Len() / 2 // records to examine; with more, ranking all is faster
	if reached[least] > budget {
		return nil, false
	}
	best := s.withFrequency(set, counts, s.positionsOf(counts, least, reached[least]), topOf{n: n})
	lowest := least // minimum frequency of records that can be among the best
	for lowest > 1 && (len(best.kept) < n || s.scored(w.lengthOrder.At(0), lowest-1).score >= best.worst) {
		lowest--
	}
	if reached[max(lowest, 2)] > budget {
		return nil, false
	}
	if lowest < least {
		positions := s.positionsOf(counts, max(lowest, 2), reached[max(lowest, 2)])
		best = s.withFrequency(set, counts, positions, topOf{n: n, worst: best.worst})
	}
	if lowest == 1 && !s.addShortest(set, freqs, &best) {
		return nil, false
	}
	page := make([]uint32, n)
	for i, s := range best.kept {
		page[i] = s.record
	}
	return page, true
}

// scored returns the score of a record with a frequency of the only clause.
func (s *Scorer) scored(record uint32, frequency int) scored {
	return scored{text.Score(s.idf[0], frequency, int(s.index.lengths.At(int(record))), s.average), record}
}

// countFrequencies returns the number of counts that are at least each frequency.
func (s *Scorer) countFrequencies(counts []byte) (reached [MaxFrequency + 2]int) {
	var of [4][MaxFrequency + 1]int // several, because incrementing the same one again has to wait for the last result
	s.steps.Blocks(0, len(counts), func(from, to int) {
		for i, c := range counts[from:to] {
			of[i%4][c]++
		}
	})
	for f := MaxFrequency; f >= 0; f-- {
		reached[f] = reached[f+1] + of[0][f] + of[1][f] + of[2][f] + of[3][f]
	}
	return reached
}

// withFrequency adds the records of a set at some positions of the stored frequencies to the best.
func (s *Scorer) withFrequency(set *bitmap.Set, counts []byte, positions []uint32, best topOf) topOf {
	c := s.clauses[0]
	all := set.Len() == c.DocFreq(s.steps)
	c.postings.freqs.Set(c.number).Picked(positions, func(i int, rec uint32) {
		s.steps.Add(1)
		if all || set.Has(rec) {
			count := int(counts[positions[i]])
			if count == MaxFrequency {
				count = c.pattern.count(rec, 0)
			}
			best.add(s.scored(rec, count))
		}
	})
	best.cut()
	return best
}

// addShortest adds the shortest records of a set with a frequency of 1 to the best. It returns false if it would have to
// examine too many records, for example because the clause occurs only in long ones.
func (s *Scorer) addShortest(set *bitmap.Set, freqs bitmap.Encoded, best *topOf) bool {
	w, budget := s.index, set.Len()/8
	for i, found := 0, 0; ; i++ {
		if i == budget {
			return false
		}
		s.steps.Add(1)
		rec := w.lengthOrder.At(i)
		next := s.scored(rec, 1)
		if found == best.n || len(best.kept) >= best.n && next.score < best.worst {
			return best.cut()
		}
		if set.Has(rec) && !freqs.Contains(rec) {
			best.add(next)
			found++
		}
	}
}

// positionsOf returns the positions of the counts, of which there are n, that are at least the given one.
func (s *Scorer) positionsOf(counts []byte, least, n int) []uint32 {
	positions := make([]uint32, 0, n)
	s.steps.Blocks(0, len(counts), func(from, to int) {
		for i, c := range counts[from:to] {
			if int(c) >= least {
				positions = append(positions, uint32(from+i))
			}
		}
	})
	return positions
}
