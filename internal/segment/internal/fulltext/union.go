package fulltext

import (
	"encoding/binary"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// union is the condition that a record, or a field of it, contains any of some terms. Of a field,
// more records may be filled if the fields of each posting are not stored exactly.
type union struct {
	index   *Index
	pattern *pattern // one word, any of the terms
	only    int      // number of the term if there is exactly one
	field   byte     // bit of the field in masks; 0 means any field
	cost    plan.Cost
	set     *bitmap.Set // nil if it is not computed yet
	counts  []byte      // frequencies by record; nil if they are not computed yet
	name    string
}

// union returns the condition for a field, or for any if within is nil.
func (w *Index) union(st *guard.Steps, name string, within *searchField, terms ...termRange) *union {
	u := &union{index: w, pattern: &pattern{index: w, steps: st, field: allCopies, last: terms}, name: name}
	if within != nil {
		u.pattern.field = within.firstCopy
		u.field = 1 << (within.index % FieldsInMask)
	}
	if first := terms[0].from; len(terms) == 1 && terms[0].to == first+1 {
		u.only = int(w.ids.At(first))
		u.pattern.words, u.pattern.last = binary.AppendUvarint(nil, uint64(u.only)+1), nil
	}
	u.cost.Contains = w.examineCost()
	u.each(st, func(id int) {
		docs := w.docs.Set(id)
		u.cost.Records += docs.Len()
		if u.cost.Fill += int(cost.FillByte * float64(len(docs))); u.field != 0 {
			u.cost.Fill += cost.FilterPosting * docs.Len()
		}
	})
	u.cost.Records = min(u.cost.Records, w.lengths.Len())
	return u
}

// each calls f for the number of each term in ascending order, in which the postings are stored.
// Terms with a prefix have any numbers, and reading the postings of thousands of them in another
// order takes twice as long.
func (u *union) each(st *guard.Steps, f func(id int)) {
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

func (u *union) String() string { return u.name }

func (u *union) Cost() plan.Cost { return u.cost }

func (u *union) Contains(record uint32) bool { return u.pattern.count(record, 1) > 0 }

func (u *union) Fill(st *guard.Steps, b *bitmap.Builder) { b.Union(st, u.evaluate(st)) }

func (u *union) evaluate(st *guard.Steps) *bitmap.Set {
	if u.set == nil {
		b := bitmap.NewBuilder(u.index.pool)
		u.each(st, func(id int) {
			if docs := u.index.docs.Set(id); u.field == 0 {
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
func (u *union) addInField(st *guard.Steps, docs bitmap.EncodedSet, masks []byte, b *bitmap.Builder) {
	docs.Each(st, func(records []uint32) {
		n := 0
		for i, rec := range records {
			records[n] = rec // without a branch, which would be unpredictable
			n += int(min(masks[i]&u.field, 1))
		}
		b.AddList(st, records[:n])
		masks = masks[len(records):]
	})
}

// sumFrequencies returns the sum of the frequencies of the terms by record, up to MaxFrequency.
func (u *union) sumFrequencies(st *guard.Steps) []byte {
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
