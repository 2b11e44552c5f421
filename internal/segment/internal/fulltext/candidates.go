package fulltext

import (
	"cmp"
	"slices"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/text"
)

// recordFrequency is the frequency of a clause in a record, up to MaxFrequency.
type recordFrequency struct {
	record uint32
	count  byte
}

// readKnown returns a reader of frequencies in memory, which are in ascending order of records.
func readKnown(known []recordFrequency) frequencyReader {
	return func(records []uint32, counts []byte) {
		for i, rec := range records {
			for known[0].record != rec {
				known = known[1:]
			}
			counts[i] = known[0].count
		}
	}
}

// ofCandidates returns a scorer of records whose frequencies are known, and their set.
func (s *Scorer) ofCandidates(known []recordFrequency) (*Scorer, *bitmap.Set) {
	records := make([]uint32, len(known))
	for i, o := range known {
		records[i] = o.record
	}
	scorer := *s
	scorer.known = known
	return &scorer, bitmap.ListSet(s.index.pool, records)
}

// candidates returns some records of a set that include the n best, for a search for one clause
// with postings, in ascending order. Only these need to be scored. It returns nil if it cannot
// select few records.
//
// A score grows with the frequency of the clause and falls with the length of the record. So the
// candidates are the records with the highest frequencies, down to the lowest one with which the
// shortest record of the file could be among the best. If that is 1, which is not stored, the
// shortest records that contain the clause once are candidates too.
func (s *Scorer) candidates(set *bitmap.Set, n int) []recordFrequency {
	if len(s.clauses) != 1 || s.clauses[0].postings == nil || set.Len() < cost.CandidatesPerTop*n+cost.CandidateBase {
		return nil
	}
	c := s.clauses[0]
	repeated := c.postings.freqs.Set(c.number)
	if cost.RepeatedPerMatch*set.Len() < repeated.Len() {
		return nil
	}
	counts := c.postings.freqs.Trailer(c.number)[:repeated.Len()]
	reached := s.countFrequencies(counts)
	// About n of so many records with the clause are in the set.
	wanted := n * c.DocFreq(s.steps) / set.Len()
	least := MaxFrequency // greatest frequency that at least the wanted number of records reach, or 2
	for least > 2 && reached[least] < wanted {
		least--
	}
	budget := set.Len() / cost.CandidateShare // with more candidates, scoring all records is faster
	if reached[least] > budget {
		return nil
	}
	found, worst := s.withFrequency(set, repeated, counts, least, reached[least], n, 0)
	lowest := least // minimum frequency of records that can be among the best
	for lowest > 1 && s.scoreOf(s.index.lengthOrder.At(0), lowest-1) >= worst {
		lowest--
	}
	if reached[max(lowest, 2)] > budget {
		return nil
	}
	if lowest < least {
		found, worst = s.withFrequency(set, repeated, counts, max(lowest, 2), reached[max(lowest, 2)], n, worst)
	}
	if lowest == 1 {
		shortest, ok := s.shortestOnce(set, repeated, n, worst)
		if !ok {
			return nil
		}
		found = append(found, shortest...)
		slices.SortFunc(found, func(a, b recordFrequency) int { return cmp.Compare(a.record, b.record) })
	}
	return found
}

// scoreOf returns the score of a record with a frequency of the only clause.
func (s *Scorer) scoreOf(record uint32, frequency int) float64 {
	return text.Score(s.idf[0], frequency, int(s.index.lengths.At(int(record))), s.average) + s.bonus[0]
}

// countFrequencies returns, by frequency, the number of counts that are at least as high.
func (s *Scorer) countFrequencies(counts []byte) (reached [MaxFrequency + 2]int) {
	var of [4][MaxFrequency + 1]int // four histograms: consecutive increments of one counter wait for each other
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

// candidateSize is the size of a candidate: its number and frequency, its score, and its number in
// the set of candidates.
const candidateSize = 8 + 8 + 4

// withFrequency returns the records of a set in which the clause has at least the frequency least.
// repeated is the records that repeat the clause, counts their frequencies, and reaching the number
// of those that are at least least. Records with a score below known, which n records are known to
// reach, are left out.
//
// worst is the greatest score that n records are known to reach now; 0 if there is none.
func (s *Scorer) withFrequency(
	set *bitmap.Set, repeated bitmap.EncodedSet, counts []byte, least, reaching, n int, known float64,
) (found []recordFrequency, worst float64) {
	s.steps.Reserve((positionSize + candidateSize) * reaching)
	positions := make([]uint32, 0, reaching)
	s.steps.Blocks(0, len(counts), func(from, to int) {
		for i, c := range counts[from:to] {
			if int(c) >= least {
				positions = append(positions, uint32(from+i))
			}
		}
	})
	all := set.Len() == s.clauses[0].DocFreq(s.steps)
	var scores []float64
	repeated.Pick(positions, func(i int, record uint32) {
		s.steps.Add(1)
		if all || set.Has(record) {
			count := counts[positions[i]]
			score := s.scoreOf(record, int(count))
			if score >= known || count == MaxFrequency { // the frequency and the score may be higher
				found, scores = append(found, recordFrequency{record, count}), append(scores, score)
			}
		}
	})
	if len(scores) >= n {
		slices.Sort(scores)
		worst = scores[len(scores)-n]
	}
	return found, max(worst, known)
}

// shortestOnce returns the shortest records of a set that contain the clause once, at most n, as
// long as their scores are not below the worst. It returns false if it would have to examine too
// many records, for example because the clause occurs only in long ones.
func (s *Scorer) shortestOnce(set *bitmap.Set, repeated bitmap.EncodedSet, n int,
	worst float64) (found []recordFrequency, ok bool) {
	for i := range set.Len() / cost.ShortestShare {
		s.steps.Add(1)
		record := s.index.lengthOrder.At(i)
		if len(found) == n || s.scoreOf(record, 1) < worst {
			return found, true
		}
		if set.Has(record) && !repeated.Contains(record) {
			found = append(found, recordFrequency{record, 1})
		}
	}
	return nil, false
}
