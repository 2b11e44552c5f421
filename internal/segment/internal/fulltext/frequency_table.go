package fulltext

import "github.com/RoaringBitmap/roaring/v2"

// frequencyTable contains the records in which a clause may occur more than once, in the order of their numbers, and
// for each clause its frequency in each of them.
type frequencyTable struct {
	set     *roaring.Bitmap
	records []uint32
	lengths []uint32
	counts  [][]byte // MaxFrequency means that or more
}

// frequencies returns the frequencyTable of the records of a set.
func (v *relevance) frequencies(set *roaring.Bitmap) (t frequencyTable) {
	repeated := make([]*roaring.Bitmap, len(v.clauses))
	for i := range v.clauses {
		v.steps.Check()
		repeated[i] = roaring.And(v.recordsWithRepeats(&v.clauses[i]), set)
	}
	t.set = roaring.FastOr(repeated...)
	t.records = t.set.ToArray()
	t.lengths = make([]uint32, len(t.records))
	for i, rec := range t.records {
		v.steps.Add(1)
		t.lengths[i] = v.lengths.At(int(rec))
	}
	wanted := v.pool.Get()
	defer v.pool.Put(wanted)
	t.set.WriteDenseTo(wanted)
	for i := range v.clauses {
		t.counts = append(t.counts, v.counts(&v.clauses[i], t.records, wanted))
	}
	return t
}
