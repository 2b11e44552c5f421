package segment

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/text"
)

// maxFrequency is the maximum stored frequency; it also represents all higher ones.
const maxFrequency = 255

// relevance orders the records of a search by score.
//
// A score depends only on record length and term frequencies, and in most records all frequencies are 1. So records are
// not scored individually: those with equal length and frequencies form a bucket, the buckets are sorted, and only
// those on the page are expanded.
type relevance struct {
	*words
	steps   *steps
	records int
	clauses []clause // without the excluded ones
	idf     []float64
}

func newRelevance(st *steps, r *Reader, clauses []clause) *relevance {
	v := &relevance{steps: st, words: &r.words, records: r.Len(), clauses: clauses}
	for _, c := range clauses {
		v.idf = append(v.idf, text.IDF(v.records, int(c.set.GetCardinality())))
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

// page returns the records of a set at positions [from, to), by descending score, ties by number.
func (v *relevance) page(set *roaring.Bitmap, from, to int) ([]uint32, error) {
	found, ok, err := v.topByFrequency(set, to)
	if err != nil {
		return nil, err
	}
	if ok {
		found = found[from:]
	} else if found, err = v.scored(set, from, to); err != nil {
		return nil, err
	}
	page := make([]uint32, len(found))
	for i, s := range found {
		page[i] = s.record
	}
	return page, nil
}

// scored returns the records of a set at positions [from, to) with their scores.
func (v *relevance) scored(set *roaring.Bitmap, from, to int) ([]scored, error) {
	if first, ok := v.topAtLeast3(set, to); ok {
		return first[from:], nil
	}
	more, err := v.frequencies(set)
	if err != nil {
		return nil, err
	}
	if first, ok := v.topRepeated(more, to); ok {
		return first[from:], nil
	}
	if first, ok := v.topByLength(set, more, to); ok {
		nobody := roaring.New()
		return merged(first, v.open(v.buckets(nobody, more, to), nobody, more, 0, min(to, len(more.records))))[from:to], nil
	}
	once := set
	if len(more.records) > 0 {
		once = roaring.AndNot(set, more.set)
	}
	return v.open(v.buckets(once, more, to), once, more, from, to), nil
}

// scored is a record with its score.
type scored struct {
	score  float64
	record uint32
}

// topByLength returns the n best records among those of a set in which each clause occurs once: the shortest. It
// examines all records of the file in length order, so it is worthwhile only if few of many are needed. It returns
// false if it is not worthwhile or turns out not to be, for example if a term occurs only in long records.
func (v *relevance) topByLength(set *roaring.Bitmap, more frequencyTable, n int) ([]scored, bool) {
	of, all := int(set.GetCardinality())-len(more.records), v.lengthOrder.len()
	budget := of / 8 // examining one takes about four times as long as one of the set, which is done twice
	if n == 0 || budget == 0 || n*(all/of) > budget/4 {
		return nil, false
	}
	found := make([]scored, 0, n)
	for i := range min(budget, all) {
		v.steps.add(1)
		rec := v.lengthOrder.at(i)
		if !set.Contains(rec) || more.set.Contains(rec) {
			continue
		}
		length, sum := int(v.lengths.at(int(rec))), 0.0
		for _, idf := range v.idf {
			sum += text.Score(idf, 1, length, v.average)
		}
		if found = append(found, scored{sum, rec}); len(found) == n {
			return found, true
		}
	}
	return nil, false
}

// merged merges two sorted lists.
func merged(a, b []scored) []scored {
	out := make([]scored, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if better(a[0], b[0]) < 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// better compares by descending score, ties by number.
func better(a, b scored) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.record, b.record))
}

// buckets groups records into buckets, the best first. Of single records it keeps only the given number of the best.
func (v *relevance) buckets(once *roaring.Bitmap, more frequencyTable, best int) []bucket {
	hist := newHistogram()
	each(v.steps, once, func(records []uint32) {
		short := &hist.small[1]
		for _, rec := range records {
			if length := v.lengths.at(int(rec)); length < uint32(len(short)) {
				short[length]++
			} else {
				hist.add(1, int(length))
			}
		}
	})
	var out []bucket
	if len(v.clauses) == 1 {
		for i, rec := range more.records {
			v.steps.add(1)
			hist.add(v.exact(0, more.counts[0][i], rec), int(more.lengths[i]))
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
	slices.SortFunc(out, betterBucket)
	return out
}

func betterBucket(a, b bucket) int { return better(a.scored, b.scored) }

// exact returns the frequency of a clause in a record, whose stored count may be capped.
func (v *relevance) exact(clause int, count byte, record uint32) int {
	if count < maxFrequency {
		return int(count)
	}
	return v.count(record, &v.clauses[clause], 0)
}

// singles returns the best of the records in which a clause may occur more than once.
func (v *relevance) singles(more frequencyTable, best int) []scored {
	top := topOf{n: best}
	for i, rec := range more.records {
		v.steps.add(1)
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
					wanted.set(b.count, b.length, len(groups)+1)
					anyOnce, anyBucket = anyOnce || b.count == 1, true
				}
			}
			groups = append(groups, g)
		}
		i = j
	}
	add := func(g int, rec uint32) { groups[g-1].records = append(groups[g-1].records, rec) }
	if anyOnce {
		each(v.steps, once, func(records []uint32) {
			short := &wanted.small[1]
			for _, rec := range records {
				length := v.lengths.at(int(rec))
				if length < uint32(len(short)) {
					if g := short[length]; g > 0 {
						add(int(g), rec)
					}
				} else if g := wanted.get(1, int(length)); g > 0 {
					add(g, rec)
				}
			}
		})
	}
	if anyBucket && len(v.clauses) == 1 {
		for i, rec := range more.records {
			v.steps.add(1)
			if g := wanted.get(v.exact(0, more.counts[0][i], rec), int(more.lengths[i])); g > 0 {
				add(g, rec)
			}
		}
	}
	page := make([]scored, 0, to-from)
	for _, g := range groups {
		v.steps.add(len(g.records))
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
	at      int // its position in the whole order
	records []uint32
}

type histogramKey struct{ count, length int }

// histogram counts records by frequency and length. Nearly all are short and have low frequencies.
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
