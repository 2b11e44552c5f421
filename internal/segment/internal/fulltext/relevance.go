package fulltext

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// MaxFrequency is the maximum stored frequency; it also represents all higher ones.
const MaxFrequency = 255

// relevance orders the records of a search by score.
//
// A score depends only on record length and term frequencies, and in most records all frequencies are 1. So records are
// not scored individually: those with equal length and frequencies form a bucket, the buckets are sorted, and only
// those on the page are expanded.
type relevance struct {
	*Index
	steps   *guard.Steps
	clauses []Clause // without the excluded ones
	idf     []float64
	average float64 // mean number of words per record
}

func (w *Index) newRelevance(st *guard.Steps, clauses []Clause) *relevance {
	v := &relevance{steps: st, Index: w, clauses: clauses, average: w.average}
	for _, c := range clauses {
		v.idf = append(v.idf, text.IDF(w.lengths.Len(), int(c.Set.GetCardinality())))
	}
	return v
}

// bucket is a set of records with the same score.
type bucket struct {
	scored // the record is set only if single
	n      int
	length int  // length of its records in words
	count  int  // frequency of the only clause; 1 if all clauses occur once
	single bool // a single record in which one of several clauses occurs more than once
}

// Page returns the records of a set at positions [from, to), by descending score of the clauses, ties by number.
func (w *Index) Page(st *guard.Steps, set *roaring.Bitmap, clauses []Clause, from, to int) []uint32 {
	v := w.newRelevance(st, clauses)
	if found, ok := v.topByFrequency(set, to); ok {
		return numbers(found[from:])
	}
	return numbers(v.scoreAll(set, from, to))
}

// numbers returns the numbers of scored records.
func numbers(found []scored) []uint32 {
	out := make([]uint32, len(found))
	for i, s := range found {
		out[i] = s.record
	}
	return out
}

// scoreAll returns the records of a set at positions [from, to).
func (v *relevance) scoreAll(set *roaring.Bitmap, from, to int) []scored {
	more := v.frequencies(set)
	if top := (topOf{n: to}); v.addShortest(&top, set, more) {
		none := roaring.New()
		for _, s := range v.open(v.buckets(none, more, to), none, more, 0, min(to, len(more.records))) {
			top.add(s)
		}
		return top.sorted()[from:to]
	}
	once := roaring.AndNot(set, more.set)
	return v.open(v.buckets(once, more, to), once, more, from, to)
}

// addShortest fills top with the best of the records in which each clause occurs once: the shortest. It examines the
// records of the file in length order and returns false if that is not worthwhile or turns out not to be, for example if
// a term occurs only in long records.
func (v *relevance) addShortest(top *topOf, set *roaring.Bitmap, more frequencyTable) bool {
	once, all := int(set.GetCardinality())-len(more.records), v.lengthOrder.Len()
	budget := once / 8 // examining one takes about four times as long as one of the set, which is done twice
	if budget == 0 || top.n*(all/once) > budget/4 {
		return false
	}
	for i := 0; i < min(budget, all) && len(top.kept) < top.n; i++ {
		v.steps.Add(1)
		rec := v.lengthOrder.At(i)
		if !set.Contains(rec) || more.set.Contains(rec) {
			continue
		}
		length, sum := int(v.lengths.At(int(rec))), 0.0
		for _, idf := range v.idf {
			sum += text.Score(idf, 1, length, v.average)
		}
		top.add(scored{sum, rec})
	}
	return len(top.kept) == top.n
}

// scored is a record with its score.
type scored struct {
	score  float64
	record uint32
}

// better compares by descending score, ties by number.
func better(a, b scored) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.record, b.record))
}

