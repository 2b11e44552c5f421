package segment

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/text"
)

// frequent returns the first records of a set in the order of their scores, of a search for one word, from those in which it
// stands most often. How often tells more than how long a record is: it looks at the lengths of records from some count
// on, and stops where the shortest record there is with a lower count could not be among the first. It returns false
// where that does not pay, or where a record with the word only once could be among them.
func (v *relevance) frequent(set *roaring.Bitmap, n int) ([]scored, bool, error) {
	if len(v.clauses) != 1 || v.clauses[0].in == nil {
		return nil, false, nil
	}
	c := &v.clauses[0]
	twice, err := c.in.twice.get(c.term)
	if err != nil {
		return nil, false, err
	}
	counts := c.in.twice.behind(c.term, twice)[:twice.GetCardinality()]
	// Of all with the word so many are wanted, for n of the set to be among them.
	wanted := n * int(c.set.GetCardinality()) / int(set.GetCardinality())
	shortest, ok := v.shortestLength()
	if !ok {
		return nil, false, nil
	}
	for ; wanted <= len(counts)/8; wanted *= 4 {
		v.steps.add(len(counts) / 16)
		least := leastOf(counts, wanted)
		found := v.withCount(set, counts, least, topOf{n: n})
		if len(found) < n {
			continue
		}
		lower := least - 1 // the greatest count of which no record can be among the first
		for lower > 0 && text.Score(v.idf[0], lower, shortest, v.average) >= found[n-1].score {
			lower--
		}
		if lower == 0 {
			return nil, false, nil
		}
		if lower < least-1 {
			found = v.withCount(set, counts, lower+1, topOf{n: n, worst: found[n-1].score})
		}
		return found, true, nil
	}
	return nil, false, nil
}

// shortestLength returns the length of the shortest record there is, if the file tells.
func (v *relevance) shortestLength() (int, bool) {
	if v.short.len() == 0 || int(v.short.at(0)) >= v.records { // a file that tells wrong can be searched as well
		return 0, false
	}
	return int(v.lengths.at(int(v.short.at(0)))), true
}

// repeatedFirst returns the first records of an answer, if all of them are among those in which a clause stands more than
// once: if the shortest record there is, with each clause once, could not be one of them.
func (v *relevance) repeatedFirst(more repeated, n int) ([]scored, bool) {
	shortest, ok := v.shortestLength()
	if !ok || n > len(more.records)/8 {
		return nil, false
	}
	once := 0.0
	for _, idf := range v.idf {
		once += text.Score(idf, 1, shortest, v.average)
	}
	found := v.singles(more, n)
	return found, once < found[n-1].score
}

// thriceFirst returns the first records of a set in the order of their scores, of a search for the beginning of a word, if
// it stands in all of them three times or more: if the shortest record there is, with it twice, could not be one of them.
func (v *relevance) thriceFirst(set *roaring.Bitmap, n int) ([]scored, bool) {
	shortest, ok := v.shortestLength()
	if c := &v.clauses[0]; !ok || len(v.clauses) != 1 || !c.counted() || n > int(c.thrice.GetCardinality())/8 {
		return nil, false
	}
	best, c := topOf{n: n}, &v.clauses[0]
	each(v.steps, roaring.And(c.thrice, set), func(records []uint32) {
		v.fetch(records)
		for _, rec := range records {
			best.add(scored{text.Score(v.idf[0], v.count(rec, c, 0), int(v.lengths.at(int(rec))), v.average), rec})
		}
	})
	found := best.sorted()
	return found, len(found) == n && text.Score(v.idf[0], 2, shortest, v.average) < found[n-1].score
}

// leastOf returns the greatest count that at least so many reach; 2 if there is none.
func leastOf(counts []byte, wanted int) int {
	var of [4][256]uint32 // several, because a processor waits between two additions to the same one
	for ; len(counts) >= 4; counts = counts[4:] {
		of[0][counts[0]]++
		of[1][counts[1]]++
		of[2][counts[2]]++
		of[3][counts[3]]++
	}
	for _, c := range counts {
		of[0][c]++
	}
	least := manyTimes
	for n := 0; least > 2; least-- {
		if n += int(of[0][least] + of[1][least] + of[2][least] + of[3][least]); n >= wanted {
			break
		}
	}
	return least
}

// withCount returns the best of the records of a set in which the only clause, a word, stands at least so many times.
func (v *relevance) withCount(set *roaring.Bitmap, counts []byte, least int, best topOf) []scored {
	c, ranks := &v.clauses[0], ranksOf(counts, least)
	pick(c.in.twice.bytes(c.term), ranks, func(i int, rec uint32) {
		v.steps.add(1)
		if set != c.set && !set.Contains(rec) {
			return
		}
		count := v.exact(0, counts[ranks[i]], rec)
		best.add(scored{text.Score(v.idf[0], count, int(v.lengths.at(int(rec))), v.average), rec})
	})
	return best.sorted()
}

// ranksOf returns which of the counts reach at least so many. Few do, so it looks at eight of them at a time.
func ranksOf(counts []byte, least int) (ranks []uint32) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	carry := ones * uint64(0x80-min(least, 0x80)) // brings a byte that reaches it to 0x80 or above
	i := 0
	for ; len(counts)-i >= 8; i += 8 {
		x := binary.LittleEndian.Uint64(counts[i:])
		for hits := (x&^high + carry | x) & high; hits != 0; hits &= hits - 1 {
			if r := i + bits.TrailingZeros64(hits)/8; int(counts[r]) >= least {
				ranks = append(ranks, uint32(r))
			}
		}
	}
	for ; i < len(counts); i++ {
		if int(counts[i]) >= least {
			ranks = append(ranks, uint32(i))
		}
	}
	return ranks
}

// topOf keeps the best of many.
type topOf struct {
	n     int
	kept  []scored // a heap: the worst first, and each better than the one at half its place
	worst float64  // that can be among the best
}

func (t *topOf) add(s scored) {
	switch {
	case s.score < t.worst || t.n == 0:
	case len(t.kept) < t.n:
		t.kept = append(t.kept, s)
		for i := len(t.kept) - 1; i > 0 && better(t.kept[i], t.kept[(i-1)/2]) > 0; i = (i - 1) / 2 {
			t.kept[i], t.kept[(i-1)/2] = t.kept[(i-1)/2], t.kept[i]
		}
	case better(s, t.kept[0]) < 0:
		i := 0
		for next := 1; next < len(t.kept); next = 2*i + 1 {
			if next+1 < len(t.kept) && better(t.kept[next+1], t.kept[next]) > 0 {
				next++
			}
			if better(s, t.kept[next]) > 0 {
				break
			}
			t.kept[i], i = t.kept[next], next
		}
		t.kept[i] = s
		t.worst = t.kept[0].score
	}
}

// sorted returns the best, the best first. Nothing can be added after it.
func (t *topOf) sorted() []scored {
	slices.SortFunc(t.kept, better)
	return t.kept
}
