package fulltext

import (
	"container/heap"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/text"
)

// topByFrequency returns the n best records of a set for a search for one term, by descending term frequency. Frequency
// affects the score more than length: it examines the lengths of the records above some frequency, and stops when the
// shortest record of the file with a lower frequency could not be among the top. It returns false if that is not
// worthwhile, or if a record with a frequency of 1 could be among the top.
func (v *relevance) topByFrequency(set *roaring.Bitmap, n int) ([]scored, bool) {
	if len(v.clauses) != 1 || v.clauses[0].postings == nil {
		return nil, false
	}
	c := &v.clauses[0]
	freqs := c.postings.freqs.Get(c.term)
	counts := c.postings.freqs.Trailer(c.term, freqs)[:freqs.GetCardinality()]
	// This many of all records with the term contain about n of the set.
	wanted := n * int(c.Set.GetCardinality()) / int(set.GetCardinality())
	shortest, ok := v.minLength()
	if !ok {
		return nil, false
	}
	for ; wanted <= len(counts)/8; wanted *= 4 {
		v.steps.Add(len(counts) / 16)
		least := minFrequency(counts, wanted)
		found := v.withCount(set, counts, least, topOf{n: n})
		if len(found) < n {
			continue
		}
		lower := least - 1 // maximum frequency of which no record can be among the top
		for lower > 0 && text.Score(v.idf[0], lower, shortest, v.average) >= found[n-1].score {
			lower--
		}
		if lower == 0 {
			return nil, false
		}
		if lower < least-1 {
			found = v.withCount(set, counts, lower+1, topOf{n: n, worst: found[n-1].score})
		}
		return found, true
	}
	return nil, false
}

// minLength returns the length of the shortest record of the file, if it has a valid length order.
func (v *relevance) minLength() (int, bool) {
	if v.lengthOrder.Len() == 0 || int(v.lengthOrder.At(0)) >= v.lengths.Len() {
		return 0, false
	}
	return int(v.lengths.At(int(v.lengthOrder.At(0)))), true
}

// minFrequency returns the greatest frequency that at least the wanted number of records reach, or 2 if there is none.
func minFrequency(counts []byte, wanted int) int {
	var of [4][256]uint32 // several, to avoid dependent additions
	for ; len(counts) >= 4; counts = counts[4:] {
		of[0][counts[0]]++
		of[1][counts[1]]++
		of[2][counts[2]]++
		of[3][counts[3]]++
	}
	for _, c := range counts {
		of[0][c]++
	}
	least := MaxFrequency
	for n := 0; least > 2; least-- {
		if n += int(of[0][least] + of[1][least] + of[2][least] + of[3][least]); n >= wanted {
			break
		}
	}
	return least
}

// withCount returns the best records of a set with at least the given frequency of the only clause, a term.
func (v *relevance) withCount(set *roaring.Bitmap, counts []byte, least int, best topOf) []scored {
	c, positions := &v.clauses[0], positionsOf(counts, least)
	bitmap.Pick(c.postings.freqs.Bytes(c.term), positions, func(i int, rec uint32) {
		v.steps.Add(1)
		if set != c.Set && !set.Contains(rec) {
			return
		}
		count := v.exact(0, counts[positions[i]], rec)
		best.add(scored{text.Score(v.idf[0], count, int(v.lengths.At(int(rec))), v.average), rec})
	})
	return best.sorted()
}

// positionsOf returns the positions of the counts that are at least the given one. As few are, it examines eight at a
// time.
func positionsOf(counts []byte, least int) (positions []uint32) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	carry := ones * uint64(0x80-min(least, 0x80)) // carries bytes that reach it to 0x80 or above
	i := 0
	for ; len(counts)-i >= 8; i += 8 {
		x := binary.LittleEndian.Uint64(counts[i:])
		for hits := (x&^high + carry | x) & high; hits != 0; hits &= hits - 1 {
			if r := i + bits.TrailingZeros64(hits)/8; int(counts[r]) >= least {
				positions = append(positions, uint32(r))
			}
		}
	}
	for ; i < len(counts); i++ {
		if int(counts[i]) >= least {
			positions = append(positions, uint32(i))
		}
	}
	return positions
}

// topOf keeps the best of many scored records.
type topOf struct {
	n     int
	kept  worstFirst
	worst float64 // minimum score to be among the best
}

// worstFirst is a heap of records with the worst first.
type worstFirst []scored

func (h worstFirst) Len() int           { return len(h) }
func (h worstFirst) Less(i, j int) bool { return better(h[i], h[j]) > 0 }
func (h worstFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *worstFirst) Push(s any)        { *h = append(*h, s.(scored)) }
func (*worstFirst) Pop() any            { panic("not used") }

func (t *topOf) add(s scored) {
	switch {
	case s.score < t.worst || t.n == 0:
	case len(t.kept) < t.n:
		heap.Push(&t.kept, s)
	case better(s, t.kept[0]) < 0:
		t.kept[0] = s
		heap.Fix(&t.kept, 0)
		t.worst = t.kept[0].score
	}
}

// sorted returns the best in order. Nothing can be added afterwards.
func (t *topOf) sorted() []scored {
	slices.SortFunc(t.kept, better)
	return t.kept
}