// buckets groups records into buckets, the best first. Of single records it keeps only the given number of the best.
func (v *relevance) buckets(once *roaring.Bitmap, more frequencyTable, best int) []bucket {
	hist := newHistogram()
	bitmap.Each(v.steps, once, func(records []uint32) {
		for _, rec := range records {
			*hist.at(1, int(v.lengths.At(int(rec))))++
		}
	})
	var out []bucket
	if len(v.clauses) == 1 {
		for i, rec := range more.records {
			v.steps.Add(1)
			*hist.at(v.exact(0, more.counts[0][i], rec), int(more.lengths[i]))++
		}
	} else {
		for _, s := range v.singles(more, best) {
			out = append(out, bucket{scored: s, n: 1, single: true})
		}
	}
	for k, n := range hist.all {
		sum := 0.0
		for _, idf := range v.idf {
			sum += text.Score(idf, k.count, k.length, v.average)
		}
		out = append(out, bucket{scored: scored{score: sum}, n: n, length: k.length, count: k.count})
	}
	slices.SortFunc(out, func(a, b bucket) int { return better(a.scored, b.scored) })
	return out
}

// exact returns the frequency of a clause in a record, whose stored count may be capped.
func (v *relevance) exact(clause int, count byte, record uint32) int {
	if count < MaxFrequency {
		return int(count)
	}
	return v.count(record, &v.clauses[clause], 0)
}

// singles returns the best of the records in which a clause may occur more than once.
func (v *relevance) singles(more frequencyTable, best int) []scored {
	top := topOf{n: best}
	for i, rec := range more.records {
		v.steps.Add(1)
		length, sum := int(more.lengths[i]), 0.0
		for c, idf := range v.idf {
			sum += text.Score(idf, v.exact(c, more.counts[c][i], rec), length, v.average)
		}
		top.add(scored{sum, rec})
	}
	return top.sorted()
}

// open returns the records of sorted buckets at positions [from, to). Buckets with the same score form a group, whose
// records are ordered by number. All groups on the page are expanded in one pass over the records.
func (v *relevance) open(buckets []bucket, once *roaring.Bitmap, more frequencyTable, from, to int) []scored {
	var groups []group
	wanted := newHistogram() // by count and length, the number of the group from 1
	var anyOnce, anyBucket bool
	at := 0
	for i := 0; i < len(buckets) && at < to; {
		g := group{at: at, score: buckets[i].score}
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
					*wanted.at(b.count, b.length) = int32(len(groups) + 1)
					anyOnce, anyBucket = anyOnce || b.count == 1, true
				}
			}
			groups = append(groups, g)
		}
		i = j
	}
	add := func(g int32, rec uint32) { groups[g-1].records = append(groups[g-1].records, rec) }
	if anyOnce {
		bitmap.Each(v.steps, once, func(records []uint32) {
			for _, rec := range records {
				if g := *wanted.at(1, int(v.lengths.At(int(rec)))); g > 0 {
					add(g, rec)
				}
			}
		})
	}
	if anyBucket && len(v.clauses) == 1 {
		for i, rec := range more.records {
			v.steps.Add(1)
			if g := *wanted.at(v.exact(0, more.counts[0][i], rec), int(more.lengths[i])); g > 0 {
				add(g, rec)
			}
		}
	}
	page := make([]scored, 0, to-from)
	for _, g := range groups {
		v.steps.Add(len(g.records))
		slices.Sort(g.records)
		for _, rec := range g.records[max(from-g.at, 0):min(to-g.at, len(g.records))] {
			page = append(page, scored{g.score, rec})
		}
	}
	return page
}

// group is the records with one score.
type group struct {
	score   float64
	at      int // its position in the order
	records []uint32
}

type histogramKey struct{ count, length int }

// histogram contains a number by frequency and length. Nearly all records are short and have low frequencies.
type histogram struct {
	small [8][512]int32
	large map[histogramKey]*int32
}

func newHistogram() *histogram { return &histogram{large: map[histogramKey]*int32{}} }

// at returns the number of a frequency and a length.
func (h *histogram) at(count, length int) *int32 {
	if count < len(h.small) && length < len(h.small[0]) {
		return &h.small[count][length]
	}
	return h.atLarge(histogramKey{count, length})
}

func (h *histogram) atLarge(k histogramKey) *int32 {
	if h.large[k] == nil {
		h.large[k] = new(int32)
	}
	return h.large[k]
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
		if !yield(k, int(*n)) {
			return
		}
	}
}
