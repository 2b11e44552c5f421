package fulltext

import (
	"encoding/binary"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// termUnion is the condition that a record, or a field of it, contains any of some terms.
//
// With more than FieldsInMask searchable fields, a bit of a mask stands for several fields. Then
// Fill adds also records that contain a term in another of these fields, and matchRest examines
// them.
type termUnion struct {
	index    *Index
	pattern  *pattern // one word, any of the terms
	only     int      // number of the term if there is exactly one
	fieldBit byte     // bit of the field in masks; 0 means any field
	cost     plan.Cost
	set      *bitmap.Set // nil if it is not computed yet
	counts   []byte      // frequencies by record; nil if they are not computed yet
	name     string
}

// newTermUnion returns the condition for a field, or for any if within is nil.
func (w *Index) newTermUnion(st *guard.Steps, name string, within *searchField, terms ...termRange) *termUnion {
	u := &termUnion{index: w, pattern: &pattern{index: w, steps: st, fieldCopy: allCopies, last: terms}, name: name}
	if within != nil {
		u.pattern.fieldCopy = within.firstCopy
		u.fieldBit = 1 << (within.index % FieldsInMask)
	}
	if first := terms[0].from; len(terms) == 1 && terms[0].to == first+1 {
		u.only = int(w.ids.At(first))
		u.pattern.words, u.pattern.last = binary.AppendUvarint(nil, uint64(u.only)+1), nil
	}
	u.cost.Contains = w.examineCost()
	u.each(st, func(id int) {
		docs := w.docs.Set(id)
		u.cost.Records += docs.Len()
		if u.cost.Fill += int(cost.FillByte * float64(len(docs))); u.fieldBit != 0 {
			u.cost.Fill += cost.FilterPosting * docs.Len()
		}
	})
	u.cost.Records = min(u.cost.Records, w.lengths.Len())
	return u
}

// each calls f for the number of each term in ascending order, in which the postings are stored.
// Terms with a prefix have any numbers, and reading the postings of thousands of them in another
// order takes twice as long.
func (u *termUnion) each(st *guard.Steps, f func(id int)) {
	if u.pattern.last == nil {
		f(u.only)
		return
	}
	ids, end := u.pattern.lastIDs(), u.index.terms.Len()+1
	for id := ids.Next(st, 1, end); id < end; id = ids.Next(st, id+1, end) {
		st.Add(16) // reading a set is slower than a step
		f(id - 1)
	}
}

func (u *termUnion) String() string { return u.name }

func (u *termUnion) Cost() plan.Cost { return u.cost }

func (u *termUnion) Contains(record uint32) bool { return u.pattern.count(record, 1) > 0 }

func (u *termUnion) Fill(st *guard.Steps, b *bitmap.Builder) { b.Union(st, u.evaluate(st)) }

func (u *termUnion) evaluate(st *guard.Steps) *bitmap.Set {
	if u.set == nil {
		b := bitmap.NewBuilder(u.index.pool)
		u.each(st, func(id int) {
			if docs := u.index.docs.Set(id); u.fieldBit == 0 {
				b.AddSet(st, docs)
			} else {
				u.addInField(st, docs, u.index.termFields.At(id), b)
			}
		})
		u.set = b.Set(st)
	}
	return u.set
}

// addInField adds the postings of a term that are in the field, given the masks of their fields.
func (u *termUnion) addInField(st *guard.Steps, docs bitmap.EncodedSet, masks []byte, b *bitmap.Builder) {
	docs.Each(st, func(records []uint32) {
		n := 0
		for i, rec := range records {
			records[n] = rec // without a branch, which would be unpredictable
			n += int(min(masks[i]&u.fieldBit, 1))
		}
		b.AddList(st, records[:n])
		masks = masks[len(records):]
	})
}

// sumFrequencies returns the sum of the frequencies of the terms by record, up to MaxFrequency.
func (u *termUnion) sumFrequencies(st *guard.Steps) []byte {
	if u.counts != nil {
		return u.counts
	}
	w := u.index
	counts := make([]byte, w.lengths.Len())
	add := func(rec uint32, n byte) { counts[rec] = byte(min(uint(counts[rec])+uint(n), MaxFrequency)) }
	u.each(st, func(id int) {
		w.docs.Set(id).Each(st, func(records []uint32) {
			for _, rec := range records {
				add(rec, 1)
			}
		})
		freqs := w.freqs.Trailer(id)
		w.freqs.Set(id).Each(st, func(records []uint32) {
			for i, rec := range records {
				add(rec, freqs[i]-1)
			}
			freqs = freqs[len(records):]
		})
	})
	u.counts = counts
	return counts
}
