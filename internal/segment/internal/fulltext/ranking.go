package fulltext

import (
	"math"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// Stats are the statistics that scores depend on. They describe the whole dataset, of which a segment may be a part.
type Stats struct {
	Records  int
	Words    int   // of all records
	Matching []int // by clause, the number of records that match it
}

// IDF returns the inverse document frequency of each clause.
func (s Stats) IDF() []float64 {
	idf := make([]float64, len(s.Matching))
	for i, n := range s.Matching {
		idf[i] = text.IDF(s.Records, n)
	}
	return idf
}

// Average returns the mean number of words of a record.
func (s Stats) Average() float64 { return float64(s.Words) / float64(s.Records) }

// Scored is a record with its score.
type Scored struct {
	Score  float64
	Record uint32
}

// Ranking is the records of a set by descending score, ties by number.
type Ranking struct {
	v       *relevance
	once    *roaring.Bitmap
	more    frequencyTable
	buckets []bucket
	ends    []int // number of records through each bucket
}

// Rank ranks the records of a set by the clauses.
func (w *Index) Rank(st *guard.Steps, set *roaring.Bitmap, clauses []Clause, stats Stats) *Ranking {
	v := &relevance{Index: w, steps: st, clauses: clauses, idf: stats.IDF(), average: stats.Average()}
	r := &Ranking{v: v, more: v.frequencies(set)}
	r.once = roaring.AndNot(set, r.more.set)
	r.buckets = v.buckets(r.once, r.more, math.MaxInt)
	n := 0
	for _, b := range r.buckets {
		n += b.n
		r.ends = append(r.ends, n)
	}
	return r
}

// Page returns the records at positions [from, to).
func (r *Ranking) Page(from, to int) []Scored {
	page := make([]Scored, 0, to-from)
	for _, s := range r.v.open(r.buckets, r.once, r.more, from, to) {
		page = append(page, Scored{s.score, s.record})
	}
	return page
}

// CountThrough returns the number of records with a score of at least this.
func (r *Ranking) CountThrough(score float64) int {
	i := sort.Search(len(r.buckets), func(i int) bool { return r.buckets[i].score < score })
	if i == 0 {
		return 0
	}
	return r.ends[i-1]
}
