package segment

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/text"
)

// manyTimes is the count that stands for itself and all above.
const manyTimes = 255

// relevance orders the records of a search by their score.
//
// The score of a record hangs on its length and on how often each clause stands in it, and in most records each stands
// once. So records are not scored one by one: those with the same length and counts form a bucket, the buckets are
// sorted, and only those on the page are opened.
type relevance struct {
	*words
	records int
	clauses []clause // those that are not excluded
	idf     []float64
}

func newRelevance(r *Reader, clauses []clause) *relevance {
	v := &relevance{words: &r.words, records: r.Len(), clauses: clauses}
	for _, c := range clauses {
		v.idf = append(v.idf, text.IDF(v.records, int(c.set.GetCardinality())))
	}
	return v
}

// bucket is some records with the same score.
type bucket struct {
	score  float64
	n      int
	length int  // of the words of its records
	count  int  // how often the only clause stands in them; 1: every clause stands once
	single bool // it is one record, in which a clause of several stands more than once
	record uint32
}

// page returns the records from up to to of a set, the best first, equals by their numbers.
func (v *relevance) page(set *roaring.Bitmap, from, to int) ([]uint32, error) {
	more, err := v.moreThanOnce(set)
	if err != nil {
		return nil, err
	}
	once := set
	if !more.set.IsEmpty() {
		once = roaring.AndNot(set, more.set)
	}
	buckets := v.buckets(once, more)
	slices.SortFunc(buckets, func(a, b bucket) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.record, b.record))
	})
	return v.open(buckets, once, more, from, to), nil
}

// repeated are the records in which a clause stands more than once. If there is one clause and it is a word, counts says
// how often in each, in their order.
type repeated struct {
	set    *roaring.Bitmap
	counts []byte
}

func (v *relevance) moreThanOnce(set *roaring.Bitmap) (repeated, error) {
	if len(v.clauses) == 1 && v.clauses[0].term >= 0 {
		return v.countsOf(v.clauses[0].term, set)
	}
	more := roaring.New()
	for i := range v.clauses {
		again, err := v.again(&v.clauses[i])
		if err != nil {
			return repeated{}, err
		}
		more.Or(roaring.And(again, set))
	}
	return repeated{set: more}, nil
}

// countsOf returns the records of a set in which a word stands more than once, and how often.
func (w *words) countsOf(term int, set *roaring.Bitmap) (repeated, error) {
	twice, err := w.twice.get(term)
	if err != nil {
		return repeated{}, err
	}
	counts := w.twice.behind(term, twice)
	inside := roaring.And(twice, set)
	if inside.GetCardinality() == twice.GetCardinality() {
		return repeated{twice, counts}, nil
	}
	kept := make([]byte, 0, inside.GetCardinality())
	i := 0
	each(twice, func(records []uint32) {
		for _, rec := range records {
			if set.Contains(rec) {
				kept = append(kept, counts[i])
			}
			i++
		}
	})
	return repeated{inside, kept}, nil
}

// buckets sorts records into buckets.
func (v *relevance) buckets(once *roaring.Bitmap, more repeated) []bucket {
	hist := newHistogram()
	each(once, func(records []uint32) {
		for _, rec := range records {
			hist.add(1, int(v.lengths.at(int(rec))))
		}
	})
	var out []bucket
	i := 0
	each(more.set, func(records []uint32) {
		for _, rec := range records {
			length := int(v.lengths.at(int(rec)))
			if more.counts != nil {
				hist.add(v.exact(more.counts[i], rec), length)
				i++
				continue
			}
			out = append(out, bucket{score: v.score(rec, length), n: 1, single: true, record: rec})
		}
	})
	for k, n := range hist.all {
		sum := 0.0
		for _, idf := range v.idf {
			sum += text.Score(idf, k.count, k.length, v.average)
		}
		out = append(out, bucket{score: sum, n: n, length: k.length, count: k.count})
	}
	return out
}

// exact returns a count that may be too large for a byte.
func (v *relevance) exact(count byte, record uint32) int {
	if count < manyTimes {
		return int(count)
	}
	return v.count(record, &v.clauses[0], 0)
}

// score returns the score of one record.
func (v *relevance) score(record uint32, length int) float64 {
	sum := 0.0
	for i := range v.clauses {
		sum += text.Score(v.idf[i], v.count(record, &v.clauses[i], 0), length, v.average)
	}
	return sum
}

// open returns the records from up to to of sorted buckets. Those with the same score form a group, in which records
// come in the order of their numbers. All groups on the page are opened in one go over the records.
func (v *relevance) open(buckets []bucket, once *roaring.Bitmap, more repeated, from, to int) []uint32 {
	var groups []group
	wanted := newHistogram() // for each count and length the number of its group, from 1
	var anyOnce, anyMore bool
	at := 0
	for i := 0; i < len(buckets) && at < to; {
		g := group{at: at}
		j := i
		for ; j < len(buckets) && buckets[j].score == buckets[i].score; j++ {
			at += buckets[j].n
		}
		if at > from {
			for _, b := range buckets[i:j] {
				switch {
				case b.single:
					g.records = append(g.records, b.record)
				default:
					wanted.set(b.count, b.length, len(groups)+1)
					anyOnce, anyMore = anyOnce || b.count == 1, anyMore || b.count > 1
				}
			}
			groups = append(groups, g)
		}
		i = j
	}
	if anyOnce {
		each(once, func(records []uint32) {
			for _, rec := range records {
				if g := wanted.get(1, int(v.lengths.at(int(rec)))); g > 0 {
					groups[g-1].records = append(groups[g-1].records, rec)
				}
			}
		})
	}
	if anyMore {
		i := 0
		each(more.set, func(records []uint32) {
			for _, rec := range records {
				if g := wanted.get(v.exact(more.counts[i], rec), int(v.lengths.at(int(rec)))); g > 0 {
					groups[g-1].records = append(groups[g-1].records, rec)
				}
				i++
			}
		})
	}
	page := make([]uint32, 0, to-from)
	for _, g := range groups {
		slices.Sort(g.records)
		page = append(page, g.records[max(from-g.at, 0):min(to-g.at, len(g.records))]...)
	}
	return page
}

// group is the records of one score.
type group struct {
	at      int // its place in the whole order
	records []uint32
}

type histogramKey struct{ count, length int }

// histogram counts records by count and length. Nearly all are short and have small counts.
type histogram struct {
	small [8][512]int32
	large map[histogramKey]int
}

func newHistogram() *histogram { return &histogram{large: map[histogramKey]int{}} }

func (h *histogram) add(count, length int) {
	if count < len(h.small) && length < len(h.small[0]) {
		h.small[count][length]++
		return
	}
	h.large[histogramKey{count, length}]++
}

func (h *histogram) set(count, length, n int) {
	if count < len(h.small) && length < len(h.small[0]) {
		h.small[count][length] = int32(n)
		return
	}
	h.large[histogramKey{count, length}] = n
}

func (h *histogram) get(count, length int) int {
	if count < len(h.small) && length < len(h.small[0]) {
		return int(h.small[count][length])
	}
	return h.large[histogramKey{count, length}]
}

// all yields every key with its number of records.
func (h *histogram) all(yield func(histogramKey, int) bool) {
	for count := range h.small {
		for length, n := range h.small[count] {
			if n > 0 && !yield(histogramKey{count, length}, int(n)) {
				return
			}
		}
	}
	for k, n := range h.large {
		if !yield(k, n) {
			return
		}
	}
}
