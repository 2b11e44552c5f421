package fulltext

import (
	"bytes"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/segment/internal/bitmap"
)

// frequencyTable contains the records in which a clause may occur more than once, in the order of their numbers, and
// for each clause its frequency in each of them.
type frequencyTable struct {
	set     *roaring.Bitmap
	records []uint32
	lengths []uint32
	counts  [][]byte // MaxFrequency means that or more
}

// repeats contains the records in which a clause occurs more than once, in order, and its frequencies in them.
type repeats struct {
	records []uint32
	counts  []byte // up to MaxFrequency
}

func (r *repeats) add(record uint32, count byte) {
	r.records, r.counts = append(r.records, record), append(r.counts, count)
}

// frequencies returns the frequencyTable of the records of a set.
func (v *relevance) frequencies(set *roaring.Bitmap) (t frequencyTable) {
	dense := v.pool.Get()
	defer v.pool.Put(dense)
	set.WriteDenseTo(dense)
	all, sets := make([]repeats, len(v.clauses)), make([]*roaring.Bitmap, len(v.clauses))
	for i := range v.clauses {
		all[i] = v.repeatsIn(&v.clauses[i], set, dense)
		sets[i] = roaring.BitmapOf(all[i].records...)
	}
	t.set = roaring.FastOr(sets...)
	t.records = t.set.ToArray()
	t.lengths = make([]uint32, len(t.records))
	for i, rec := range t.records {
		v.steps.Add(1)
		t.lengths[i] = v.lengths.At(int(rec))
	}
	for _, r := range all {
		counts, k := bytes.Repeat([]byte{1}, len(t.records)), 0
		for i, rec := range r.records {
			for t.records[k] < rec {
				k++
			}
			counts[k] = r.counts[i]
		}
		t.counts = append(t.counts, counts)
	}
	return t
}

// repeatsIn returns the repeats of a clause in the records of a set; dense is the same set.
func (w *Index) repeatsIn(c *Clause, set *roaring.Bitmap, dense bitmap.Bits) (r repeats) {
	if c.postings != nil {
		freqs := c.postings.freqs.Get(c.term)
		counts := c.postings.freqs.Trailer(c.term, freqs)
		bitmap.Each(c.steps, freqs, func(records []uint32) {
			for i, rec := range records {
				if dense.Has(rec) {
					r.add(rec, counts[i])
				}
			}
			counts = counts[len(records):]
		})
		return r
	}
	summed := c.sum != nil && len(c.Words) == 1
	bitmap.Each(c.steps, set, func(records []uint32) {
		for _, rec := range records {
			var n byte
			if summed {
				n = c.sum.counts[rec]
			} else {
				n = byte(w.count(rec, c, MaxFrequency))
			}
			if n > 1 {
				r.add(rec, n)
			}
		}
	})
	return r
}
